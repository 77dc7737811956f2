"""What commands run besides themselves: scripts, code, recipes, texts that are put together first.

Owns which text is read where it is run, in which language, the bounds, and where a shell text that is too long may be
cut: between statements, as far as its lines show them. Pieces are read one by one, so that what one of them sets is not
known in the next. Must not know how a shell text becomes commands and their intents, nor how code is read: the class
that derives from it does.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from msgspec.structs import replace

from tallystick.catalog.loads import OPTIONS, Load
from tallystick.catalog.programs import programs_with
from tallystick.intent.actions import Action, Actions, Code, Read, Snippet
from tallystick.intent.shell import loads, wrappers
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.feeds import Feed
from tallystick.intent.shell.files import Files, Text, language_of, read
from tallystick.intent.shell.grammar import is_slow
from tallystick.intent.shell.holding import READS, Holding
from tallystick.intent.shell.intents import Frame, Site
from tallystick.intent.shell.names import canonical
from tallystick.intent.shell.output import NOTHING, Output
from tallystick.intent.shell.recipes import BUILD_TOOLS, recipe_of
from tallystick.intent.shell.targets import Target, is_no_file, path_of, spelled
from tallystick.model.intent import Domain, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Command, Role, Word

_MOST_PIECES = 16
_LONG = 7_000
_LONGEST = 15_000
_MOST_SIGNS = 300
_MOST_PIECE_LINES = 200
_SIGNS = pattern_of(r"[|()<>{$\[&]")
_BEGINS = pattern_of(r"[A-Za-z_./\"'$\[(]")
_GOES_ON = pattern_of(r"(?:then|do|else|elif|fi|done|esac|in)\b")
_ENDED = pattern_of(r"(?:\}|fi|done|esac|\)|;;)?\s*(?:#.*)?")


def pieces(text: str) -> tuple[list[str], bool]:
    """The pieces of a text without its comments, and whether they are all of it."""
    found: list[str] = []
    lines: list[str] = []
    size = signs = 0
    before = ""
    for line in text.split("\n"):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            before = ""
            continue
        is_over = size > _LONG or signs > _MOST_SIGNS or len(lines) > _MOST_PIECE_LINES
        if (is_over and lines and _may_begin(line, before)) or size > _LONGEST:
            found.append("\n".join(lines))
            lines, size, signs = [], 0, 0
            if len(found) >= _MOST_PIECES:
                return found, False
        lines.append(line)
        size += len(line) + 1
        signs += len(_SIGNS.findall(line))
        before = line
    return [*found, "\n".join(lines)] if lines else found, True


def _may_begin(line: str, before: str) -> bool:
    """Whether a statement may begin with a line."""
    is_begun = _BEGINS.match(line) is not None and _GOES_ON.match(line) is None
    return is_begun and (_ENDED.fullmatch(before) is not None or not before.endswith(("\\", "|", "&&", "||", "(", "{")))


MOST_INTENTS = 2000
_MOST_CODES = 100
_MOST_LINES = 300
"""Of a script that is read in one go."""
_MOST_CODE = 48 << 10
"""Characters of all code in languages other than the shell's together that are read."""
_MOST_SEEN = 512 << 10
"""The same that are looked at for what stands out."""
_INTERPRETERS = programs_with("interpreter-of-scripts")
_SCHEDULERS = frozenset({"at", "batch"})
"""They read the text that is run later from their input."""
_FROM_FILES = frozenset({"xargs", "parallel"})
_STANDS_FOR_HOLE = "\ue00f"
"""Holes in code that a language's reader gets: it takes them for a character."""


class Running(Holding):
    """Reads what commands run."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(Files(environment.read_text))
        is_readable = environment.read_text is not None
        if is_readable:
            self.environment = replace(environment, read_text=self.files.before)
        else:
            self.environment = environment
        self._snippets: list[Snippet] = []
        self._made_texts: set[str] = set()
        """Texts that were put together and run: each is read once."""
        self._loaded: set[tuple[str, str, str, str | None]] = set()
        self._values: set[str] = set()
        self._codes = 0
        self._code_size = 0

    @abstractmethod
    def _shell_text(self, text: str, environment: Environment, parameters: tuple[Word, ...], frame: Frame) -> None:
        """Make the intents of a shell text."""

    @abstractmethod
    def _read(self, language: str, text: str, *, is_whole: bool) -> Read:
        """Read code in another language: the whole of it, or only what stands out."""

    def _made(self, site: Site, words: Iterable[Word], interpreter: str) -> None:
        """Read a text that commands before it print, or that files hold, where it is run."""
        for word in words:
            for n in word.commands:
                self._text(site, site.told[n].held if n < len(site.told) else None, interpreter)

    def _text(self, site: Site, text: Text, interpreter: str) -> bool:
        """Read a text where it is run; whether it could be had."""
        known = None
        if self.environment.read_text is not None:
            known = read(text)
        language = None
        if known is not None:
            language = language_of(known, "", interpreter)
        if known is None or language is None or "\0" in known:
            return False
        if known not in self._made_texts and len(self.files.open) < 4:
            self._made_texts.add(known)
            self.files.open.append("")
            self._language(site, language, known, ())
            self.files.open.pop()
        return True

    def _wrapper(self, site: Site) -> None:
        if site.command.spelled:
            words = site.command.spelled
            name = canonical(Command(words=words).program)
            self._around(site, name, words[1:])
            self._loads(site, name, words[1:])
            if name in _FROM_FILES:
                self._lines(site, words[1:])

    def _lines(self, site: Site, arguments: tuple[Word, ...]) -> None:
        """`xargs -a FILE sh -c {}`, `parallel :::: FILE`: the lines of a file are run, where a shell gets them."""
        runs = site.command.inputs
        if not runs or any(_is_made(site.commands, n) for n in runs):
            named = [file for flag, file in pairwise(arguments) if flag.text in ("-a", "--arg-file", "::::")]
            for word in named:
                self._text(site, self._held(site, word), "sh")
            if not named:
                self._text(site, site.fed.held, "sh")

    def _around(self, site: Site, name: str, arguments: tuple[Word, ...]) -> None:
        """What a wrapper does besides running something."""
        first = site.command.words or site.command.spelled
        if wrappers.elevates(name):
            elevation = Action(domain=Domain.PRIVILEGE, operation=Operation.ELEVATE, target=first[0])
            self.add(site, elevation, Target(name))
        for operation, word in wrappers.touched(name, arguments):
            target = path_of(word, site.command.folder)
            if not is_no_file(target.text):
                touched = Action(domain=Domain.FILE, operation=operation, target=word)
                self.add(site, touched, Target(target.text, target.is_known))

    def _untold(self, site: Site) -> Output:
        command = site.command
        words = command.spelled
        said = " ".join(spelled(words))[:200]
        if command.reason == "pipe" and self._piped(site, canonical(Command(words=words).program), words):
            return NOTHING
        self._made(site, words if command.reason == "eval" else [word for word in words if word.is_stream], "sh")
        self.opaque[command.reason] = None
        node = self.missing(site, f"{command.reason}: {said}".rstrip(": \n"), words)
        self.plumbing.connect(site.into, node)
        self._pour(site, words, node)
        self.plumbing.connect(node, site.out)
        return NOTHING

    def _pour(self, site: Site, words: Sequence[Word], node: int) -> None:
        """Connect what is in words as the output of commands, or what they name as a pipe, with where it goes."""
        for word in words:
            for n in word.commands:
                if n < len(site.outs):
                    self.plumbing.connect(site.outs[n], node)

    def _piped(self, site: Site, interpreter: str, words: tuple[Word, ...]) -> bool:
        """Read the files that reach an interpreter's input as they are; whether that is all that reaches it."""
        found = [self.found[n] for n in sorted(self.plumbing.before(site.into))]
        is_file = all(intent.domain is Domain.FILE and intent.is_known for intent in found)
        if not found or not is_file or not all(_is_plain(site.commands, n) for n in site.command.inputs):
            self._text(site, site.fed.held, interpreter)
            return False
        for intent in found:
            word = Word(intent.target)
            executed = Action(domain=Domain.FILE, operation=Operation.EXECUTE, target=word, words=words[:1])
            self.add(site, executed, Target(intent.target))
            self._script_file(site, word, "sh" if interpreter in ("source", ".") else interpreter, ())
        return True

    def _run(self, site: Site, name: str, command: Command, actions: Actions) -> None:
        """Code, scripts and recipes that a program runs."""
        for code in actions.codes:
            self._code(site, code)
        for word in actions.scripts:
            if word in command.words:
                after = command.words.index(word) + 1
            else:
                after = len(command.words)
            if name not in ("source", ".") or not self._is_read(word, command.folder):
                self._script_file(site, word, name, command.words[after:])
        if name in ("deno", "bun"):
            own = command.arguments[1:]
        else:
            own = command.arguments
        is_bare = not actions.codes and not actions.scripts and all(word.text[:1] == "-" for word in own)
        is_fed = name in _INTERPRETERS and is_bare and bool(self.plumbing.before(site.into))
        if is_fed and not actions.actions and not self._piped(site, name, command.words):
            self.opaque["pipe"] = None
            self.plumbing.connect(site.into, self.missing(site, f"pipe: {name}", command.words))
        is_list = name == "parallel" and not wrappers.unwrapped(name, command.arguments, Feed())
        if (name in _SCHEDULERS or is_list) and self.plumbing.before(site.into):
            self._scheduled(site, name, command)
        for action in actions.actions:
            if (
                action.operation is Operation.EXECUTE
                and action.target.is_stream
                and action.target not in actions.scripts
            ):
                self._pour(site, (action.target,), self.missing(site, f"script: {name}", (action.target,)))

    # What is loaded though it is no operand ------------------------------------------------------------------------------

    def _loads(self, site: Site, name: str, words: tuple[Word, ...]) -> None:
        """What variables and options make a program load is read as if it were run; each once."""
        if not site.command.variables and name not in OPTIONS:
            return
        for load, word in loads.loaded_by(name, words, site.command.variables):
            key = (load.as_, load.of, word.text, site.command.folder if name else None)
            if key not in self._loaded and (name or word.text not in self._values):
                self._values.add(word.text)
                self._loaded.add(key)
                _LOADERS.get(load.as_, Running._load_file)(self, site, load, word)

    def _load_command(self, site: Site, load: Load, word: Word) -> None:
        text = word.text.lstrip("|-")
        if " " in text.strip() or "/" in text or not word.is_known:
            self._code(site, Code("sh", replace(word, text=text)))

    def _load_library(self, site: Site, load: Load, word: Word) -> None:
        for part in word.text.replace(" ", ":").partition("=")[0].split(":"):
            if "/" in part:
                library = replace(word, text=part)
                self._action(site, Action(domain=Domain.FILE, operation=Operation.EXECUTE, target=library))

    def _load_places(self, site: Site, load: Load, word: Word) -> None:
        """The files of a module or in folders, those that are there; a path that is written out where none is looked up."""
        inline = loads.inline_code(word.text)
        if inline is not None:
            self._code(site, Code(load.of, replace(word, text=inline)))
            return
        folder = site.command.folder or "/"
        places = list(loads.places_of(load, word, site.command.variables, folder)) if word.is_known else []
        if self.environment.read_text is None:
            places = places[:1] if "/" in word.text and load.as_ == "module" else []
        found = [path for path in places if self.environment.read_text is None or self.files.text(path) is not None]
        for path in found if load.as_ == "folders" else found[:1]:
            self._load_file(site, replace(load, as_=load.of), Word(path))

    def _load_settings(self, site: Site, load: Load, word: Word) -> None:
        text = word.plain
        if load.as_ == "settings":
            self._action(site, Action(domain=Domain.FILE, operation=Operation.EXECUTE, target=word))
            text = read(self._held(site, word)) or ""
        for command in loads.commands_in(load, text):
            self._load_command(site, load, replace(word, text=command))

    def _load_file(self, site: Site, load: Load, word: Word) -> None:
        is_there = self.environment.read_text is None or read(self._held(site, word)) is not None
        if load.names or (is_there and (self.environment.read_text is not None or "/" in word.text)):
            self._action(site, Action(domain=Domain.FILE, operation=Operation.EXECUTE, target=word))
            self._script_file(site, word, load.as_, ())

    def _scheduled(self, site: Site, name: str, command: Command) -> None:
        """What `at` is given on its input runs later, as a text of the shell."""
        if site.fed.text is not None:
            self._inner(site, site.fed.text, replace(self.environment, folder=site.command.folder), ())
        else:
            self.opaque["pipe"] = None
            self.plumbing.connect(site.into, self.missing(site, f"pipe: {name}", command.words))

    def _is_read(self, word: Word, folder: str | None) -> bool:
        """Whether the text that `source` runs stands among the commands already."""
        path = path_of(word, folder)
        is_there = self.environment.read_text is not None and self.files.before(path.text) is not None
        return path.is_known and is_there and not self.files.is_changed(path.text)

    def _recipe(self, site: Site, name: str, command: Command) -> bool:
        """Read what a build tool runs for a target; whether that is known."""
        if name not in BUILD_TOOLS or command.folder is None:
            return False
        words = [word.plain for word in command.arguments]
        recipe = recipe_of(name, words, command.folder, self._given(site, command.folder))
        if recipe is None:
            return False
        key = f"{recipe.file}: {recipe.target}"
        if not self.files.may_open(key):
            self.missing(site, f"depth: {key}", site.command.words)
            return True
        self.files.open.append(key)
        for text in recipe.texts:
            self._inner(site, text, replace(self.environment, folder=recipe.folder), ())
        self.files.open.pop()
        return True

    def _given(self, site: Site, folder: str) -> Callable[[str], str | None]:
        """The texts of files, the standard input among them: `make -f -`."""
        names = frozenset((f"{folder.rstrip('/')}/-", "/dev/stdin"))
        fed = None
        if site.command.input is not None:
            fed = site.command.input.plain
        return lambda path: (fed or read(site.fed.held)) if path in names else self.files.text(path)

    def _script_file(self, site: Site, word: Word, interpreter: str, arguments: tuple[Word, ...]) -> None:
        """Read a script where it is run."""
        if word.is_stream:
            if not self._text(site, self._held(site, word), interpreter):
                self._pour(site, (word,), self.missing(site, f"script: {interpreter}", (word,)))
            return
        target = path_of(word, site.command.folder)
        files = self.files
        text = None
        if target.is_known:
            text = files.text(target.text)
        if (
            text is not None
            and "/" in interpreter
            and word.text == interpreter
            and language_of(text, target.text, "") is None
        ):
            interpreter = "sh"  # a shell runs a text itself that the system cannot
        language = None
        if text is not None:
            language = language_of(text, target.text, interpreter)
        if text is None or language is None or "\0" in text:
            self.missing(site, f"script: {target.text}", (word,))
        elif not files.may_open(target.text):
            self.opaque["depth"] = None
            self.missing(site, f"depth: {target.text}", (word,))
        else:
            files.open.append(target.text)
            self._language(site, language, text, (word, *arguments))
            files.open.pop()

    def _code(self, site: Site, code: Code) -> None:
        if not code.text.is_known and (code.language == "sh" or not code.text.plain.strip()):
            what = "eval"
            if code.language != "sh":
                what = f"code: {code.language}"
            node = self.missing(site, f"{what}: {code.text.plain[:200]}".rstrip(": \n"), (code.text,))
            self._pour(site, (code.text,), node)
            self._made(site, (code.text,), code.language)
            self.plumbing.connect(node, site.out)
            return
        if code.text.is_known:
            text = code.text.plain
        else:
            text = code.text.text.replace(HOLE, _STANDS_FOR_HOLE)
        self._language(site, code.language, text, ())

    def _language(self, site: Site, language: str, text: str, parameters: tuple[Word, ...]) -> None:
        """Read code where it is run."""
        self._codes += 1
        if language != "sh":
            self._code_size += len(text)
        if self._codes > _MOST_CODES or self._code_size > _MOST_SEEN:
            self.opaque["size"] = None
            self.missing(site, f"size: {language}", ())
        elif language == "sh" and self.files.open and (is_slow(text) or text.count("\n") > _MOST_LINES):
            self._in_pieces(site, text, parameters)
        elif language == "sh":
            self._inner(site, text, replace(self.environment, folder=site.command.folder), parameters)
        else:
            file = ""
            if self.files.open:
                file = self.files.open[-1]
            is_read = self._code_size <= _MOST_CODE
            read = self._read(language, text, is_whole=is_read)
            if file.startswith("/"):
                where = file
            else:
                where = ""
            is_told = is_read and not read.is_unknown and not any(map(_is_untold, read.actions))
            self._snippets.append(Snippet(language, text, where, site.command.folder, is_told))
            for action in read.actions[:MOST_INTENTS]:
                self._action(site, _with_holes(action))
            for code in read.codes:
                self._code(site, code)
            if read.is_unknown:
                self.missing(site, f"code: {language}", ())

    def _in_pieces(self, site: Site, text: str, parameters: tuple[Word, ...]) -> None:
        """Read a long script piece by piece."""
        found, is_whole = pieces(text)
        for piece in found:
            self._inner(site, piece, replace(self.environment, folder=site.command.folder), parameters)
        self.missing(site, "size: sh", ())
        if not is_whole:
            self.opaque["size"] = None

    def _inner(self, site: Site, text: str, environment: Environment, parameters: tuple[Word, ...]) -> None:
        chance, is_last = self.state(site)
        frame = Frame(site.into, site.out, site.number, chance, is_last)
        if len(self.found) < MOST_INTENTS:
            self._shell_text(text, environment, parameters, frame)


def _is_plain(commands: tuple[Command, ...], number: int) -> bool:
    """Whether a command passes files on as they are."""
    command = commands[number]
    if command.role is Role.PROGRAM and canonical(program_name(command)) != "cat":
        return False
    return command.role is not Role.UNTOLD and all(_is_plain(commands, n) for n in command.inputs)


def _is_made(commands: tuple[Command, ...], number: int) -> bool:
    """Whether a command runs a text that it is given as an argument."""
    command = commands[number]
    if command.role is Role.WRAPPER:
        return any(_is_made(commands, n) for n in command.inputs)
    return command.role is Role.UNTOLD and command.reason == "eval"


def program_name(command: Command) -> str:
    """The name of a command's program, whether or not a bare name is the system's program."""
    return (command if command.trusted else replace(command, trusted=True)).program


def _is_untold(action: Action) -> bool:
    """Whether something is done to a file that is unknown."""
    text = action.target.text
    return action.domain is Domain.FILE and action.operation not in READS and (HOLE in text or _STANDS_FOR_HOLE in text)


def _with_holes(action: Action) -> Action:
    if _STANDS_FOR_HOLE not in action.target.text:
        return action
    return replace(action, target=Word(action.target.text.replace(_STANDS_FOR_HOLE, HOLE)))


_LOADERS: dict[str, Callable[[Running, Site, Load, Word], None]] = {
    "command": Running._load_command,
    "library": Running._load_library,
    "module": Running._load_places,
    "folders": Running._load_places,
    "settings": Running._load_settings,
    "setting": Running._load_settings,
}
