"""One simple command → what is in the script: itself, or what it wraps.

Owns the list of commands that is built, its limits, the builtins that change the shell, wrappers, aliases and calls of
functions. Must not know statements: a text in a command, or a function's body, is read by the class that derives from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from tallystick.catalog.loads import LOADING
from tallystick.intent.shell import wrappers
from tallystick.intent.shell.feeds import Feed, echoed, said
from tallystick.intent.shell.grammar import Node
from tallystick.intent.shell.names import canonical
from tallystick.intent.shell.scope import Place, Scope, change_folder, sources
from tallystick.model.intent import Chance
from tallystick.model.paths import placed
from tallystick.model.script import HOLE, Command, Cycle, Loop, Redirect, Role, Script, Word

_MOST_COMMANDS = 500
_MOST_CHARACTERS = 1 << 20
"""In all words together, after variables have their values."""
_MOST_WORDS = 10_000
"""Likewise: those of what a command wraps count again."""
_MOST_NESTED = 60
_MOST_CALLS = 6
_MOST_REDIRECTS = 64
_MOST_WRAPPED = 16
_MOST_SAID = 64 << 10
_MOST_SOURCED = 3
_MOST_VARIABLES = 256
_MOST_NOTED = 2000
_UNTOLD = "_UNTOLD_PART_OF_A_TEXT"
_SOURCES = ("source", ".")


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before the first command."""

    variables: Mapping[str, str]
    """Names and values that the text may use. `HOME` must be among them."""
    folder: str | None = None
    """Where the text runs, absolute; None if the agent did not say."""
    glob: Callable[[str], Sequence[str]] | None = None
    """The absolute paths that an absolute pattern names. None: no file system is looked at, a pattern stays one."""
    read_text: Callable[[str], str | None] | None = None
    """The text of a file, or None; for scripts that are run."""


class State(NamedTuple):
    """Where in the text a command stands."""

    chance: Chance = Chance.ALWAYS
    is_last: bool = True
    is_needed: bool = True
    """The text cannot have succeeded unless what is after `&&` here has run."""


_SOMEWHERE = State(Chance.MAYBE, False, False)


class Collector(ABC):
    """Collects the commands of one text and of the texts in it."""

    def __init__(self, environment: Environment) -> None:
        variables = {name: Word(value) for name, value in environment.variables.items()}
        if environment.folder is not None:
            folders = [environment.folder]
        else:
            folders = []
        if environment.folder is not None:
            variables.setdefault("PWD", Word(environment.folder))
        variables.setdefault("IFS", Word(" \t\n"))
        self.scope = Scope(variables, Place(folders, environment.folder))
        self.environment = environment
        self.state = State()
        self.commands: list[Command] = []
        self.sink: list[int] = []
        """The commands whose output goes where that of the statement goes that is being read."""
        self.opaque: dict[str, None] = {}
        self.loops: list[Loop] = []
        self.cycles: list[Cycle] = []
        self._assigned: dict[str, str] = {}
        self.nested = 0
        self.characters = 0
        self._words = 0
        self.functions: dict[str, tuple[Node, Scope]] = {}
        self._called: set[str] = set()
        self._calls: list[str] = []
        self._wrapped = 0
        self._sourced: list[str] = []
        self._aliases: dict[str, list[Word]] = {}
        self._shadowed: set[str] = set()
        self._has_own_path = False

    @abstractmethod
    def text(self, text: str, scope: Scope, feed: Feed) -> None:
        """Read a text, or one that a command of it runs."""

    @abstractmethod
    def body(self, function: Node, scope: Scope, feed: Feed) -> None:
        """Read the body of a function that is called."""

    def script(self) -> Script:
        """All that was read. A function that nothing called may be called all the same: its name may be made up."""
        outputs = tuple(self.sink)
        for name in [name for name in self.functions if name not in self._called]:
            node, scope = self.functions[name]
            scope.number((), first=1)
            self.at(_SOMEWHERE, lambda node=node, scope=scope: self.body(node, scope, Feed()))  # type: ignore[misc]
        return Script(
            commands=tuple(map(self._trusted, self.commands)),
            opaque=tuple(self.opaque),
            outputs=outputs,
            loops=tuple(self.loops),
            cycles=tuple(self.cycles),
            assigned=tuple(self._assigned.items()),
        )

    def _trusted(self, command: Command) -> Command:
        shadowed = bool(command.words) and command.words[0].text in self._shadowed
        if shadowed or self._has_own_path:
            return replace(command, trusted=False)
        return command

    # What the statements around it need ---------------------------------------------------------------------------------

    def at(self, state: State, read: Callable[[], object]) -> None:
        """Read something in another state than what surrounds it."""
        before, self.state = self.state, state
        read()
        self.state = before

    def apart(self, read: Callable[[], object]) -> tuple[int, ...]:
        """Read something whose output goes elsewhere; the commands that write it."""
        before, self.sink = self.sink, []
        read()
        found, self.sink = self.sink, before
        return tuple(found)

    def emit(self, command: Command, scope: Scope) -> int:
        """Take a command as it is; its place in the script."""
        chance, is_last, _ = self.state
        names = LOADING.intersection(scope.variables)
        found = replace(
            command,
            folders=tuple(scope.folders),
            folder=scope.place.current,
            chance=chance,
            is_last=is_last,
            variables=tuple((name, scope.variables[name]) for name in sorted(names)) if names else (),
        )
        self.commands.append(found)
        self.sink.append(len(self.commands) - 1)
        return len(self.commands) - 1

    def alone(self, command: Command, scope: Scope) -> tuple[int, ...]:
        """Take a command whose output goes elsewhere; its place in the script."""
        return self.apart(lambda: self.emit(command, scope))

    def untold(self, reason: str, scope: Scope, *, fed: str, spelled: tuple[Word, ...] = ()) -> None:
        """Something runs here that the text does not tell."""
        self.opaque[reason] = None
        self.emit(Command(words=(), role=Role.UNTOLD, reason=reason, fed=fed, spelled=spelled), scope)

    def is_enough(self) -> bool:
        """Whether what comes is left unread: a text that nests or grows without end says so, and is opaque."""
        if self.nested >= _MOST_NESTED:
            self.opaque["depth"] = None
        elif len(self.commands) >= _MOST_COMMANDS or self._is_long():
            self.opaque["size"] = None
        else:
            return False
        return True

    def _is_long(self) -> bool:
        return self.characters > _MOST_CHARACTERS or self._words > _MOST_WORDS

    def assign(self, scope: Scope, name: str, value: Word) -> None:
        """Give a variable its value. Of too many names the later ones stay unknown."""
        if name in scope.variables or len(scope.variables) < _MOST_VARIABLES:
            scope.variables[name] = value
        self.characters += len(value.text) + len(value.hidden)
        self._has_own_path |= name == "PATH"

    def note(self, name: str, value: str) -> None:
        """Take a variable that the text sets, in capitals: one that the shell or other programs look at. So are proxies."""
        if (name.isupper() or name.endswith("_proxy")) and len(self._assigned) < _MOST_VARIABLES:
            self._assigned[name] = value[:_MOST_NOTED]

    def define(self, name: str, body: Node, scope: Scope) -> None:
        """Take a function's definition: it is read when it is called."""
        if len(self.functions) < _MOST_VARIABLES:
            self.functions[name] = (body, scope.copy())
        self._shadowed.add(name)
        self._called.discard(name)

    def few(self, redirects: Sequence[Redirect]) -> tuple[Redirect, ...]:
        """Redirects of one command; that there are more than any command has is said."""
        if len(redirects) > _MOST_REDIRECTS:
            self.opaque["size"] = None
        return tuple(redirects[:_MOST_REDIRECTS])

    def grouped(self, around: Command, scope: Scope, feed: Feed, read: Callable[[Feed], None]) -> None:
        """Read several commands that redirects are around: those of `around`, which stands for them afterwards."""
        redirects = self.few(around.redirects)
        reads = tuple(redirect for redirect in redirects if not redirect.writes)
        others = tuple(redirect for redirect in redirects if redirect.writes)
        if reads:
            before = Command(words=(), role=Role.GROUP, redirects=reads, inputs=feed.inputs)
            numbers = self.alone(before, scope)
            feed = Feed(feed.text, feed.word, numbers)
        inner = self.apart(lambda: read(feed))
        self.emit(replace(around, redirects=others, inputs=inner), scope)

    # Commands -----------------------------------------------------------------------------------------------------------

    def command(self, command: Command, scope: Scope, feed: Feed) -> None:
        """Take a simple command, its words and redirects: what it wraps is read in its place."""
        words = wrappers.as_git(command.words)
        found = replace(
            command,
            words=words,
            redirects=self.few(command.redirects),
            fed=feed.text,
            inputs=feed.inputs,
            input=feed.word,
        )
        if not words:
            self.emit(replace(found, role=Role.GROUP) if command.redirects else found, scope)
            return
        if self.is_enough():
            self.emit(found, scope)
            return
        scope.variables["_"] = words[-1]
        self.characters += len(feed.text) + sum(len(word.text) + len(word.hidden) for word in words)
        self._words += len(words)
        self.nested += 1
        if not words[0].is_known:
            self.opaque["program"] = None
            self.emit(found, scope)
        else:
            self._take(found, scope, feed)
        self.nested -= 1

    def _take(self, found: Command, scope: Scope, feed: Feed) -> None:
        if self._wrapped >= _MOST_WRAPPED:
            self.untold("depth", scope, fed=said(found)[:_MOST_SAID], spelled=found.words[:_MOST_REDIRECTS])
            return
        name, arguments = canonical(found.program), found.arguments
        if found.words[0].text in self._aliases:
            self._expand(found, scope, feed)
        if found.words[0].text in self.functions:
            self._call(found, scope, feed)
        elif name in _BUILTINS:
            self.emit(found, scope)
            _BUILTINS[name](self, arguments, scope, feed)
        elif not self._is_wrapper(found, scope, feed):
            if name == "find":
                inner = wrappers.executed(arguments)
            else:
                inner = []
            if inner:
                self._find(found, inner, scope, feed)
            else:
                self.emit(found, scope)
            if name in _SOURCES and arguments and arguments[0].is_known:
                self._source(arguments, scope, feed)

    def _find(self, found: Command, inner: list[tuple[Word, ...]], scope: Scope, feed: Feed) -> None:
        """What `find -exec` runs prints where `find` prints."""

        def read(fed: Feed) -> None:
            self.emit(replace(found, redirects=()), scope)
            for words in inner:
                self.command(Command(words=words), scope, Feed())

        self._wrapped += 1
        self.grouped(Command(words=(), role=Role.GROUP, redirects=found.redirects), scope, feed, read)
        self._wrapped -= 1

    def _call(self, found: Command, scope: Scope, feed: Feed) -> None:
        name = found.words[0].text
        self._called.add(name)
        self.emit(replace(found, role=Role.CALL, redirects=()), scope)
        self.sink.pop()
        if name in self._calls or len(self._calls) >= _MOST_CALLS:
            self.untold("depth", scope, fed="", spelled=found.words)
            return
        node = self.functions[name][0]
        around = Command(words=(), role=Role.GROUP, redirects=found.redirects, is_diverted=found.is_diverted)
        with self._called_with(name, found.arguments, scope):
            self.grouped(around, scope, feed, lambda fed: self.body(node, scope, fed))

    @contextmanager
    def _called_with(self, name: str, arguments: tuple[Word, ...], scope: Scope) -> Iterator[None]:
        """Within a function or an alias the words of the call are `$1` and so on."""
        numbered = {key: word for key, word in scope.variables.items() if key.isdecimal() or key in "@*#"}
        self._calls.append(name)
        scope.number(arguments, first=1)
        yield
        for key in [key for key in scope.variables if key.isdecimal() or key in "@*#"]:
            del scope.variables[key]
        scope.variables.update(numbered)
        self._calls.pop()

    def _expand(self, found: Command, scope: Scope, feed: Feed) -> None:
        """What an alias stands for, with the words behind it; that is beside the command as it is written.

        Shells differ in whether an alias is expanded in a script, and on the line that defines it.
        """
        name = found.words[0].text
        if name in self._calls:
            return  # in its own text it is the program of that name
        if len(self._calls) >= _MOST_CALLS:
            self.untold("depth", scope, fed="", spelled=found.words)
            return
        around = Command(words=(), role=Role.GROUP, redirects=found.redirects, is_diverted=found.is_diverted)
        with self._called_with(name, found.arguments, scope):
            for text in self._aliases[name]:
                read = partial(self._expanded, text, found, scope)
                self.at(self.state._replace(chance=Chance.MAYBE), partial(self.grouped, around, scope, feed, read))

    def _expanded(self, text: Word, found: Command, scope: Scope, feed: Feed) -> None:
        if not text.is_known:
            self.command(Command(words=(text, *found.arguments)), scope, feed)
        elif found.arguments:
            self.text(f'{text.plain} "$@"', scope, feed)
        else:
            self.text(text.plain, scope, feed)

    def _source(self, arguments: tuple[Word, ...], scope: Scope, feed: Feed) -> None:
        """`source FILE` is read as if it stood here, if its text is to be had."""
        path = placed(arguments[0].plain, scope.place.current or "")
        if self.environment.read_text is None or not path.startswith("/"):
            return
        if path in self._sourced or len(self._sourced) >= _MOST_SOURCED:
            self.untold("depth", scope, fed="", spelled=arguments[:1])
            return
        text = self.environment.read_text(path)
        if text is not None:
            self._sourced.append(path)
            self.text(text, scope, feed)
            self._sourced.pop()

    def _is_wrapper(self, found: Command, scope: Scope, feed: Feed) -> bool:
        """Read what the command runs; whether there is nothing else to say of it."""
        name, arguments = canonical(found.program), found.arguments
        stream = next((each.target for each in found.redirects if not each.writes and each.target.is_stream), None)
        if stream is None:
            given = feed
        else:
            given = Feed(stream.hidden, None, stream.commands)
        inner = wrappers.unwrapped(name, arguments, given)
        text = wrappers.split_string(name, arguments) or wrappers.shell_text(name, arguments)
        if text is not None:
            self._around(found, scope, feed, lambda fed: self._inner_text(found, text, scope, fed))
        elif wrappers.reads_its_input(name, arguments):
            self._around(found, scope, feed, lambda fed: self._input_text(found, scope, fed))
        elif inner:
            within = wrappers.folder(name, arguments)
            set_here = wrappers.assigned(arguments[: len(arguments) - len(inner)])
            own = scope
            if within is not None or set_here:
                own = scope.copy()
            own.variables.update(set_here)
            if within is not None:
                change_folder("cd", (within,), own)
            fed = None
            if name == "xargs":
                fed = Feed()
            self._around(found, scope, feed, lambda given: self.command(Command(words=inner), own, fed or given))
        else:
            return False
        return True

    def _around(self, found: Command, scope: Scope, feed: Feed, read: Callable[[Feed], None]) -> None:
        around = Command(
            words=(),
            role=Role.WRAPPER,
            redirects=found.redirects,
            spelled=found.words,
            is_diverted=found.is_diverted,
        )
        self._wrapped += 1
        self.grouped(around, scope, feed, read)
        self._wrapped -= 1

    def _inner_text(self, found: Command, text: Word, scope: Scope, feed: Feed) -> None:
        name = canonical(found.program)
        if not text.is_known:
            if text is not feed.word:
                words = found.words
            else:
                words = (*found.words, text)
            self.untold("eval", scope, fed=f"{text.plain} {text.hidden}", spelled=words)
        if name in ("eval", "trap"):
            inner = scope
        else:
            inner = scope.copy()
        if not text.plain.strip():
            return
        if not text.is_known:
            inner.variables[_UNTOLD] = Word(HOLE, text.hidden, text.commands)
            text = Word(text.text.replace(HOLE, f"${{{_UNTOLD}}}"))
        given = wrappers.positional(name, found.arguments)
        if given:
            inner.number(given, first=0)
        if name == "trap":
            state = _SOMEWHERE
        else:
            state = self.state
        self.at(state, lambda: self.text(text.plain, inner, feed))

    def _input_text(self, found: Command, scope: Scope, feed: Feed) -> None:
        if feed.word is not None and not feed.word.is_known:
            self._inner_text(found, feed.word, scope, feed)
        elif feed.is_exact:
            self.text(feed.text, scope.copy(), Feed())
        elif feed.text or feed.inputs or found.arguments:
            fed = " ".join([feed.text, said(found)])
            self.opaque["pipe"] = None
            self.emit(
                Command(words=(), role=Role.UNTOLD, reason="pipe", fed=fed, spelled=found.words, inputs=feed.inputs),
                scope,
            )

    # Builtins that change the shell -------------------------------------------------------------------------------------

    def _read(self, arguments: tuple[Word, ...], scope: Scope, feed: Feed) -> None:
        names = [word.text for word in arguments if not word.text.startswith("-")]
        number = len(self.commands) - 1
        if self.sink[-1:] == [number]:
            self.sink.pop()  # it prints nothing: what it reads goes on in variables
        told = "\n"
        if feed.word is not None and feed.word.is_known and len(names) == 1:
            told = feed.word.text.strip()
        for name in names:
            self.assign(scope, name, Word(HOLE, feed.text, (number,)) if "\n" in told else Word(told))

    def _printf(self, arguments: tuple[Word, ...], scope: Scope, feed: Feed) -> None:
        if arguments[:1] and arguments[0].text == "-v" and len(arguments) > 1:
            hidden = " ".join(f"{word.text} {word.hidden}" for word in arguments[2:])
            told = None
            if all(word.is_known for word in arguments[2:]):
                told = echoed("printf", arguments[2:])
            self.assign(scope, arguments[1].text, told or Word(HOLE, hidden, sources(arguments[2:])))

    def _alias(self, arguments: tuple[Word, ...], scope: Scope, feed: Feed) -> None:
        if len(arguments) == 2 and "=" not in arguments[0].text + arguments[1].text:  # `alias NAME TEXT` of fish
            arguments = (replace(arguments[1], text=f"{arguments[0].text}={arguments[1].text}"),)
        for word in arguments:
            name, mark, text = word.text.partition("=")
            self._shadowed.add(name)
            told = self._aliases.get(name, [])
            if mark and len(told) < _MOST_CALLS and len(self._aliases) < _MOST_VARIABLES:
                self._aliases[name] = [*told, Word(text, word.hidden, word.commands)]

    def _set(self, arguments: tuple[Word, ...], scope: Scope, feed: Feed) -> None:
        is_options = bool(arguments) and arguments[0].text[:1] in ("-", "+") and arguments[0].text != "--"
        if arguments and not is_options:
            scope.number(arguments[arguments[0].text == "--" :], first=1)

    def _shift(self, arguments: tuple[Word, ...], scope: Scope, feed: Feed) -> None:
        count = 1
        if arguments and arguments[0].text.isdecimal() and len(arguments[0].text) < 3:
            count = int(arguments[0].text)
        numbered = sorted(int(key) for key in scope.variables if key.isdecimal() and 0 < len(key) < 4 and key != "0")
        words = [scope.variables.pop(str(n)) for n in numbered]
        scope.number(words[count:], first=1)


_Builtin = Callable[[Collector, tuple[Word, ...], Scope, Feed], None]


def _changes_folder(name: str) -> _Builtin:
    return lambda _, arguments, scope, feed: change_folder(name, arguments, scope)


_BUILTINS: dict[str, _Builtin] = {
    "cd": _changes_folder("cd"),
    "chdir": _changes_folder("cd"),
    "pushd": _changes_folder("pushd"),
    "popd": _changes_folder("popd"),
    "read": Collector._read,
    "mapfile": Collector._read,
    "readarray": Collector._read,
    "printf": Collector._printf,
    "alias": Collector._alias,
    "set": Collector._set,
    "shift": Collector._shift,
}
