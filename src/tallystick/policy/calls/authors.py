"""Who wrote what a call runs.

Owns which of a call's files count as run by it, and whose the content is that they hold now: those that an argument
names, through copies as well; modules that code imports from beside it; files whose text is given to a shell that is
unknown what it gets. Files that it runs only to test them are known by the programs that are test runners. Must
not know how the record is kept, nor what follows from an author.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import chain, islice, pairwise

import msgspec

from tallystick.catalog.programs import programs_with
from tallystick.intent.programs.arguments import split_words
from tallystick.intent.shell.names import canonical
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.paths import placed
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command
from tallystick.policy.calls.launching import as_a_whole, hooks, imported
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.facts import FileFacts
from tallystick.policy.taint.origins import TAKES, Origins
from tallystick.policy.world import Content, FileKind, Files, Maker, Provenance, Unread, World

_RUNNERS = programs_with("runs-tests")
_WITH_VERB = programs_with("tests-by-verb")
_VERBS = frozenset(("test", "--test", "nextest"))
_FIRST_WORDS = 6
_UNTOLD = frozenset(("eval", "pipe"))
_MOST_TEXT = 64 << 10
_MOST_MODULES = 40
_MOST_READ = 20
_MOST = 200
_NAME = pattern_of(r"[A-Za-z_][\w.-]{0,200}")
_PYTHON_SUFFIXES = (".py", "/__init__.py", "/__main__.py")
_PYTHON = pattern_of(r"(?:python|pypy)[\d.]*|py|ipython")
_ELSEWHERE = programs_with("other-machine")
_SHELLS = programs_with("takes-script")
_RUNS = frozenset(("run", "exec", "execute", "--execute", "launch", "eval", "source", "load", "play", "invoke"))
_TOOL_WORDS = pattern_of(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MOST_WORDS = 200
_LONGEST = 400
_FINDERS = programs_with("finder")
_NAMES = frozenset(("-name", "-iname", "-path", "-ipath", "-wholename"))


def is_tested(reading: CallReading, position: int) -> bool:
    """Whether a file is run by a test runner, which loads all sorts of files of a project. `position`: of the intent."""
    intents = reading.effects.intents
    own = intents[position]
    for before in reversed(intents[:position]):
        if before.domain is Domain.PROCESS and before.operation is Operation.RUN:
            if before.command == own.command and canonical(before.target) in _RUNNERS:
                return True
            break
    command = _command(reading, own)
    return command is not None and _is_test(command) and own.target not in _scripts_of(command)


def _command(reading: CallReading, intent: Intent) -> Command | None:
    if not reading.scripts or intent.command >= len(reading.scripts[0].commands):
        return None
    return reading.scripts[0].commands[intent.command]


def _is_test(command: Command) -> bool:
    words = [word.plain for word in command.words[:_FIRST_WORDS]]
    if not words:
        return False
    program = canonical(words[0])
    if program in _WITH_VERB:
        return not _VERBS.isdisjoint(words[1:3])
    if program.startswith("python"):
        return "-m" in words and not _RUNNERS.isdisjoint(words[words.index("-m") + 1 :][:1])
    return any(canonical(word) in _RUNNERS for word in words[:2])


def _scripts_of(command: Command) -> tuple[str, ...]:
    """What a command is by itself, where its first word is a path."""
    if command.words:
        return (command.words[0].plain,)
    return ()


def also_run(reading: CallReading, files: Files) -> Iterator[str]:
    """Paths that may be run besides those that are named as run; most of them are not there. Absolute."""
    commands = (command for script in reading.scripts for command in script.commands[:_MOST_MODULES])
    patterns = chain(_found(reading), (pattern for command in commands for pattern in as_a_whole(command)))
    found = (path for pattern in patterns for path in files.matches(pattern)[:_MOST_READ])
    every = chain(_given_to_shells(reading), _named(reading), _of_tool(reading), _imported(reading), found)
    return islice(dict.fromkeys(every), _MOST)


def _given_to_shells(reading: CallReading) -> Iterator[str]:
    """Files whose text or name goes to something that runs it, though it is unknown what that is."""
    if _UNTOLD.isdisjoint(reading.effects.opaque) and not _is_fed_elsewhere(reading):
        return
    named = (
        intent
        for intent in reading.effects.intents
        if intent.domain is Domain.FILE and (intent.operation in TAKES or intent.operation is Operation.LIST)
    )
    for number, intent in enumerate(named):
        if number >= _MOST_READ:
            return
        if intent.is_known and not intent.is_deep and not intent.is_pattern and intent.target.startswith("/"):
            yield intent.target


def _is_fed_elsewhere(reading: CallReading) -> bool:
    """Whether a shell of another machine or of a container is given a text: `ssh host bash < x.sh`."""
    for script in reading.scripts:
        for command in script.commands[:_MOST_MODULES]:
            words = [word.plain for word in command.words[:_MOST_READ]]
            if words and canonical(words[0]) in _ELSEWHERE:
                inner = {part.rpartition("/")[2] for word in words[1:] for part in split_words(word)[:_MOST_READ]}
                if not _SHELLS.isdisjoint(inner):
                    return True
    return False


def _named(reading: CallReading) -> Iterator[str]:
    """What commands run by a verb, or a module's name: `python -m a`, `jupyter execute n.ipynb`."""
    for script in reading.scripts:
        for command in script.commands[:_MOST_MODULES]:
            words = [word.plain for word in command.words[:_MOST_WORDS]]
            if len(words) < 2 or command.folder is None:
                continue
            program = canonical(words[0])
            if not _RUNS.isdisjoint(words[1 : _FIRST_WORDS + 1]):
                inner = (part for word in words[1:] for part in split_words(word)[:_MOST_READ])
                yield from _placed(inner, command.folder)
            if _PYTHON.fullmatch(program) and "-m" in words[:-1]:
                name = words[words.index("-m") + 1]
                place = posixpath.join(command.folder, name.replace(".", "/"))
                yield from (place + suffix for suffix in _PYTHON_SUFFIXES if _NAME.fullmatch(name))
            found = hooks(command)
            if found is not None:
                yield from (f"{found[0]}/.git/hooks/{hook}" for hook in found[1][1:])


def _placed(words: Iterable[str], folder: str | None) -> Iterator[str]:
    """Words that look like paths, absolute."""
    for word in words:
        path = word.partition("=")[2] or word
        if folder is not None and ("/" in path or "." in path) and "://" not in path and len(path) < _LONGEST:
            yield placed(path, folder)


def _of_tool(reading: CallReading) -> Iterator[str]:
    """Files that are given to a tool whose name says that it runs something."""
    uses = reading.uses
    if uses.commands or uses.programs or uses.codes:
        return
    name = reading.call.tool[:_LONGEST]
    if not _RUNS.isdisjoint(word.lower() for word in _TOOL_WORDS.findall(name)):
        yield from (
            one.target for one in uses.intents[:_MOST_READ] if one.domain is Domain.FILE and one.target[:1] == "/"
        )


def _imported(reading: CallReading) -> Iterator[str]:
    """Modules beside the code that runs which it imports."""
    beside = [
        posixpath.dirname(intent.target)
        for intent in reading.effects.intents
        if intent.operation is Operation.EXECUTE and intent.is_known and intent.target.startswith("/")
    ][:_MOST_READ]
    folders = tuple(dict.fromkeys([*beside, *([reading.folder] if reading.folder is not None else [])]))
    for snippet in reading.snippets[:_MOST_MODULES]:
        for candidates in imported(
            snippet.language, snippet.text[:_MOST_TEXT], folders, folders[0] if beside else None
        ):
            yield from candidates


def _found(reading: CallReading) -> Iterator[str]:
    """Patterns of what `find … -exec sh {}` and similar may run."""
    if _UNTOLD.isdisjoint(reading.effects.opaque):
        return
    for script in reading.scripts:
        for command in script.commands[:_MOST_MODULES]:
            words = [word.plain for word in command.words[:_MOST_READ]]
            if not words or canonical(words[0]) not in _FINDERS or command.folder is None:
                continue
            names = [after for option, after in pairwise(words) if option in _NAMES] or ["*"]
            start = placed(words[1] if words[1:2] and words[1][:1] != "-" else "", command.folder)
            for name in names[:4]:
                yield from (f"{start}/{middle}{name.rpartition('/')[2]}" for middle in ("", "*/", "*/*/"))


FOREIGN = frozenset((Maker.OTHER_SESSION, Maker.OUTSIDE))
"""Neither this session nor someone before all records."""
_MOST_ORIGINS = 8
_LARGER = frozenset((Unread.TOO_LARGE, Unread.BINARY))
"""Than any content of which the record has a digest."""
_LAYOUT = pattern_of(r"[\s\"'`;,()]+")
_PROGRAMS = ".py .js .mjs .cjs .jsx .ts .tsx .mts .go .rs .java .kt .scala .rb .php .swift .cs .c .cc .cpp .json .vue"
_FORMATTED = frozenset(_PROGRAMS.split())


def flat_digest(path: str, text: str) -> str:
    """SHA-256 of a text without what editors and formatters change by themselves: ends of lines, in a program its layout.

    Spaces, quotation marks and semicolons of a shell script are not layout.
    """
    is_program = posixpath.splitext(path)[1].lower() in _FORMATTED
    if is_program:
        flat = _LAYOUT.sub("", text)
    else:
        flat = text.replace("\r\n", "\n").strip("\ufeff\n")
    return sha256(flat.encode("utf-8", "surrogatepass")).hexdigest()


class Authors:
    """Who wrote the files that one call runs."""

    def __init__(self, reading: CallReading, world: World) -> None:
        self._reading = reading
        self._world = world
        self._origins: Origins | None = None
        self._positions: dict[int, int] | None = None

    def facts(self, file: FileFacts, intent: Intent) -> FileFacts:
        """The facts of a file that is run, with who wrote it."""
        if not intent.is_known or intent.is_pattern or intent.is_deep or not intent.target.startswith("/"):
            return file
        author, evidence = self._author(intent.target)
        if author not in FOREIGN:
            position = self._position(intent)
            if position is not None:
                author, evidence = self._of_origins(position)
        if author not in FOREIGN:
            return msgspec.structs.replace(file, author=author)
        content = self._world.content(self._world.real(intent.target))
        digest = None
        if isinstance(content, Content):
            digest = content.digest
        position = self._position(intent)
        return msgspec.structs.replace(
            file,
            author=author,
            is_tested=position is not None and is_tested(self._reading, position),
            is_approved=digest is not None and self._world.is_approved(digest),
            evidence=(*((f"content {digest}",) if digest is not None else ()), *evidence, *file.evidence),
        )

    def more(self) -> Iterator[Intent]:
        """Files that are run though the call does not name them as run, where someone else wrote them."""
        named = {one.target for one in self._reading.effects.intents if one.operation is Operation.EXECUTE}
        for path in also_run(self._reading, self._world):
            if path in named:
                continue
            if self._world.state(path).kind is FileKind.FILE and self._author(path)[0] in FOREIGN:
                yield Intent(domain=Domain.FILE, operation=Operation.EXECUTE, target=path, words=("runs", path))

    def _author(self, path: str) -> tuple[Maker, tuple[str, ...]]:
        """Who wrote what a file holds now. Where that is not what the record has, someone else changed it."""
        real = self._world.real(path)
        past = self._world.provenance(real)
        if past.author is Maker.UNKNOWN and real != path:
            past = self._world.provenance(path)
        is_own = real.startswith(f"{self._reading.home}/")  # of a temporary file the next may be there at any moment
        if is_own and past.author in FOREIGN and self._world.state(real).kind is FileKind.NOTHING:
            return Maker.UNKNOWN, ()  # it is gone, and nothing runs
        if past.author not in FOREIGN and past.digest is not None and self._is_changed(real, past):
            return Maker.OUTSIDE, (f"changed since {past.evidence[0]}" if past.evidence else "changed",)
        return past.author, past.evidence

    def _is_changed(self, path: str, past: Provenance) -> bool:
        content = self._world.content(path)
        if isinstance(content, Unread) and content in _LARGER:  # what is on record was read, so this is something else
            return True
        if not isinstance(content, Content) or content.digest == past.digest:
            return False
        return past.flat is None or flat_digest(path, content.text) != past.flat

    def _of_origins(self, position: int) -> tuple[Maker, tuple[str, ...]]:
        """Whose the files are that this call itself puts together before it runs them."""
        if self._origins is None:
            self._origins = Origins(self._reading.effects)
        for number, origin in enumerate(self._origins.of(position)):
            is_file = origin.domain is Domain.FILE and origin.is_known and origin.target.startswith("/")
            if is_file and number < _MOST_ORIGINS:
                author, evidence = self._author(origin.target)
                if author in FOREIGN:
                    return author, (f"from {origin.target}", *evidence)
        intent = self._reading.effects.intents[position]
        return self._author(intent.target)

    def _position(self, intent: Intent) -> int | None:
        if self._positions is None:
            self._positions = {id(one): k for k, one in enumerate(self._reading.effects.intents)}
        return self._positions.get(id(intent))
