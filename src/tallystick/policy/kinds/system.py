"""What a path is to the machine and to the project: a root, a folder of the system, a home folder, what a build makes again.

Owns those places and names, on Linux, macOS, the BSDs and Windows. A pattern that names everything in a folder (`/usr/*`)
stands for the folder. Sources: the Filesystem Hierarchy Standard 3.0, hier(7); gitrepository-layout(5); the templates of
ignored files that forges offer for languages.
"""

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache

from tallystick.catalog.agents import CONVENTIONS, agents_folders
from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of
from tallystick.policy.kinds.homes import below_home, is_above_homes, plain
from tallystick.policy.kinds.named import Named
from tallystick.policy.settings import Settings

KINDS: dict[str, str] = {
    "root": "The root of a file system or of a drive.",
    "system": "Belongs to the operating system.",
    "home": "A home folder as a whole, or the folder of all home folders.",
    "personal": "A folder of a user as a whole: documents, pictures, settings, what programs keep.",
    "workspace-root": "The folder that the agent works in, or one above it, as a whole.",
    "workspace-part": "A folder or file at the top of the workspace.",
    "repository": "What version control keeps of a project: `.git` as a whole, or its objects and branches.",
    "inner-repository": "The same of a repository that lies inside of the workspace, below its top.",
    "build-output": "In the workspace, and made again by a build, an installation, a test run or a tool.",
    "cache": "What programs keep in a home folder and fetch or make again; what is in the trash.",
    "cache-part": "What lies in a cache that is only a cache: one program's part of it, or one package.",
    "temporary-root": "A folder for everybody's temporary files, as a whole.",
    "agent-notes": "What an agent writes for itself in its own folder: plans, lists of tasks, what it remembers.",
    "worktree": "A working tree of the same repository that git makes beside it, or takes away where nothing is lost.",
    "discard": "A device that keeps nothing: /dev/null, the terminal, the standard streams.",
}

_EVERYTHING = pattern_of(r"\*+|\.\*|\.\[[!^]\.\]\*|\.\?+\*|\*\.\*|\{\*,\.\*\}|\{,\.\}\*")
"""A last part that names all there is in a folder, or all that is hidden."""
_ROOT = pattern_of(r"/|/mnt(?:/[a-z])?|/[cd]|/volumes(?:/[^/]+)?|/media(?:/[^/]+){0,2}")
_SYSTEM = pattern_of(
    r"(?:/(?:bin|boot|dev|etc|lib|lib32|lib64|libx32|libexec|opt|proc|rescue|run|sbin|snap|srv|stand|sys|usr|var|nix|gnu"
    r"|system|library|applications|cores|kernel|lost\+found)"
    r"|/mnt/[a-z]/(?:windows|program ?files(?: \(x86\))?|programdata|boot|recovery))(?=/|$)"
)


class _Facts(Entry, frozen=True):
    """Facts of catalog/kinds/system.toml."""

    temporary_roots: frozenset[str]
    folders: frozenset[str]
    personal: frozenset[str]
    endings: tuple[str, ...]
    files: tuple[str, ...]
    folder_patterns: tuple[str, ...]
    caches: tuple[str, ...]
    cache_roots: tuple[str, ...]


_FACTS = load("kinds/system", _Facts)
_TEMPORARY = pattern_of(
    rf"(?:{'|'.join(map(re.escape, sorted(_FACTS.temporary_roots)))}|/run/user/\d+"
    r"|/mnt/[a-z]/users/[^/]+/appdata/local/temp)/"
)
_DISCARD = pattern_of(
    r"/dev/(?:null|zero|full|u?random|std(?:in|out|err)|tty|fd/\d+|ptmx|pts/\d+|console)|/proc/self/fd/\d+|nul:?"
)
_REPOSITORY = pattern_of(
    r"(?:.*/)?(?:\.git|\.hg|\.svn|\.jj|\.bzr|_darcs|\.fossil)"
    r"(?:/(?:objects|refs|head|config|packed-refs|logs|store|modules|worktrees|wc\.db)(?:/.*)?)?"
)
_FOLDER_LIKE = pattern_of("|".join(_FACTS.folder_patterns))
_FILE_LIKE = pattern_of("|".join((rf".*\.(?:{'|'.join(_FACTS.endings)})", *_FACTS.files)))
_CACHE_PARTS = pattern_of(rf"(?:{'|'.join(_FACTS.cache_roots)})/.")
_CACHES = pattern_of(rf"(?:{'|'.join(_FACTS.caches)})(?=/|$)")

_NOTES = pattern_of(
    rf"(?:{'|'.join(re.escape(folder) for folder in agents_folders())})/(?:{'|'.join(CONVENTIONS.note_folders)})(?=/)"
)


def kinds(named: Named, settings: Settings) -> Iterator[str]:
    """What a path is, of KINDS."""
    if not named.path:
        return
    yield from _of(named.path, named.home, named.workspace, named.is_known)
    if named.real != named.path:
        yield from _of(named.real, named.home, named.workspace, named.is_known)


@lru_cache(maxsize=4096)
def _of(path: str, home: str, workspace: str | None, is_known: bool) -> frozenset[str]:
    """What one spelling of a path is; of a path whose end is unknown, what all that may follow is."""
    folder = whole(plain(path))
    found = set(_places(folder, plain(home), is_known=is_known))
    if workspace is not None:
        found |= set(_in_project(folder, plain(workspace), is_known=is_known))
    if _REPOSITORY.fullmatch(folder):
        found.add("inner-repository" if _is_inner(folder, workspace) else "repository")
    return frozenset(found)


def _is_inner(folder: str, workspace: str | None) -> bool:
    """Whether a repository lies in the workspace and is not that of the workspace."""
    if workspace is None:
        return False
    top = plain(workspace).rstrip("/") + "/"
    return folder.startswith(top) and not folder[len(top) :].startswith(
        (".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".fossil")
    )


def is_temporary(path: str, home: str) -> bool:
    """Whether a path lies in a folder for everybody's temporary files, or in that of a user."""
    folder, own = plain(path) + "/", plain(home) + "/"
    if folder.startswith(own):
        return folder.startswith("appdata/local/temp/", len(own))
    return _TEMPORARY.match(folder) is not None


def whole(path: str) -> str:
    """The folder that a plain path stands for: without last parts that name everything there."""
    while True:
        above, _, last = path.rpartition("/")
        if not above and not path.startswith("/"):
            return path
        if _EVERYTHING.fullmatch(last) is None:
            return path
        path = above or "/"


def _places(folder: str, home: str, *, is_known: bool) -> Iterator[str]:
    if _DISCARD.fullmatch(folder):
        yield "discard"
        return
    rest = below_home(folder, home) if folder[:1] in "/~" else None
    if is_known:
        yield from _as_a_whole(folder, rest, home)
    if rest is not None:
        if _CACHES.match(rest):
            yield "cache"
        if _CACHE_PARTS.match(rest):
            yield "cache-part"
        if _NOTES.match(rest):
            yield "agent-notes"
    elif folder not in _FACTS.temporary_roots and _SYSTEM.match(folder) and not _TEMPORARY.match(folder):
        yield "system"


def _as_a_whole(folder: str, rest: str | None, home: str) -> Iterator[str]:
    """What a folder is with all that is in it; `rest` is the part of it below a home folder."""
    if _ROOT.fullmatch(folder):
        yield "root"
    if rest == "" or (rest is None and is_above_homes(folder, home)):
        yield "home"
    if rest in _FACTS.personal:
        yield "personal"
    if folder in _FACTS.temporary_roots:
        yield "temporary-root"


def _in_project(folder: str, workspace: str, *, is_known: bool) -> Iterator[str]:
    if is_known and (folder == workspace or workspace.startswith(folder.rstrip("/") + "/")):
        yield "workspace-root"
    if not folder.startswith(workspace.rstrip("/") + "/"):
        return
    parts = folder[len(workspace.rstrip("/")) + 1 :].split("/")
    if len(parts) == 1 and is_known:
        yield "workspace-part"
    if is_build_output(parts):
        yield "build-output"


def is_build_output(parts: list[str]) -> bool:
    """Whether a path below a project, by its parts in lower case, is what builds and tools leave and make again."""
    is_below = any(part in _FACTS.folders or _FOLDER_LIKE.fullmatch(part) for part in parts[:64])
    return is_below or _FILE_LIKE.fullmatch(posixpath.basename(parts[-1])) is not None
