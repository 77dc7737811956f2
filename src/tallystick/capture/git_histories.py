"""The histories that other tools keep in a git repository, found in its objects.

Owns where Entire puts transcripts: on its branches of checkpoints, in parts where they are long, each time a session got
on. The same session in several checkpoints is one session that has grown. And where git-ai has its notes. Must not know any
agent's format.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import orjson

from tallystick.agents.git_ai.transcript import NAME, conversations
from tallystick.capture.git_text import MOST_BYTES, GitText
from tallystick.errors import SourceError
from tallystick.model.pattern import pattern_of

if TYPE_CHECKING:
    import pygit2

_TRANSCRIPT = "full.jsonl"
_METADATA = "metadata.json"
_BRANCH = "/entire/"
"""What the names of Entire's references hold, local, of a remote, or of its own (`refs/entire/…`)."""
_CHECKPOINTS = "/entire/checkpoints/"
"""Of those that hold nothing but checkpoints."""
_IN_PROJECT = (".entire", "metadata")
"""Where its branches that hold the project too have transcripts."""
_NOT_IN_NAMES = pattern_of(r"[^\w.-]+")
_NOTES, _AUTHORSHIP = "refs/notes/ai", "refs/ai/authorship/"
"""References of git-ai: its notes, also as they were fetched, and what it wrote for a commit before it had notes."""
_MESSAGES = pattern_of(rb'"messages":\s*\[\s*\{')
"""What a note holds that has a conversation: newer ones name lines only."""
_MOST_NOTE = 8 << 20
_MOST_DEPTH = 8
_MOST_FOLDERS = 200_000
_MOST_PARTS = 1_000
_MOST_METADATA = 1 << 20


class GitHistory(msgspec.Struct, frozen=True):
    """A transcript in a repository: its name, and its text. `is_earlier`: another of its session is longer."""

    path: Path
    text: GitText
    is_earlier: bool = False


class _Version(msgspec.Struct, frozen=True):
    """A transcript as one checkpoint has it."""

    text: GitText
    place: str


def is_repository(folder: Path) -> bool:
    """Whether a folder is the top of a working tree, or a bare repository."""
    return (folder / ".git").exists() or is_bare(folder)


def is_bare(folder: Path) -> bool:
    """Whether a folder is a repository without a working tree."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


def histories_in(folder: Path) -> Iterator[GitHistory | SourceError]:
    """The transcripts in the objects of a repository, a session after the other; what could not be read."""
    import pygit2

    try:
        found = pygit2.Repository(str(folder))
        versions, problems = _Search(found, str(folder)).versions()
    except (pygit2.GitError, KeyError, ValueError, OSError) as error:
        yield SourceError(f"{folder} is a repository that cannot be read: {error}")
        return
    if problems:
        yield SourceError(f"{folder}: {problems} transcripts of checkpoints are named there, but not in this clone")
    for session, of in sorted(versions.items()):
        yield from _of_session(folder, session, of)
    yield from _notes(found, folder)


def _of_session(folder: Path, session: str, versions: Mapping[GitText, str]) -> Iterator[GitHistory | SourceError]:
    """The longest transcript of a session, and those that are not its beginning."""
    longest, *others = sorted(versions, key=lambda text: (-text.size, text.objects))
    name = _NOT_IN_NAMES.sub("-", session).strip("-.") or "session"
    yield GitHistory(folder / "entire" / f"{name}.jsonl", longest)
    if not others or longest.size > MOST_BYTES:
        return
    try:
        data = longest.read_bytes()
    except SourceError as error:
        yield error
        return
    for text in others:
        if not _begins_with(data, text):
            yield GitHistory(folder / "entire" / versions[text] / f"{name}.jsonl", text, is_earlier=True)


def _notes(repository: pygit2.Repository, folder: Path) -> Iterator[GitHistory]:
    """The notes of git-ai that hold the longest conversation of a session: each repeats what those before it have."""
    import pygit2

    seen: set[str] = set()
    longest: dict[str, tuple[int, str, GitText]] = {}
    for name in repository.listall_references():
        target = repository.references[name]
        if name.startswith(_AUTHORSHIP):
            objects = [(name.removeprefix(_AUTHORSHIP), str(target.resolve().target))]
        elif name.startswith(_NOTES):
            objects = list(_blobs_below(target.peel(pygit2.Tree)))
        else:
            continue
        for commit, digest in objects:
            if digest not in seen:
                seen.add(digest)
                for session, (count, text) in _conversations(repository, str(folder), digest).items():
                    longest[session] = max(
                        longest.get(session, (0, "", text)), (count, commit, text), key=itemgetter(0, 1)
                    )
    for commit, text in sorted({(commit, text) for _, commit, text in longest.values()}, key=itemgetter(0)):
        yield GitHistory(folder / NAME / commit, text)


def _blobs_below(tree: pygit2.Tree, before: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The notes in a tree: the commit that each is of, whose id may be spread over folders, and its object."""
    import pygit2

    for entry in tree:
        if isinstance(entry, pygit2.Tree) and depth < _MOST_DEPTH:
            yield from _blobs_below(entry, before + str(entry.name), depth + 1)
        elif isinstance(entry, pygit2.Blob):
            yield before + str(entry.name), str(entry.id)


def _conversations(repository: pygit2.Repository, folder: str, digest: str) -> dict[str, tuple[int, GitText]]:
    """By session, how many messages a note has of it, and the note."""
    try:
        if repository.odb.read_header(digest)[1] > _MOST_NOTE:
            return {}
        data = repository.odb.read(digest)[1]
    except (KeyError, ValueError):
        return {}
    if _MESSAGES.search(data) is None:
        return {}
    text = GitText(folder, (digest,), len(data))
    return {session: (count, text) for session, count in conversations(data).items()}


def _begins_with(data: bytes, text: GitText) -> bool:
    """Whether a longer text begins with another, by the names of its objects: they are digests of what they hold."""
    if len(text.objects) != 1 or len(text.objects[0]) != 40:
        return data.startswith(text.read_bytes())
    digest = hashlib.sha1(b"blob %d\0" % text.size, usedforsecurity=False)
    digest.update(memoryview(data)[: text.size])
    return digest.hexdigest() == text.objects[0]


class _Search:
    """Goes through the references of one repository."""

    def __init__(self, repository: pygit2.Repository, folder: str) -> None:
        self._repository = repository
        self._folder = folder
        self._seen: set[str] = set()
        self._found: dict[str, dict[GitText, str]] = defaultdict(dict)
        self._absent = 0

    def versions(self) -> tuple[Mapping[str, Mapping[GitText, str]], int]:
        """By session: its transcripts, each with the place of one checkpoint that has it; and how many are absent."""
        import pygit2

        for name in self._repository.listall_references():
            if _BRANCH in name:
                tree = self._repository.references[name].peel(pygit2.Tree)
                top = tree if _CHECKPOINTS in name else self._metadata_in(tree)
                if top is not None:
                    self._walk(top)
        return self._found, self._absent

    def _metadata_in(self, tree: pygit2.Tree) -> pygit2.Tree | None:
        """The folder of transcripts in the tree of a whole project."""
        import pygit2

        below: pygit2.Object = tree
        for part in _IN_PROJECT:
            if not isinstance(below, pygit2.Tree) or part not in below:
                return None
            below = below[part]
        if isinstance(below, pygit2.Tree):
            return below
        return None

    def _walk(self, top: pygit2.Tree) -> None:
        import pygit2

        waiting: list[tuple[pygit2.Tree, str, int]] = [(top, "", 0)]
        while waiting and len(self._seen) < _MOST_FOLDERS:
            tree, place, depth = waiting.pop()
            if str(tree.id) in self._seen:
                continue
            self._seen.add(str(tree.id))
            if _TRANSCRIPT in tree:
                self._take(tree, place)
            if depth < _MOST_DEPTH:
                below = (entry for entry in tree if isinstance(entry, pygit2.Tree))
                waiting += [(entry, f"{place}/{entry.name}".lstrip("/"), depth + 1) for entry in below]

    def _take(self, tree: pygit2.Tree, place: str) -> None:
        """Note a transcript, with its parts in their order."""
        parts = [str(tree[_TRANSCRIPT].id)]
        for number in range(1, _MOST_PARTS):
            part = f"{_TRANSCRIPT}.{number:03d}"
            if part not in tree:
                break
            parts.append(str(tree[part].id))
        try:
            size = sum(self._repository.odb.read_header(name)[1] for name in parts)
        except (KeyError, ValueError):
            self._absent += 1
            return
        if size:
            session = self._session_of(tree) or place
            self._found[session].setdefault(GitText(self._folder, tuple(parts), size), place)

    def _session_of(self, tree: pygit2.Tree) -> str | None:
        """The session that the checkpoint's metadata name."""
        if _METADATA not in tree:
            return None
        try:
            name = tree[_METADATA].id
            if self._repository.odb.read_header(name)[1] > _MOST_METADATA:
                return None
            said = orjson.loads(self._repository.odb.read(name)[1])
        except (KeyError, ValueError):
            return None
        session = None
        if isinstance(said, dict):
            session = said.get("session_id")
        if isinstance(session, str) and session.strip("./ "):
            return session
        return None
