"""What a call does to the record, to its key, and to the settings that make agents call the hook.

Owns Guarded, found in the call as it was read: more is taken for a change here than the acts say, since these few
places are no one's work. What is unknown counts if it may be one of them. Must not know what follows: the policies say
that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from tallystick.catalog.agents import AGENTS
from tallystick.catalog.languages import LANGUAGES
from tallystick.catalog.programs import programs_with
from tallystick.intent.actions import Action, Actions, Done, Snippet
from tallystick.intent.programs import actions_of
from tallystick.intent.programs.files import Finding, finding_of
from tallystick.intent.tools.arguments import strings
from tallystick.intent.tools.uses import Uses
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import ANY_ONE, CLASS, HOLE, STAR, Command, Role, Word
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.protected.own_commands import Does, done_by_code, own_command, started_by_code
from tallystick.policy.protected.own_package import replaces_package
from tallystick.policy.protected.places import Kind, Places, matches_name
from tallystick.policy.protected.project_hooks import Runs
from tallystick.policy.protected.recorder import Recorder, names_process, stops

_MAY_BE_PATH = pattern_of(f"[/.{STAR}{ANY_ONE}{CLASS}]|(?i:key)")
"""What a word must have for the signing key to be meant: most options and names have none of it."""
_READS = frozenset((Operation.READ, Operation.COPY_SOURCE, Operation.LIST, Operation.FOLDER, Operation.EXECUTE))
_REMOVES = frozenset((Operation.DELETE, Operation.RENAME))
_FILLS = frozenset((Operation.COPY_DEST, Operation.WRITE, Operation.METADATA, Operation.UNKNOWN))
_LINKS = frozenset(("ln", "link"))
_MOVING = frozenset(("mv", "exch"))
"""What they put somewhere may be a folder."""
_TABLE = r"[\"'`\[]?\w{1,80}[\"'`\]]?(?:\.[\"'`\[]?\w{1,80}[\"'`\]]?)?"
_STATEMENT = pattern_of(
    rf"\s{{0,20}}(?:with\b.{{0,400}}?\)\s{{0,20}})?(?:(?:insert|replace)\s+(?:or\s+\w+\s+)?into\s+{_TABLE}|"
    rf"update\s+(?:or\s+\w+\s+)?{_TABLE}\s+set\b|delete\s+from\s+{_TABLE}\s*(?:;|\Z|where\b|returning\b)|"
    rf"(?:drop|alter)\s+(?:table|index|view|trigger)\s+(?:if\s+exists\s+)?{_TABLE}\s*(?:;|\Z|cascade\b|add\b|drop\b|rename\b)|"
    rf"create\s+(?:temp\w*\s+|unique\s+|virtual\s+)?(?:table|index|view|trigger)\s+(?:if\s+not\s+exists\s+)?{_TABLE}\s*"
    r"(?:\(|as\b|on\b|using\b|after\b|before\b)|attach\s+(?:database\s+)?[\"']|"
    r"vacuum\s*(?:;|\Z|into\b)|pragma\s+[\w.]+\s*[=(])",
    re.IGNORECASE | re.DOTALL,
)
"""A statement of SQL that changes something, at the beginning of a text. Prose may begin with `delete` as well."""
_OPENS_FILES = pattern_of(
    r"\b(?:attach|vacuum\s{1,9}into|outfile|writefile|load_extension|copy)\b|^\s*\.", re.IGNORECASE | re.MULTILINE
)
_WILD = str.maketrans({"*": STAR, "?": ANY_ONE, "[": CLASS})
_SETTINGS = frozenset((Kind.HOOK_SETTINGS, Kind.OTHER_SETTINGS))
_BY_HOOKS: dict[Runs, frozenset[Kind]] = {
    Runs.NOTHING: frozenset(),
    Runs.PROJECT: frozenset((Kind.PROJECT_HOOKS,)),
    Runs.ELSEWHERE: frozenset((Kind.UNKNOWN_HOOKS,)),
}
"""What is changed where hooks of other programs are written into a project's settings, by what they run."""
_SHELLS = programs_with("posix-shell")
_MOST_WORDS = 50
_MOST_CONNECTED = 200
_SOCKET = pattern_of(r"(?i)unix[\w-]{0,20}:")
"""What an address begins with that is a socket's path: `unix:`, `unix://`, `UNIX-CONNECT:`."""
_EDITS = frozenset((Operation.EDIT, Operation.METADATA, Operation.CREATE))
_HOOKED = {folder for facts in AGENTS.values() if facts.hooks is not None for folder in facts.folder_names}
_OF_HOOKS = pattern_of(rf"(?i)tally|hook|setting|permission|{'|'.join(map(re.escape, sorted(_HOOKED)))}")
_NOWHERE = ("", ".", "..", "./", "../")


class Guarded(msgspec.Struct, frozen=True, kw_only=True):
    """What a call does to the places that protect the record."""

    kind: str
    """Of the tool: shell, code, write, read or other."""
    touches: frozenset[Kind] = frozenset()
    """The protected places that it changes."""
    may_touch: frozenset[Kind] = frozenset()
    """The protected places that a tool or a script is given of which it is not known what it does with them."""
    mentions: frozenset[Kind] = frozenset()
    """The protected places that its text names anywhere."""
    reads_keys: bool = False
    stops_recorder: bool = False
    own_commands: frozenset[Does] = frozenset()
    """What commands of our own that it runs do to the record, other than reading it."""


class Disk(NamedTuple):
    """What is asked of the files that are there."""

    exists: Callable[[str], bool] = lambda path: False
    """Whether something is at an absolute path: what a copy of a whole folder brings along."""
    left_of_hook: Callable[[Intent], Runs | None] = lambda intent: None
    """What a write of a project's settings makes run besides our hook; None: it may change that."""


_NO_DISK = Disk()


def guarded(reading: CallReading, places: Places, recorder: Recorder, disk: Disk = _NO_DISK) -> Guarded:
    """What a call does to the record. Never raises for what an agent gave."""
    finder = _Finder(reading, places, recorder, disk)
    finder.tool()
    finder.texts()
    for done in reading.done:
        finder.command(done)
    for snippet in reading.snippets:
        finder.code(snippet)
    return finder.guarded()


def kind_of(uses: Uses) -> str:
    """The kind of a tool: shell, code, write, read or other."""
    if uses.commands or uses.programs:
        return "shell"
    if uses.codes or uses.typed:
        return "code"
    files = [intent.operation for intent in uses.intents if intent.domain is Domain.FILE]
    if any(operation not in _READS and operation is not Operation.UNKNOWN for operation in files):
        return "write"
    return "read" if files and Operation.UNKNOWN not in files else "other"


class _Manner(NamedTuple):
    """What the options of a command say of all that it does."""

    program: str
    links: bool
    """It makes other names for what it reads."""
    mirrors: bool
    """It removes what the source does not have."""


def _manner(command: Command) -> _Manner:
    program = command.program
    links = program in _LINKS or (program == "cp" and _has(command, "-l", "--link"))
    mirrors = program == "rsync" and any(text.startswith("--del") for text in _texts(command))
    return _Manner(program, links, mirrors)


def _copied_into(actions: Iterable[Action], manner: _Manner) -> Iterable[Word]:
    """The folders that a command copies into, each once."""
    if manner.mirrors:
        return ()
    targets = [action.target for action in actions if action.operation is Operation.COPY_DEST]
    return dict.fromkeys(word for word in targets if word.is_known and not word.hidden)


class _Finder:
    """Collects facts of one call."""

    def __init__(self, reading: CallReading, places: Places, recorder: Recorder, disk: Disk) -> None:
        self._disk = disk
        self._reading = reading
        self._places = places.for_call()
        self._recorder = recorder
        self._folders = (reading.folder,) if reading.folder is not None else ()
        self._known: dict[tuple[Word, bool, tuple[str, ...]], set[Kind]] = {}
        self._touches: set[Kind] = set()
        self._may_touch: set[Kind] = set()
        self._mentions: set[Kind] = set()
        self._read: set[Kind] = set()
        self._own: set[Does] = set()
        self._reads_keys = self._stops = False

    def guarded(self) -> Guarded:
        """All that was found."""
        return Guarded(
            kind=kind_of(self._reading.uses),
            touches=frozenset(self._touches),
            may_touch=frozenset(self._may_touch),
            mentions=frozenset(self._mentions),
            reads_keys=self._reads_keys,
            stops_recorder=self._stops,
            own_commands=frozenset(self._own - {Does.READ}),
        )

    # Intents --------------------------------------------------------------------------------------------------------

    def tool(self) -> None:
        """What is done to files as far as it is known: by the tool itself, by code, by programs and redirects."""
        own = len(self._reading.uses.intents)
        for text in self._reading.uses.typed:
            self._touches |= self._places.mentioned(text)
        if own and not (self._reading.uses.commands or self._reading.uses.programs):
            self._statements()
        for n, intent in enumerate(self._reading.effects.intents):
            if intent.domain is Domain.FILE and intent.target:
                self._intent(intent, is_own=n < own)

    def _intent(self, intent: Intent, *, is_own: bool) -> None:
        path = intent.target.translate(_WILD) if intent.is_pattern else intent.target
        if not intent.is_known and not intent.is_pattern and not is_own:
            return  # a part of a path: what the words say of it counts
        deep = self._is_deep(intent.operation, path, is_deep=intent.is_deep, program="")
        is_removed = intent.operation in _REMOVES
        found = self._places.removed(path, self._folders, deep=deep) if is_removed else self._touched(path, deep=deep)
        self._reads_keys |= Kind.KEYS in found
        if intent.operation is Operation.EXECUTE:
            self._touches |= found & {Kind.STORE}  # nothing in it is there to be run
        if intent.operation in _READS:
            self._read |= found
            return
        left = self._disk.left_of_hook(intent) if is_own and found & _SETTINGS else None
        if left is not None:
            found = found - _SETTINGS | _BY_HOOKS[left] | self._places.fixed(path, self._folders)
        if is_own and (intent.operation is Operation.UNKNOWN or not self._reading.uses.is_told):
            self._may_touch |= found
        else:
            self._touches |= found

    def _statements(self) -> None:
        """A tool for databases: what it is given is changed if a statement among its arguments changes something."""
        texts = [text for _, text in strings(self._reading.call.args)]
        if any(_STATEMENT.match(text) for text in texts):
            for text in texts:
                if not _STATEMENT.match(text) or "attach" in text.lower():
                    self._touches |= self._places.mentioned(text) - _SETTINGS

    def _touched(self, path: str, *, deep: bool) -> set[Kind]:
        found = self._places.touched(path, self._folders, deep=deep)
        return found if self._folders or path.startswith("/") else found | self._places.mentioned(path)

    def _is_deep(self, operation: Operation, path: str, *, is_deep: bool, program: str) -> bool:
        """Whether everything below a path changes, as far as protected places are concerned.

        What fills a folder or edits in it does not replace the settings that lie below the folder that the agent works in;
        neither does git, which keeps to what it tracks.
        """
        if not is_deep and operation is not Operation.RENAME:
            return False
        is_around = any(_is_at_or_above(path, place) for place in (*self._folders, self._places.home))
        if operation in _REMOVES:
            return program != "git" or not is_around
        return operation in _FILLS and not is_around

    # Texts ----------------------------------------------------------------------------------------------------------

    def texts(self) -> None:
        """What the commands name, and what they do besides changing files."""
        for text in self._reading.uses.commands:
            self._mentions |= self._places.mentioned(text)
        for words in self._reading.uses.programs:
            self._mentions |= self._places.mentioned(" ".join(words))
        for script in self._reading.scripts:
            for command in script.commands:
                self._any_command(command)

    def _any_command(self, command: Command) -> None:
        folders = self._in(command)
        for redirect in command.redirects:
            if redirect.writes:
                self._change(redirect.target, folders)
            self._read_word(redirect.target, folders)
        for n, word in enumerate(command.words):
            self._read_word(word, folders)
            if n and not command.words[0].is_known:  # the program itself is unknown
                self._change(word, folders)
        if command.role is Role.UNTOLD or (not command.words and command.fed):
            said = " ".join(f"{word.plain} {word.hidden}" for word in command.spelled)
            self._mentions |= self._places.mentioned(f"{said} {command.fed}")
        self._stops |= stops(command, self._recorder)
        self._own_command(command, folders)

    def _own_command(self, command: Command, folders: tuple[str, ...]) -> None:
        """What a command does to our package; what one of ours does, started by itself, around another or by a `find`."""
        if replaces_package(command):
            self._touches.add(Kind.PROGRAM)
        finding = finding_of(command)
        runs = (command.words or command.spelled,) if finding is None else finding.runs
        for words in runs:
            found = own_command(words)
            if found is not None:
                self._own.add(found.does)
                for word in found.writes:
                    self._change(word, folders)

    def code(self, snippet: Snippet) -> None:
        """Code in some language: what it names it may change, unless all that it does is known."""
        if snippet.file:  # the acts say what it does; where they do not know, it may be
            found = self._places.mentioned(snippet.text) if not snippet.is_told else set()
            self._may_touch |= found
        else:
            found = self._places.mentioned(snippet.text)
            self._mentions |= found
            is_told = snippet.is_told and snippet.language in LANGUAGES.distinguished
            if snippet.language == "sql" and not _OPENS_FILES.search(snippet.text):
                return  # a place is a value in it
            self._touches |= found - self._read if is_told else found
            self._reads_keys |= Kind.KEYS in found
        self._stops |= names_process(snippet.text, self._recorder)
        if not snippet.file:
            self._own.add(done_by_code(snippet.text))
            for words in started_by_code(snippet.text):
                self._own_command(Command(words=words), self._folders)

    # Commands -------------------------------------------------------------------------------------------------------

    def command(self, done: Done) -> None:
        """What a program does with its words, where these tell no path, or the program is not known."""
        command, actions = done.command, done.actions
        folders, name = self._in(command), command.program
        if name.rpartition("/")[2] == "tally":  # what of it changes the record is known by name: `own_commands`
            return
        manner = _manner(command)
        on_files = [action for action in actions.actions if action.domain is Domain.FILE]
        for action in on_files:
            self._action(action, manner, folders)
        for word in _copied_into(on_files, manner):
            self._inside(word, actions.actions, folders)
        self._found(command, folders)
        self._connected(done, folders)
        if self._may_do_anything(done):
            for word in command.arguments:
                self._change(word, folders)
                if not word.is_known:
                    self._touches |= self._places.mentioned(f"{word.plain} {word.hidden}")

    def _action(self, action: Action, manner: _Manner, folders: tuple[str, ...]) -> None:
        program, operation = manner.program, action.operation
        if operation in _READS and not manner.links:
            return
        word = action.target
        if program in ("rm", "rmdir") and word.text in _NOWHERE:
            return  # it refuses these
        if HOLE in word.text or word.hidden:
            self._change(word, folders, deep=action.is_deep and operation in _REMOVES)
            return
        if manner.mirrors:
            operation = Operation.DELETE
        paths = self._places.absolute(word.text, folders)
        is_deep = action.is_deep or program in _MOVING
        deep = [path for path in paths if self._is_deep(operation, path, is_deep=is_deep, program=program)]
        if operation in _REMOVES:
            self._touches |= self._places.removed(word.text, folders, deep=bool(deep))
        else:  # where it is unknown in which of some folders this happens, each counts by itself
            self._touches |= self._places.touched(word.text, folders, deep=False)
            self._touches |= {kind for path in deep for kind in self._places.touched(path, folders, deep=True)}

    def _connected(self, done: Done, folders: tuple[str, ...]) -> None:
        """What a program that talks to others is given besides files that it reads: a socket is one of these."""
        actions = done.actions.actions
        read = {word for one in actions if one.domain is Domain.FILE for word in (one.target, *one.words)}
        talks = any(one.domain is Domain.NETWORK for one in actions)
        for word in done.command.arguments[:_MOST_CONNECTED]:
            if word not in read and (_SOCKET.match(word.text) or (talks and "://" not in word.text)):
                self._touches |= self._of_word(word, folders, deep=False) & {Kind.STORE}

    def _inside(self, folder: Word, actions: tuple[Action, ...], folders: tuple[str, ...]) -> None:
        """What a copy makes in a folder: the names of what is copied, with all below them."""
        for action in actions[:_MOST_WORDS]:
            name = action.target.text.rstrip("/").rpartition("/")[2]
            if action.operation in (Operation.COPY_SOURCE, Operation.RENAME) and name not in _NOWHERE:
                inside = Word(f"{folder.text.rstrip('/')}/{name}", folder.hidden)
                self._touches |= self._of_word(inside, folders, deep=True)
            if action.operation is Operation.COPY_SOURCE and action.target.text.endswith(("/", "/.")):
                self._poured(action.target, folder, folders)

    def _poured(self, source: Word, folder: Word, folders: tuple[str, ...]) -> None:
        """What a copy of all that is in a folder brings along: settings that it has at the same place."""
        for root in self._places.absolute(source.text, folders):
            for path in self._places.in_projects:
                if self._disk.exists(f"{root}/{path}"):
                    inside = Word(f"{folder.text.rstrip('/')}/{path}", folder.hidden)
                    self._touches |= self._of_word(inside, folders, deep=False) - {Kind.OTHER_SETTINGS}

    def _may_do_anything(self, done: Done) -> bool:
        """Whether a program may change what its words name: no rule knows it, it is not the system's, it runs a script."""
        actions = done.actions
        is_code = bool(actions.scripts) or any(code.language not in LANGUAGES.filters for code in actions.codes)
        return actions.is_unknown or not done.command.trusted or is_code

    def _found(self, command: Command, folders: tuple[str, ...]) -> None:
        """What `find` removes below a folder, or gives to a program that may change it, by name."""
        finding = finding_of(command)
        if finding is None or not (finding.is_deleting or any(map(_changes, finding.runs))):
            return
        for start in finding.starts:
            below = self._places.names_below(start.text, folders)
            names = finding.names or ("*",)
            found = {kind for name, kind in below if any(matches_name(name, pattern) for pattern in names)}
            is_meant = any(matches_name(name, asked) for asked in finding.asked for name, _ in below if _says(asked))
            if found & _SETTINGS and not is_meant and self._is_all_over(start, finding, folders):
                is_lost = _removes(finding) and not finding.is_without_content
                is_untold = any(HOLE in name for name in finding.names)
                if is_lost and (is_untold or (finding.picks and not finding.names)):
                    self._may_touch |= found & _SETTINGS
                    is_lost = False
                found -= set() if is_lost else _SETTINGS
            self._touches |= found | self._of_word(start, folders, deep=False)

    def _is_all_over(self, start: Word, finding: Finding, folders: tuple[str, ...]) -> bool:
        """Whether a `find` goes through all of the folder that the agent works in, and names nothing of the settings."""
        paths = self._places.absolute(start.text, folders)
        is_around = any(_is_at_or_above(path, place) for path in paths for place in self._folders)
        said = " ".join(word.plain for words in finding.runs for word in words[:_MOST_WORDS])
        settings = [f"{start.text.rstrip('/')}/{path}" for path in self._places.in_projects]
        settings += [path.rpartition("/")[0] for path in settings]
        is_meant = any(matches_name(path, pattern.lower()) for pattern in finding.paths for path in settings)
        return is_around and not is_meant and not finding.is_by_path and _OF_HOOKS.search(said) is None

    def _in(self, command: Command) -> tuple[str, ...]:
        """Where a command may run. The first is where the agent works: project settings are found by it."""
        return tuple(dict.fromkeys((*self._folders, *command.folders)))

    def _of_word(self, word: Word, folders: tuple[str, ...], *, deep: bool) -> set[Kind]:
        """What Places says of a word, asked once: links are looked up on disk."""
        key = (word, deep, folders)
        if key not in self._known:
            self._known[key] = self._places.of_word(word, folders, deep=deep)
        return self._known[key]

    def _change(self, word: Word, folders: tuple[str, ...], *, deep: bool = False) -> None:
        self._touches |= self._of_word(word, folders, deep=deep)

    def _read_word(self, word: Word, folders: tuple[str, ...]) -> None:
        if _MAY_BE_PATH.search(word.text) or word.hidden:
            self._reads_keys |= Kind.KEYS in self._of_word(word, folders, deep=False)


def _changes(words: tuple[Word, ...]) -> bool:
    """Whether a program may change files that it is given. What a shell runs is read by itself."""
    command = Command(words=words[:_MOST_WORDS])
    if command.program in _SHELLS:
        return False
    actions = actions_of(command)
    changing = any(one.operation not in _READS for one in _on_found(actions))
    return actions.is_unknown or changing or bool(actions.scripts)


def _removes(finding: Finding) -> bool:
    """Whether a `find` removes or replaces what it finds, other than editing in it."""
    if finding.is_deleting:
        return True
    found = (actions_of(Command(words=words[:_MOST_WORDS])) for words in finding.runs)
    return any(action.operation not in _READS | _EDITS for actions in found for action in _on_found(actions))


def _on_found(actions: Actions) -> list[Action]:
    """What a program does to the files that `find` gives it; all that it does to files where no word is one of those."""
    files = [action for action in actions.actions if action.domain is Domain.FILE]
    return [action for action in files if action.target.text.startswith("{}")] or files


def _says(pattern: str) -> bool:
    """Whether a pattern for names says more than an ending: not `*`, `*.json`."""
    return re.fullmatch(r"\*(?:\.(?:\w{1,8}|\*))?", pattern.replace(STAR, "*").replace(HOLE, "*")) is None


def _is_at_or_above(path: str, place: str) -> bool:
    return place == path or place.startswith(f"{path.rstrip('/')}/")


def _texts(command: Command) -> Iterator[str]:
    return (word.text for word in command.arguments)


def _has(command: Command, letter: str, name: str) -> bool:
    """Whether an option is there, also among joined letters."""
    return any(text == name or (text[:1] == "-" and text[1:2] != "-" and letter[1] in text) for text in _texts(command))
