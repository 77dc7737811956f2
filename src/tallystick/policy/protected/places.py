"""Which paths are protected, and whether a path or a text means one of them.

Owns Kind, Protected and Places. Must not know tools or programs. Links are resolved by a function that the caller gives.
"""

from __future__ import annotations

import enum
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TypeAlias

import msgspec
from ahocorasick_rs import AhoCorasick

from tallystick.intent.programs.arguments import split_words
from tallystick.model.paths import placed
from tallystick.model.pattern import pattern_of
from tallystick.model.script import ANY_ONE, CLASS, HOLE, STAR, Word


class Kind(enum.StrEnum):
    """What a protected place is."""

    STORE = "store"
    KEYS = "keys"
    HOOK_SETTINGS = "hook_settings"
    """Settings that make an agent call the hook: the user's, and those of the project that the agent works in."""
    OTHER_SETTINGS = "other_settings"
    """The same file of a project elsewhere."""
    PROJECT_HOOKS = "project_hooks"
    """Hooks of other programs in a project's settings that hold none of ours: they run what the project has."""
    UNKNOWN_HOOKS = "unknown_hooks"
    """The same, of which it is not known what they run, or they run what lies elsewhere or talks to a host."""
    PROGRAM = "program"
    """The files of Tallystick itself, the hook among them."""
    CHECKOUT = "checkout"
    """The same, where they are a checkout that someone develops."""


_Meeting: TypeAlias = tuple[tuple[Kind, ...], tuple[tuple[tuple[str, ...], bool], ...]]
"""Kinds of places, and projects, each with whether it is a whole settings file of it."""


class Protected(msgspec.Struct, frozen=True):
    """A path that agents may not change: absolute, normal, no link in it."""

    kind: Kind
    path: str
    is_folder: bool


_MARKS = pattern_of(f"[{HOLE}{STAR}{ANY_ONE}{CLASS}]")
_ANY = STAR + ANY_ONE + HOLE
_BESIDE = r"""(?:[\s"'`/\\,+()\[\]]|(?<=/)\.(?=/))+"""
"""What stands between the parts of a path in code: `/`, or `" / "`, `", "`."""
_END = r"(?![\w-]|\.\w)"


class Naming(msgspec.Struct, frozen=True, kw_only=True):
    """How a machine takes paths."""

    resolve: Callable[[str], str] = posixpath.normpath
    """An absolute path, any way it is spelled → the same without links."""
    ignores_case: bool = False
    """Names that differ in case alone are one file."""


_AS_SPELLED = Naming()


class Projects(msgspec.Struct, frozen=True, kw_only=True):
    """Settings that lie in projects."""

    settings: tuple[str, ...] = ()
    """Their files, relative to a project."""
    folders: tuple[str, ...] = ()
    """Projects whose settings count wherever an agent works, absolute."""


_NO_PROJECTS = Projects()


class Places:
    """All protected places, and the questions about them."""

    def __init__(
        self,
        protected: Iterable[Protected],
        *,
        home: str,
        projects: Projects = _NO_PROJECTS,
        naming: Naming = _AS_SPELLED,
    ) -> None:
        """Bind the places.

        Args:
            protected: The places with a fixed path.
            home: The user's home folder, absolute.
            projects: Settings that lie in projects.
            naming: How the machine takes paths.
        """
        self.home = home
        self._ignores_case = naming.ignores_case
        self._resolve = naming.resolve
        self._protected = tuple(
            (place.kind, self._segments(path), place.is_folder)
            for place in protected
            for path in dict.fromkeys((place.path, naming.resolve(place.path)))
        )
        self.in_projects = projects.settings
        self._in_projects = tuple(self._segments(path) for path in projects.settings)
        self._plainly = _Plainly(self._protected, self._in_projects)
        self._projects = tuple(self._segments(path) for path in projects.folders)
        self._mentions = self._patterns()
        self._parts = [*dict.fromkeys(parts[-1] for _, parts, _ in self._mentions)]
        self._finder = AhoCorasick(self._parts)
        self._met = lru_cache(maxsize=8192)(self._meet)

    def for_call(self) -> Places:
        """The same, for the questions about one call: what a link leads to is looked up once."""
        found = copy(self)
        found._resolve = lru_cache(maxsize=256)(self._resolve)
        return found

    def _segments(self, path: str) -> tuple[str, ...]:
        return tuple(part for part in (path.lower() if self._ignores_case else path).split("/") if part)

    # Paths ----------------------------------------------------------------------------------------------------------

    def absolute(self, text: str, folders: Sequence[str]) -> list[str]:
        """A path as it is written → every absolute path that it may mean, normal, wildcards marked."""
        found: dict[str, None] = {}
        for path in self._rooted(text, folders):
            found[path] = None
            found[self._without_links(path)] = None
        return list(found)

    def _rooted(self, text: str, folders: Sequence[str]) -> list[str]:
        if text == "~" or text.startswith("~/"):
            text = self.home + text[1:]
        text = text.removeprefix("file://")
        found = [placed(text, folder) for folder in folders or ("",)]
        return [path for path in dict.fromkeys(found) if path.startswith("/")]

    def _without_links(self, path: str) -> str:
        mark = _MARKS.search(path)
        if mark is None:
            return self._resolve(path)
        cut = path.rfind("/", 0, mark.start()) + 1
        if cut:
            return posixpath.join(self._resolve(path[:cut]), path[cut:])
        return path

    def touched(self, text: str, folders: Sequence[str], *, deep: bool) -> set[Kind]:
        """The places that a change of a path would change.

        Args:
            text: The path as it is written, with the marks of `model.script`.
            folders: Where relative paths begin.
            deep: Whether everything below the path changes as well.
        """
        if not text or len(text) > 4096:
            return set()
        return {kind for path in self.absolute(text, folders) for kind in self._kinds(path, folders, deep=deep)}

    def fixed(self, text: str, folders: Sequence[str]) -> set[Kind]:
        """Of these, the places with a fixed path: not the settings that any project may have."""
        return {kind for path in self.absolute(text, folders) for kind in self._met(path, False)[0]}

    def removed(self, text: str, folders: Sequence[str], *, deep: bool) -> set[Kind]:
        """The places that are gone when a path is removed: of a link, not what it leads to."""
        if not text or len(text) > 4096:
            return set()
        paths = set()
        for path in self._rooted(text, folders):
            folder, name = posixpath.split(path.rstrip("/"))
            paths |= {path, posixpath.normpath(posixpath.join(self._without_links(folder), name))}
        return {kind for path in paths for kind in self._kinds(path, folders, deep=deep)}

    def _kinds(self, path: str, folders: Sequence[str], *, deep: bool) -> Iterator[Kind]:
        kinds, in_projects = self._met(path, deep)
        yield from kinds
        for root, is_file in in_projects:
            if self._is_ours(root, folders):
                yield Kind.HOOK_SETTINGS
            elif is_file:
                yield Kind.OTHER_SETTINGS

    def _meet(self, path: str, deep: bool) -> _Meeting:
        """What a path means by itself: of places with a fixed path, and of settings in some project."""
        parts = self._segments(path)
        if not _MARKS.search(path):
            return self._plainly.met(parts, deep=deep)
        return self._meet_any(parts, deep=deep)

    def _meet_any(self, parts: tuple[str, ...], *, deep: bool) -> _Meeting:
        """The same of a path that may have wildcards."""
        kinds = tuple(
            kind for kind, place, is_folder in self._protected if _meets(parts, place, is_folder=is_folder, deep=deep)
        )
        return kinds, tuple(found for place in self._in_projects for found in self._in_project(parts, place, deep=deep))

    def _in_project(
        self, parts: tuple[str, ...], place: tuple[str, ...], *, deep: bool
    ) -> Iterator[tuple[tuple[str, ...], bool]]:
        """The project that it is a settings file of; with `deep`, the folder in the project that holds one counts as well."""
        if not deep and parts[-1:] != place[-1:] and not _MARKS.search(parts[-1] if parts else ""):
            return
        if len(place) == 1 and parts and not parts[-1].strip(_ANY):
            return  # a bare `*` that nothing was found for is not meant for a file of the project that is not there
        for size in range(1 if deep else len(place), len(place) + 1):
            root, tail = parts[: len(parts) - size], parts[len(parts) - size :]
            if len(parts) >= size and all(map(_fits, tail, place)):
                yield root, size == len(place)

    def _is_ours(self, root: tuple[str, ...], folders: Sequence[str]) -> bool:
        """Whether a folder is one of the projects, or holds the folder that the agent works in."""
        places = [*self._projects, *(self._segments(path) for path in folders[:1])]
        places += [self._segments(self._resolve(path)) for path in folders[:1]]
        return any(place[: len(root)] == root for place in places)

    def names_below(self, text: str, folders: Sequence[str]) -> set[tuple[str, Kind]]:
        """What `find` would meet below a folder: names of protected files and of those on the way to them."""
        found: set[tuple[str, Kind]] = set()
        for path in self.absolute(text, folders):
            parts = self._segments(path)
            for kind, place, is_folder in self._protected:
                if _meets(parts, place, is_folder=is_folder, deep=True):
                    names = place[len(parts) :] + (_STORE_NAMES if is_folder else ())
                    found |= {(name, kind) for name in names}
            found |= {(name, Kind.HOOK_SETTINGS) for name in self._names_in_project(parts, folders)}
        return found

    def _names_in_project(self, parts: tuple[str, ...], folders: Sequence[str]) -> Iterator[str]:
        is_ours = self._is_ours(parts, folders)
        for place in self._in_projects:
            if is_ours:
                yield from place
            for size in range(1, len(place)):
                root, tail = parts[: len(parts) - size], parts[len(parts) - size :]
                if tail == place[:size] and self._is_ours(root, folders):
                    yield from place[size:]

    # Texts ----------------------------------------------------------------------------------------------------------

    def _patterns(self) -> tuple[tuple[Kind, tuple[str, ...], str], ...]:
        """Kind, what must be in a text at least, and the pattern: most texts have none of the former."""
        found = [(Kind.STORE, self._segments("TALLY_HOME"), r"(?<!\w)TALLY_HOME(?!\w)")]
        home = self._segments(self.home)
        for kind, place, _ in self._protected:
            found.append((kind, place, "/" + "/+(?:\\./+)*".join(map(re.escape, place)) + _END))
            if place[: len(home)] == home and place[len(home) :] and place[len(home)].startswith("."):
                found.append((kind, place[len(home) :], _spelled(place[len(home) :])))
        found += [(Kind.HOOK_SETTINGS, place, _spelled(place)) for place in self._in_projects]
        return tuple(dict.fromkeys(found))

    def mentioned(self, text: str) -> set[Kind]:
        """The places that a text of any kind names: code, a patch, the words of a command."""
        known = text
        if self._ignores_case:
            known = text.lower()
        named = {self._parts[k] for k, _, _ in self._finder.find_matches_as_indexes(known, overlapping=True)}
        return {
            kind
            for kind, parts, pattern in self._mentions
            if parts[-1] in named
            and all(map(known.__contains__, parts))
            and _compiled(pattern, self._ignores_case).search(text)
        }

    def of_word(self, word: Word, folders: Sequence[str], *, deep: bool) -> set[Kind]:
        """The places that a change of what a word means would change, as far as that is known."""
        found = {kind for text in _readings(word.text) for kind in self.touched(text, folders, deep=deep)}
        if not word.is_known or not folders:
            found |= self.mentioned(word.text)
        if word.hidden:
            found |= self.mentioned(word.hidden)
            for text in split_words(word.hidden)[:64]:
                found |= self.touched(text.strip("\"'`()$"), folders, deep=deep)
        return found


class _Plainly:
    """The same places, to be asked about paths that have no wildcards: those are compared part by part as they are."""

    def __init__(
        self, protected: Iterable[tuple[Kind, tuple[str, ...], bool]], in_projects: Iterable[tuple[str, ...]]
    ) -> None:
        self._at: dict[tuple[str, ...], list[tuple[Kind, bool]]] = {}
        """Kinds of places by their parts, each with whether it is a folder."""
        self._above: dict[tuple[str, ...], list[Kind]] = {}
        """Kinds of the places that are below a folder."""
        self._ends: dict[tuple[str, ...], list[bool]] = {}
        """The beginnings of projects' settings by their parts, each with whether it is all of them."""
        for kind, place, is_folder in protected:
            self._at.setdefault(place, []).append((kind, is_folder))
            for size in range(len(place)):
                self._above.setdefault(place[:size], []).append(kind)
        for place in in_projects:
            for size in range(1, len(place) + 1):
                self._ends.setdefault(place[:size], []).append(size == len(place))
        self._longest = max(map(len, self._ends), default=0)

    def met(self, parts: tuple[str, ...], *, deep: bool) -> _Meeting:
        """What a path means by itself, as `Places` says it."""
        kinds = [
            kind
            for size in range(len(parts) + 1)
            for kind, is_folder in self._at.get(parts[:size], ())
            if is_folder or size == len(parts)
        ]
        if deep:
            kinds += self._above.get(parts, ())
        found = [
            (parts[: len(parts) - size], is_whole)
            for size in range(1, min(self._longest, len(parts)) + 1)
            for is_whole in self._ends.get(parts[len(parts) - size :], ())
            if is_whole or deep
        ]
        return tuple(dict.fromkeys(kinds)), tuple(dict.fromkeys(found))


@lru_cache(maxsize=1024)
def _compiled(pattern: str, ignores_case: bool) -> re.Pattern[str]:
    """A pattern when it is first needed: compiling all of them takes 70 ms."""
    if ignores_case:
        return re.compile(pattern, re.IGNORECASE)
    return re.compile(pattern)


_STORE_NAMES = (
    "config.toml",
    "graph.db",
    "ledger.jsonl",
    "ledger.note",
    "log.key",
    "configuration.key",
    "00000000.jsonl",
    "recorder.pid",
)
"""Names as there are in a store, for patterns of `find`."""


def _spelled(parts: Sequence[str]) -> str:
    """A pattern for the parts of a path as code may have them."""
    return r"(?<![\w.-])" + _BESIDE.join(map(re.escape, parts)) + _END


def _meets(parts: tuple[str, ...], place: tuple[str, ...], *, is_folder: bool, deep: bool) -> bool:
    """Whether a path, maybe with wildcards, is a place, lies in it, or (`deep`) holds it."""
    if len(parts) < len(place):
        return deep and all(map(_fits, parts, place))
    return (is_folder or len(parts) == len(place)) and all(map(_fits, parts, place))


def _fits(part: str, name: str) -> bool:
    """Whether one part of a path may mean a name."""
    if part == name:
        return True
    if not _MARKS.search(part) or (name.startswith(".") and part[0] in (STAR, ANY_ONE, CLASS)):
        return False
    if HOLE in part and len(part.strip(HOLE + STAR + ANY_ONE)) < 2:
        return False  # nothing but an unknown: it may be any name, and nearly always is another
    return fnmatchcase(name, _pattern(part))


def matches_name(name: str, pattern: str) -> bool:
    """Whether `find -name PATTERN` finds a name. The pattern may have marks, or wildcards that were quoted."""
    return fnmatchcase(name, pattern.replace(STAR, "*").replace(ANY_ONE, "?").replace(HOLE, "*").replace(CLASS, "["))


def _pattern(part: str) -> str:
    """A part of a path with marks as a pattern of `fnmatch`."""
    escaped = re.sub(r"[*?[]", lambda found: f"[{found[0]}]", part)
    return (
        escaped.replace(STAR, "*")
        .replace(ANY_ONE, "?")
        .replace(HOLE, "*")
        .replace(CLASS + "^", "[!")
        .replace(CLASS, "[")
    )


def _readings(text: str) -> list[str]:
    """What of a word may be a path: all of it, what follows `=` or an option's letter, what stands between colons."""
    found = [text]
    if "=" in text:
        found.append(text.partition("=")[2].removeprefix("@"))
    if text.startswith("-") and len(text) > 2 and text[1] != "-":
        found.append(text[2:])
    if text.startswith("@"):
        found.append(text[1:])
    if ":" in text:
        found += text.split(":")[:8]
    return found
