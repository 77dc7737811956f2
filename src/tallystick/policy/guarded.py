"""What a call does to the record, to its key, and to the settings that make agents call the hook.

Owns Guarded, computed from the call's arguments. Must not know what follows from it: the policies say that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from tallystick.model.decision import Call
from tallystick.model.script import ANY_ONE, CLASS, STAR, Command, Script, Word
from tallystick.policy.places import Kind, Places, matches_name
from tallystick.policy.programs import Change, changes
from tallystick.policy.recorder import Recorder, names_process, stops, weakens
from tallystick.policy.tools import Use, use_of

_MAY_BE_PATH = re.compile(f"[/.{STAR}{ANY_ONE}{CLASS}]|(?i:key)")
"""What a word must have for the signing key to be meant: most options and names have none of it."""


class Shell(msgspec.Struct, frozen=True):
    """How commands are read: functions of the `shell` package, bound to an environment."""

    script: Callable[[str, str | None], Script]
    """A text and the folder that it runs in, or None."""
    argv: Callable[[Sequence[str], str | None], Script]
    """A program with arguments, likewise."""


class Guarded(msgspec.Struct, frozen=True, kw_only=True):
    """What a call does to the places that protect the record."""

    kind: str
    """Of the tool: shell, code, write, read or other."""
    touches: frozenset[Kind] = frozenset()
    """The protected places that it changes."""
    may_touch: frozenset[Kind] = frozenset()
    """The protected places that it names, in a tool whose doing is unknown."""
    mentions: frozenset[Kind] = frozenset()
    """The protected places that its text names anywhere."""
    reads_keys: bool = False
    stops_recorder: bool = False
    weakens_record: bool = False


def guarded(call: Call, places: Places, recorder: Recorder, shell: Shell) -> Guarded:
    """What a call does to the record. Never raises for what an agent gave."""
    use = use_of(call.tool, call.args)
    folder = _folder(call, use, places)
    finder = _Finder(places, recorder, [folder] if folder is not None else [])
    for text in use.commands:
        finder.script(shell.script(text, folder), text)
    for program in use.programs:
        finder.script(shell.argv(program, folder), " ".join(program))
    for code in use.code:
        finder.code(code)
    finder.write(use.writes)
    finder.named(use.named, is_reading=use.kind == "read")
    return finder.guarded(use.kind)


def _folder(call: Call, use: Use, places: Places) -> str | None:
    if use.folder is None:
        return call.cwd
    found = places.absolute(use.folder, [call.cwd] if call.cwd is not None else [])
    return found[0] if found else call.cwd


class _Finder:
    """Collects facts of one call."""

    def __init__(self, places: Places, recorder: Recorder, folders: list[str]) -> None:
        self._places = places
        self._recorder = recorder
        self._folders = folders
        self._known: dict[tuple[Word, bool, tuple[str, ...]], set[Kind]] = {}
        self._touches: set[Kind] = set()
        self._may_touch: set[Kind] = set()
        self._mentions: set[Kind] = set()
        self._reads_keys = self._stops = self._weakens = False

    def guarded(self, kind: str) -> Guarded:
        """All that was found."""
        return Guarded(
            kind=kind,
            touches=frozenset(self._touches),
            may_touch=frozenset(self._may_touch),
            mentions=frozenset(self._mentions),
            reads_keys=self._reads_keys,
            stops_recorder=self._stops,
            weakens_record=self._weakens,
        )

    # Tools ----------------------------------------------------------------------------------------------------------

    def write(self, paths: Iterable[str]) -> None:
        """Paths that a file tool writes."""
        for path in paths:
            self._touches |= self._places.touched(path, self._folders, deep=False)
            if not self._folders:
                self._touches |= self._places.mentioned(path)

    def named(self, paths: Iterable[str], *, is_reading: bool) -> None:
        """Paths among the arguments of a tool that reads, or of one that is unknown."""
        for path in paths:
            found = self._places.touched(path, self._folders, deep=False)
            self._reads_keys |= Kind.KEYS in found
            if not is_reading:
                self._may_touch |= found

    def code(self, code: str) -> None:
        """Code in some language: what it names it may change."""
        found = self._places.mentioned(code)
        self._mentions |= found
        self._touches |= found
        self._reads_keys |= Kind.KEYS in found
        self._stops |= names_process(code, self._recorder)

    # Commands -------------------------------------------------------------------------------------------------------

    def script(self, script: Script, text: str) -> None:
        """The commands of a shell text."""
        self._mentions |= self._places.mentioned(text)
        for command in script.commands:
            self._command(command)
            if not command.words and command.fed:
                self._mentions |= self._places.mentioned(command.fed)

    def _command(self, command: Command) -> None:
        folders = self._in(command)
        for redirect in command.redirects:
            if redirect.writes:
                self._change(Change(redirect.target), folders)
            self._read_word(redirect.target, folders)
        for word in command.words:
            self._read_word(word, folders)
        self._stops |= stops(command, self._recorder)
        self._weakens |= weakens(command)
        found = changes(command)
        for change in found.files:
            self._change(change, folders)
        for word in found.code:
            self._touches |= self._places.mentioned(f"{word.plain} {word.hidden}")
            self._stops |= names_process(word.plain, self._recorder)

    def _in(self, command: Command) -> tuple[str, ...]:
        """Where a command may run. The first is where the agent works: project settings are found by it."""
        return tuple(dict.fromkeys((*self._folders, *command.folders)))

    def _of_word(self, word: Word, folders: tuple[str, ...], *, deep: bool) -> set[Kind]:
        """What Places says of a word, asked once: links are looked up on disk."""
        key = (word, deep, folders)
        if key not in self._known:
            self._known[key] = self._places.of_word(word, folders, deep=deep)
        return self._known[key]

    def _change(self, change: Change, folders: tuple[str, ...]) -> None:
        word = change.word
        if change.names:
            below = self._places.names_below(word.text, folders)
            self._touches |= {kind for name, kind in below if _is_named(name, change.names)}
            self._touches |= self._of_word(word, folders, deep=False)
            return
        self._touches |= self._of_word(word, folders, deep=change.deep)

    def _read_word(self, word: Word, folders: tuple[str, ...]) -> None:
        if _MAY_BE_PATH.search(word.text) or word.hidden:
            self._reads_keys |= Kind.KEYS in self._of_word(word, folders, deep=False)


def _is_named(name: str, patterns: Iterable[str]) -> bool:
    return any(matches_name(name, pattern) for pattern in patterns)
