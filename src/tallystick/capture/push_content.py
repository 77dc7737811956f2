"""What a push would take along, and which hosts a project names: read from its repository, within bounds.

Owns walking commits that no remote-tracking branch has, and looking through what is committed. What an agent has written and
not committed names no host. Must not know why someone asks. Nothing of a repository is run (`tracking` says how).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tallystick.capture.tracking import repository_of

if TYPE_CHECKING:
    import pygit2

_MOST_COMMITS = 200
_MOST_BYTES = 512 << 10
_MOST_BLOBS = 2_000
_LARGEST_BLOB = 64 << 10
_MOST_SEARCHED = 8 << 20
_ALL = frozenset(("--all", "--mirror", "--tags"))


def push_text(folder: str, words: Sequence[str], *, commits_first: bool) -> tuple[bytes, bool]:
    """The text that a `git push` adds to a remote, messages of commits included, and whether that is all of it.

    Args:
        words: of the push, after that word. commits_first: changes to files that are tracked are committed before.
    """
    repository = _opened(folder)
    if repository is None:
        return b"", False
    import pygit2

    try:
        found = bytearray()
        is_whole = _take(_texts(repository, words, commits_first=commits_first), found)
        return bytes(found), is_whole
    except (pygit2.GitError, OSError, ValueError, KeyError, TypeError):
        return b"", False


def _take(texts: Iterator[bytes | None], into: bytearray) -> bool:
    for text in texts:
        if text is None:
            return False
        into += text[:_MOST_BYTES]
        if len(into) > _MOST_BYTES:
            return False
    return True


def _opened(folder: str) -> pygit2.Repository | None:
    root = repository_of(folder)
    if root is None:
        return None
    try:
        import pygit2
    except ImportError:
        return None
    try:
        pygit2.settings.set_extensions(["partialclone"])
        return pygit2.Repository(root)
    except (OSError, ValueError, KeyError, pygit2.GitError):
        return None  # not one, or a linked tree whose repository is gone


def _texts(repository: pygit2.Repository, words: Sequence[str], *, commits_first: bool) -> Iterator[bytes | None]:
    """Messages and added text, commit by commit; None where there is more than is looked at."""
    walker = repository.walk(None)
    for tip in _tips(repository, words):
        walker.push(tip)
    known = _remote(repository, words)
    for name in repository.references:
        if name.startswith(known):
            walker.hide(repository.references[name].resolve().target)
    commits = list(islice(walker, _MOST_COMMITS + 1))
    for commit in commits[:_MOST_COMMITS]:
        yield commit.message.encode("utf-8", "replace")
        if len(commit.parents) < 2:  # what a merge joins is in its parents
            parent = commit.parents[0].tree if commit.parents else None
            yield from _added(
                commit.tree.diff_to_tree(parent, swap=True) if parent else commit.tree.diff_to_tree(swap=True)
            )
    if commits_first:
        yield from _added(repository.diff("HEAD"))
    if len(commits) > _MOST_COMMITS:
        yield None


def _remote(repository: pygit2.Repository, words: Sequence[str]) -> str:
    """What the names of branches begin with that the remote of a push is known to have."""
    named = next((word for word in words if not word.startswith("-")), "")
    if not named:
        return "refs/remotes/"
    return f"refs/remotes/{next((one.name for one in repository.remotes if one.url == named), named)}/"


def _added(diff: pygit2.Diff) -> Iterator[bytes | None]:
    for patch in filter(None, diff):
        if patch.delta.is_binary:
            yield None
        for hunk in patch.hunks:
            yield b"".join(line.raw_content for line in hunk.lines if line.origin == "+")


def _tips(repository: pygit2.Repository, words: Sequence[str]) -> Iterator[pygit2.Oid]:
    """The commits that a push names; without any, the one that is checked out."""
    import pygit2

    names = [word.lstrip("+").partition(":")[0] for word in words if not word.startswith("-")][1:]
    if not _ALL.isdisjoint(words):
        names = [name for name in repository.references if not name.startswith("refs/remotes/")]
    if any("*" in name for name in names):
        names = [name for name in repository.references if not name.startswith("refs/remotes/")]
    for name in filter(None, names or ["HEAD"]):
        yield repository.revparse_single(name).peel(pygit2.Commit).id


# Hosts ----------------------------------------------------------------------------------------------------------------


def names_host(folder: str, host: str) -> bool:
    """Whether a host is of the project at a folder: a remote of it, or named in what is committed."""
    repository = _opened(folder)
    if repository is None or not host:
        return False
    import pygit2

    try:
        if any(host == remote.name or _is_at(host, _host(remote.url or "")) for remote in repository.remotes):
            return True
        if repository.head_is_unborn or "." not in host:
            return False
        return _is_in(repository.path, str(repository.head.peel(pygit2.Tree).id), host)
    except (pygit2.GitError, OSError, ValueError, KeyError, TypeError):
        return False


def _is_at(host: str, known: str) -> bool:
    """Whether a host is a known one, or below it: `api.github.com` is GitHub's."""
    return bool(known) and f".{host}".endswith(f".{known}")


def _host(url: str) -> str:
    if "://" in url:
        return urlsplit(url).hostname or ""
    return url.partition(":")[0].rpartition("@")[2]


@lru_cache(maxsize=512)
def _is_in(path: str, tree: str, host: str) -> bool:
    import pygit2

    repository = pygit2.Repository(path)
    left, named = _MOST_SEARCHED, host.encode()
    for blob in islice(_blobs(repository[tree]), _MOST_BLOBS):
        if blob.size > _LARGEST_BLOB:
            continue
        left -= blob.size
        if left < 0:
            return False
        if named in blob.data:
            return True
    return False


def _blobs(tree: pygit2.Object) -> Iterator[pygit2.Blob]:
    import pygit2

    waiting = [tree]
    while waiting:
        for entry in waiting.pop(0):  # type: ignore[attr-defined]
            if isinstance(entry, pygit2.Tree):
                waiting.append(entry)
            elif isinstance(entry, pygit2.Blob):
                yield entry
