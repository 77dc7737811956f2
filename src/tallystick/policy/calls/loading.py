"""What runs because a call runs, though the call does not name it: hooks, tests, modules, tasks, configurations in code.

Owns following those from file to file, within bounds, and remembering what a text does, by its digest. Must not know where
such files lie (`launching`, `imports`), nor what matters of what they do. Files of installed libraries are not read.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from ahocorasick_rs import AhoCorasick
from msgspec.structs import replace

from tallystick.catalog.agents import dotfiles, folder_names
from tallystick.catalog.loading import load
from tallystick.catalog.loads import LANGUAGES
from tallystick.intent.actions import Reading, Snippet
from tallystick.intent.code.notebooks import cells
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import read_effects, read_file_effects
from tallystick.intent.shell.files import language_of
from tallystick.intent.shell.loads import command_of, git_settings
from tallystick.intent.shell.names import canonical
from tallystick.intent.shell.recipes import package_scripts
from tallystick.intent.shell.tasks import shell_of_makefile, task_texts
from tallystick.model.intent import Domain, Effects, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Command, Role
from tallystick.policy.calls import launching
from tallystick.policy.calls.high_impact import grave
from tallystick.policy.calls.launching import imported
from tallystick.policy.calls.reading import Module
from tallystick.policy.settings import Settings
from tallystick.policy.world import Content, Files

_MOST_FILES = 32
_MOST_CHARACTERS = 400 << 10
_MOST_NEW = 96 << 10
"""Characters of modules that are read for the first time, in one call."""
_MOST_COMMANDS = 100
_MOST_FOLDERS_UP = 12
_MOST_NAMES = 200
_DEEPEST = 4
_MOST_KNOWN = 1024
_COMPILED = frozenset(
    (".c", ".cc", ".cpp", ".cxx", ".m", ".rs", ".go", ".zig", ".swift", ".nim", ".hs", ".cr", ".d", ".kt")
)
_LIBRARIES = pattern_of(
    r"/(?:node_modules|site-packages|dist-packages|\.venv|venv|\.tox|\.nox|vendor/bundle|lib/python[\d.]+)/"
)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_WITH_CONTEXT = frozenset(("tasks.py", "fabfile.py", "noxfile.py", "dodo.py", "SConstruct", "wscript"))
"""Python whose functions are given what runs commands: `c.run("…")`."""
_OF_AGENTS = (
    *(f"{name}{end}" for name in sorted(folder_names()) for end in ("/", "\\", '"', "'")),
    *dotfiles(),
)
_TELLING = AhoCorasick([*load("telling/code", dict[str, tuple[str, ...]])["words"], *_OF_AGENTS])
"""What a text must have for it to do anything that matters: most modules and tests have none of it."""


class Loads(msgspec.Struct, frozen=True):
    """What runs because a call runs."""

    readings: tuple[Reading, ...] = ()
    """Hooks, tasks and files that are run by their name, and of modules what is grave: as if the call said it."""
    modules: tuple[Module, ...] = ()


def loaded(readings: Sequence[Reading], files: Files, environment: Environment, asked: frozenset[str]) -> Loads:
    """What the files do that run because of what was read.

    Args:
        asked: the files that were read already.
    """
    loader = _Loader(files, environment, asked)
    loader.follow(readings)
    return Loads((*loader.found, *loader.grave), tuple(loader.modules))


class _Known(msgspec.Struct, frozen=True):
    """What is remembered of one module."""

    imports: tuple[tuple[str, ...], ...]
    is_read: bool
    reading: Reading | None = None
    """None: nothing in it matters, or it was not read."""
    grave: tuple[Intent, ...] = ()


class _Loader:
    """Follows what one call loads."""

    def __init__(self, files: Files, environment: Environment, asked: frozenset[str]) -> None:
        self._files = files
        self._environment = environment
        self._home = environment.variables.get("HOME", "")
        self._seen = set(asked)
        self._count = 0
        self._left = _MOST_CHARACTERS
        self._new = _MOST_NEW
        self._names: dict[str, frozenset[str] | None] = {}
        self._waiting: list[tuple[tuple[str, ...], str, str]] = []
        """Modules that are imported: where each may lie, where it runs, its language."""
        self.found: list[Reading] = []
        self.grave: list[Reading] = []
        self.modules: list[Module] = []

    def follow(self, readings: Sequence[Reading]) -> None:
        """Read what the readings load, then what that loads."""
        for _ in range(_DEEPEST):
            before = len(self.found)
            for reading in readings:
                self._commands(reading)
                self._executed(reading)
                self._given(reading)
                for snippet in reading.snippets:
                    self._imports(snippet)
            waiting, self._waiting = self._waiting, []
            for candidates, folder, language in dict.fromkeys(waiting):
                if self._count < _MOST_FILES:
                    self._first(candidates, folder, language)
            readings = self.found[before:]
            if not readings and not self._waiting:
                return

    # What a command runs ------------------------------------------------------------------------------------------------

    def _commands(self, reading: Reading) -> None:
        for command in [command for script in reading.scripts for command in script.commands][:_MOST_COMMANDS]:
            if command.folder is not None and (command.words or command.role is Role.WRAPPER):
                self._whole(command, command.folder)
            if command.role is Role.PROGRAM and command.words and command.folder is not None:
                self._command(command, command.folder)

    def _whole(self, command: Command, folder: str) -> None:
        words = [word.plain for word in (command.words or command.spelled)[:40]]
        is_compose = any("compose" in word for word in words[:2])
        for path in self._matching(launching.as_a_whole(command)):
            if not is_compose:
                self._file(path, folder, words)
            elif not self._files.tracking(path).is_committed and (content := self._content(path)) is not None:
                for text in task_texts("compose.yaml", content.text, ()) or ():
                    self._text(text, folder, path)

    def _command(self, command: Command, folder: str) -> None:
        for path in self._matching(launching.launched(command)):
            self._module(path, folder)
        hooks = launching.hooks(command)
        if hooks is not None:
            self._git(*hooks)
        package = launching.lifecycle(command)
        if package is not None:
            self._package(*package)
        if canonical(command.program) in ("make", "gmake", "bmake"):
            self._makefile(folder)

    def _matching(self, patterns: Iterable[str]) -> Iterator[str]:
        for pattern in patterns:
            if "*" in pattern:
                paths = self._files.matches(pattern)
            else:
                paths = (pattern,)
            yield from sorted(paths)[:_MOST_FILES]

    def _git(self, folder: str, verbs: tuple[str, ...]) -> None:
        root = self._repository(folder)
        config = None
        if root is not None:
            config = self._files.content(f"{root}/.git/config")
        if root is None or not isinstance(config, Content):
            return
        settings = [(name, value) for name, value in git_settings(config.text) if not _is_other_alias(name, verbs[0])]
        place = next((value for name, value in settings if name == "core.hookspath"), None)
        if place:
            own = posixpath.join(root, place.replace("~", self._home, 1))
        else:
            own = f"{root}/.git/hooks"
        own = posixpath.normpath(own)
        # husky's own folder is called `_`, and its scripts call those beside it.
        folders = (own, posixpath.dirname(own)) if posixpath.basename(own) == "_" else (own,)
        for name in verbs[1:]:
            for place in folders:
                self._file(posixpath.join(place, name), root, (), language="sh")
        for text in filter(None, (command_of("git", name, value) for name, value in settings)):
            self._text(text, root)

    def _repository(self, folder: str) -> str | None:
        for _ in range(_MOST_FOLDERS_UP):
            if isinstance(self._files.content(f"{folder}/.git/HEAD"), Content):
                return folder
            if folder in ("/", self._home):
                return None
            folder = posixpath.dirname(folder)
        return None

    def _package(self, path: str, names: tuple[str, ...]) -> None:
        content = self._files.content(path)
        if isinstance(content, Content):
            scripts = package_scripts(content.text)
        else:
            scripts = {}
        for name in names:
            if name in scripts:
                self._text(scripts[name], posixpath.dirname(path), path)

    def _makefile(self, folder: str) -> None:
        for name in _MAKEFILES:
            content = self._files.content(f"{folder}/{name}")
            if isinstance(content, Content):
                for text in shell_of_makefile(content.text):
                    self._text(text, folder, f"{folder}/{name}")
                return

    # Files that are run by their name -----------------------------------------------------------------------------------

    def _executed(self, reading: Reading) -> None:
        """Files that a command runs and that were not read when it was: their program decides what in them runs."""
        commands = [command for script in reading.scripts[:1] for command in script.commands]
        program = ""
        for intent in reading.effects.intents:
            if intent.operation is Operation.RUN:
                program = canonical(intent.target)
            is_file = intent.operation is Operation.EXECUTE and intent.domain is Domain.FILE and intent.is_known
            if not is_file or intent.is_pattern or intent.is_deep or not intent.target.startswith("/"):
                continue
            command = None
            if intent.command < len(commands):
                command = commands[intent.command]
            self._compiled(reading, intent.target)
            folder = (command.folder if command is not None else None) or self._environment.folder or "/"
            if launching.is_test_runner(program):
                self._module(intent.target, folder)
            else:
                if command is not None:
                    words = [word.plain for word in command.words[:40]]
                else:
                    words = []
                self._file(intent.target, folder, words)

    def _compiled(self, reading: Reading, path: str) -> None:
        """The sources of a program that the call itself makes before it runs it."""
        intents = reading.effects.intents
        for flow in reading.effects.flows:
            source = intents[flow.source]
            is_source = source.operation is Operation.READ and source.is_known and source.domain is Domain.FILE
            if intents[flow.target].target == path and is_source and posixpath.splitext(source.target)[1] in _COMPILED:
                self._module(source.target, posixpath.dirname(source.target), "other")

    def _given(self, reading: Reading) -> None:
        """Files whose names are given to a shell: `ls *.sh | xargs sh`."""
        commands = [command for script in reading.scripts for command in script.commands]
        shells = [
            each for each in commands if each.role is Role.UNTOLD and each.reason == "pipe" and len(each.spelled) > 1
        ]
        if not shells or not any(HOLE in word.text for word in shells[0].spelled[1:]):
            return
        for intent in reading.effects.intents:
            is_file = intent.domain is Domain.FILE and intent.is_known and not intent.is_pattern and not intent.is_deep
            if is_file and intent.operation is Operation.LIST and intent.target.startswith("/"):
                self._file(intent.target, self._environment.folder or "/", [shells[0].spelled[0].plain])

    def _file(self, path: str, folder: str, words: Sequence[str], *, language: str | None = None) -> None:
        """Read a file that is run as a whole."""
        content = self._content(path)
        if content is None:
            return
        if path.endswith(".ipynb"):
            for cell_language, text in cells(content.text):
                self._text(text, folder, path, cell_language)
            return
        tasks = task_texts(posixpath.basename(path), content.text, words)
        if tasks is not None:
            for text in tasks:
                self._text(text, folder, path)
            return
        program = ""
        if words:
            program = words[0].rpartition("/")[2]
        name = LANGUAGES.get(posixpath.basename(path)) or language or language_of(content.text, path, program)
        if name is not None and "\0" not in content.text:
            self._text(content.text, folder, path, name)
            if posixpath.basename(path) in _WITH_CONTEXT:
                self._text(content.text, folder, path, "other")

    def _text(self, text: str, folder: str, path: str = "", language: str = "sh") -> None:
        environment = replace(self._environment, folder=folder)
        if path:
            reading = read_file_effects(path, text, language, environment)
        else:
            reading = read_effects(text, environment)
        self.found.append(reading)

    def _content(self, path: str) -> Content | None:
        """What a file holds that was not read yet, within the bounds."""
        if path in self._seen or self._count >= _MOST_FILES or self._left <= 0 or _LIBRARIES.search(path):
            return None
        content = self._files.content(path)
        if not isinstance(content, Content):
            return None
        self._seen.add(path)
        self._count += 1
        self._left -= len(content.text)
        return content

    # Modules ------------------------------------------------------------------------------------------------------------

    def _imports(self, snippet: Snippet) -> None:
        if not snippet.file or _LIBRARIES.search(snippet.file) is None:
            folder = snippet.folder or self._environment.folder or "/"
            own = None
            if snippet.file:
                own = posixpath.dirname(snippet.file)
            found = imported(snippet.language, snippet.text, self._places(folder, own), own)
            self._waiting += [(candidates, folder, snippet.language) for candidates in found]

    def _places(self, folder: str, own: str | None) -> tuple[str, ...]:
        """Where modules are looked for."""
        given = self._environment.variables.get("PYTHONPATH", "").split(":")
        places = (own, folder, f"{folder}/src", *(path for path in given if path.startswith("/")))
        return tuple(dict.fromkeys(place for place in places if place))

    def _first(self, candidates: tuple[str, ...], folder: str, language: str) -> None:
        """Read the first of some files that is there."""
        for path in candidates:
            if path in self._seen or (self._is_there(path) and self._module(path, folder, language)):
                return

    def _is_there(self, path: str) -> bool:
        """Whether a file may be at a path, by the names in its folder."""
        folder, _, name = path.rpartition("/")
        if folder not in self._names:
            self._names[folder] = self._listed(folder)
        names = self._names[folder]
        return names is None or name in names

    def _listed(self, folder: str) -> frozenset[str] | None:
        """The names in a folder; None for too many."""
        above, _, name = folder.rpartition("/")
        around = self._names.get(above)
        if around is not None and name not in around:
            return frozenset()
        found = self._files.matches(f"{folder}/*")
        if len(found) >= _MOST_NAMES:
            return None
        return frozenset(path.rpartition("/")[2] for path in found)

    def _module(self, path: str, folder: str, language: str | None = None) -> bool:
        """Read a module, for what is grave in it; whether it is there. What is committed as it is was seen by a person."""
        content = self._content(path)
        if content is not None:
            language = language_of(content.text, path, "") or language
        else:
            language = None
        if content is None or language is None or "\0" in content.text:
            return content is not None
        key = (content.digest, hash(content.text), path, language, folder, self._home)
        known = _remembered.get(key)
        if known is None:
            own = posixpath.dirname(path)
            imports = tuple(imported(language, content.text, self._places(folder, own), own))
            known = _remember(key, _Known(imports, is_read=not may_matter(content.text, language)))
        is_seen = (not known.is_read or known.reading is not None) and self._files.tracking(path).is_committed
        if not known.is_read and not is_seen and self._new > 0:
            self._new -= len(content.text)
            reading, found = self._read(content.text, path, language, folder)
            known = _remember(key, _Known(known.imports, is_read=True, reading=reading, grave=found))
        self._waiting += [(candidates, folder, language) for candidates in known.imports]
        if known.reading is not None and not is_seen:
            self.modules.append(Module(path, content.digest, known.reading))
            self.grave.append(Reading(Effects(intents=known.grave)))
        return True

    def _read(self, text: str, path: str, language: str, folder: str) -> tuple[Reading, tuple[Intent, ...]]:
        environment = replace(self._environment, folder=folder, read_text=None, glob=None)
        reading = read_file_effects(path, text, language, environment)
        found = [each for each in reading.effects.intents if grave(each, _SETTINGS, home=self._home, workspace=folder)]
        return reading, tuple(found)


def _is_other_alias(name: str, verb: str) -> bool:
    return name.startswith("alias.") and name != f"alias.{verb.lower()}"


def may_matter(text: str, language: str) -> bool:
    """Whether there is anything in a text that could make it more than an ordinary module. It is quick."""
    is_command = language not in ("python", "javascript") and "`" in text
    return language in ("sh", "tasks") or is_command or bool(_TELLING.find_matches_as_indexes(text.lower()))


_SETTINGS = Settings()
_Key = tuple[str, int, str, str, str, str]
_remembered: dict[_Key, _Known] = {}
"""What files of code do. One is read once as long as it is the same."""


def _remember(key: _Key, known: _Known) -> _Known:
    if len(_remembered) >= _MOST_KNOWN:
        _remembered.clear()
    _remembered[key] = known
    return known
