"""What a program does with its options and operands, from its entry in the catalogue.

Owns Builder, which collects what one command does, and `plain`, the rule of programs that their entry describes in full.
Must not know any program by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from tallystick.catalog.programs import Options, Program, arguments_of
from tallystick.intent.actions import Action, Actions, Code
from tallystick.intent.programs.arguments import Grammar, Line, grammar, literal, names, renamed, taken
from tallystick.model.intent import Domain, Operation
from tallystick.model.script import Command, Word

Rule = Callable[[Command], Actions]
"""What a program does with the words of a command."""
Maker = Callable[[Program], Rule]
"""The rule of programs that share a form, from an entry."""
_MOST_FLOWS = 2000
NOTHING = Actions()
UNTOLD = Actions(is_unknown=True)

_DOMAINS = {
    **dict.fromkeys((Operation.FETCH, Operation.SEND, Operation.CONNECT, Operation.LISTEN), Domain.NETWORK),
    **dict.fromkeys((Operation.RUN, Operation.SIGNAL, Operation.SCHEDULE), Domain.PROCESS),
    Operation.ELEVATE: Domain.PRIVILEGE,
    Operation.UNKNOWN: Domain.UNKNOWN,
}
_SOURCES = frozenset({Operation.READ, Operation.COPY_SOURCE, Operation.FETCH})
_TARGETS = frozenset({Operation.WRITE, Operation.APPEND, Operation.COPY_DEST, Operation.EDIT, Operation.SEND})
_NOWHERE = names("/dev/null /dev/stderr /dev/tty /dev/zero /dev/full /dev/random /dev/urandom")
"""Devices that keep nothing and tell nothing."""
_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_OUTPUT = frozenset({"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})


class Builder:
    """Collects what one command does."""

    __slots__ = ("actions", "codes", "echoes", "flows", "is_unknown", "prints", "reads_input", "scripts")

    def __init__(self) -> None:
        self.actions: list[Action] = []
        self.flows: list[tuple[int, int]] = []
        self.prints: list[int] = []
        self.reads_input = False
        self.codes: list[Code] = []
        self.scripts: list[Word] = []
        self.is_unknown = False
        self.echoes = False
        """What it writes from its input goes to its output as well: `tee`."""

    def add(
        self,
        operation: Operation,
        target: Word,
        *,
        words: tuple[Word, ...] = (),
        deep: bool = False,
    ) -> int | None:
        """Take one action; its position, or None for a device that keeps nothing."""
        domain = _DOMAINS.get(operation, Domain.FILE)
        if domain is Domain.NETWORK and not target.text.isascii():
            words, target = words or (target,), literal(target)
        return self.take(Action(domain=domain, operation=operation, target=target, words=words, is_deep=deep))

    def author(self, operation: Operation, target: Word, *, words: tuple[Word, ...] = ()) -> int | None:
        """Take a file that is changed by what the command itself says."""
        return self.take(Action(domain=Domain.FILE, operation=operation, target=target, words=words, is_authored=True))

    def take(self, action: Action) -> int | None:
        """The same of an action that is made already."""
        if action.target.text in _NOWHERE:
            return None
        self.actions.append(action)
        return len(self.actions) - 1

    def read(self, word: Word, operation: Operation = Operation.READ, *, deep: bool = False) -> int | None:
        """Take a file that is read; `-` is the standard input, and no action."""
        if word.text in _INPUT:
            self.reads_input = True
            return None
        return self.add(operation, word, deep=deep)

    def write(
        self, word: Word, operation: Operation = Operation.WRITE, *, words: tuple[Word, ...] = (), deep: bool = False
    ) -> int | None:
        """Take a file that is written; `-` is the standard output, and no action."""
        if word.text in _OUTPUT:
            return None
        return self.add(operation, word, words=words, deep=deep)

    def run(self, word: Word) -> int | None:
        """Take a file whose text is run."""
        at = self.add(Operation.EXECUTE, word)
        if at is not None:
            self.scripts.append(word)
        return at

    def back_up(self, at: int | None, word: Word, suffix: str) -> None:
        """Keep what an edited file held under a longer name: `sed -i.bak`."""
        if suffix and at is not None and not {"*", "/"} & set(suffix[:32]):
            copy = self.add(Operation.COPY_DEST, renamed(word, word.text + suffix[:32]), words=(word,))
            self.flow([at], [copy])

    def flow(self, sources: Iterable[int | None], targets: Iterable[int | None]) -> None:
        """Let data go from all of some actions to all of some others; None among them counts for nothing."""
        found = [at for at in targets if at is not None]
        for source in sources:
            if source is not None and len(self.flows) < _MOST_FLOWS:
                self.flows += [(source, target) for target in found if source != target]

    def feed(self, *targets: int | None) -> None:
        """Let the standard input go into some actions."""
        for at in targets:
            if at is not None:
                self.actions[at] = msgspec.structs.replace(self.actions[at], from_input=True)

    def show(self, *sources: int | None) -> None:
        """Let the data of some actions go to the standard output."""
        self.prints += [at for at in sources if at is not None]

    def build(self) -> Actions:
        """All that was taken. Input that goes into an action goes to the output only if the program echoes it."""
        is_used = not self.echoes and self.reads_input and any(action.from_input for action in self.actions)
        return Actions(
            actions=tuple(self.actions),
            flows=tuple(self.flows),
            reads_input=self.reads_input and not is_used,
            prints=tuple(self.prints),
            codes=tuple(self.codes),
            scripts=tuple(self.scripts),
            is_unknown=self.is_unknown,
        )


Does = Callable[[Builder, Line, Command], None]
"""Collects what a command does, from its words taken apart."""


class Rules(dict[str, Rule]):
    """The rules of one concern, by the names that entries of the catalogue give them."""

    def of(self, name: str, options: Grammar | None = None) -> Callable[[Does], Does]:
        """Take a rule; the words are taken apart by the grammar of the entry of its name, unless it has one of its own."""
        rules = options or grammar_of(name)

        def take(does: Does) -> Does:
            def rule(command: Command) -> Actions:
                built = Builder()
                does(built, taken(command.arguments, rules), command)
                return built.build()

            self[name] = rule
            return does

        return take


class _Program(msgspec.Struct, frozen=True, kw_only=True):
    """An entry made ready."""

    grammar: Grammar
    options: dict[str, Operation]
    operands: tuple[tuple[str, Operation], ...]
    skips: int
    unless: tuple[str, ...]
    is_filter: bool
    prints: bool
    deep: tuple[str, ...]
    in_place: tuple[str, ...]
    default: Word | None
    language: str
    codes: tuple[str, ...]


_OPERATIONS = tuple(Operation(name) for name in Program.__struct_fields__ if name in frozenset(Operation))
"""Those that an entry may have, in the order in which its actions are taken."""


def plain(entry: Program, *, is_filter: bool = False) -> Rule:
    """The rule of a program that is described by its entry alone.

    Args:
        entry: what the catalogue has of it.
        is_filter: without a file it reads its standard input, and what it reads goes to its standard output.
    """
    options: dict[str, Operation] = {}
    operands: list[tuple[str, Operation]] = []
    for operation in _OPERATIONS:
        for name in getattr(entry, operation).split():
            if name.startswith("-"):
                options[name] = operation
            else:
                operands.append((name, operation))
    coded = [name for name in entry.code.split() if name.startswith("-")]
    prints = is_filter
    if entry.prints is not None:
        prints = entry.prints
    default = None
    if entry.default:
        default = Word(entry.default)
    return _rule(
        _Program(
            grammar=grammar(" ".join((entry.takes, *options, *coded)), stops=entry.stops, is_long=entry.long),
            options=options,
            operands=tuple(operands),
            skips=entry.skips,
            unless=tuple(entry.unless.split()),
            is_filter=is_filter,
            prints=prints,
            deep=tuple(entry.deep.split()),
            in_place=tuple(entry.in_place.split()),
            default=default,
            language=entry.language,
            codes=tuple(entry.code.split()),
        )
    )


def filtering(entry: Program) -> Rule:
    """The rule of a filter that is described by its entry alone."""
    return plain(entry, is_filter=True)


def grammar_of(program: str, name: str = "") -> Grammar:
    """The grammar of a program's arguments, or one of its others by name: of a verb, of another form."""
    entry = arguments_of(program)
    options: Options | Program = entry
    if name:
        options = entry.grammars[name]
    return grammar(options.takes, stops=options.stops, is_long=options.long)


def _rule(entry: _Program) -> Rule:
    def rule(command: Command) -> Actions:
        return _applied(entry, command)

    return rule


def _applied(entry: _Program, command: Command) -> Actions:
    line = taken(command.arguments, entry.grammar)
    leading: Sequence[Word] = ()
    operands = line.operands
    if entry.skips and not (entry.unless and line.has(*entry.unless)):
        leading, operands = operands[: entry.skips], operands[entry.skips :]
    built = Builder()
    own: tuple[Word, ...] = ()
    if not operands and entry.default is not None:
        own = command.words[:1]
        operands = [entry.default]
    _take(entry, built, line, (leading, operands), own)
    _connect(entry, built)
    for name in entry.codes:
        words: Sequence[Word]
        if name[0] == "-":
            words = line.values(name)
        else:
            words = _picked(name, leading, operands)
        built.codes += [Code(entry.language, word) for word in words]
    return built.build()


def _take(
    entry: _Program,
    built: Builder,
    line: Line,
    operands: tuple[Sequence[Word], Sequence[Word]],
    own: tuple[Word, ...],
) -> None:
    """The actions of an entry, those that read first."""
    deep = bool(entry.deep) and (entry.deep == ("always",) or line.has(*entry.deep))
    edits = bool(entry.in_place) and line.has(*entry.in_place)
    found = [
        (entry.options[name], value, False)
        for name, value in line.options
        if value is not None and name in entry.options
    ]
    for name, operation in entry.operands:
        found += [(operation, word, True) for word in _picked(name, *operands)]
    found.sort(key=lambda each: each[0] not in _SOURCES)
    seen = False
    for operation, word, is_operand in found:
        if operation is Operation.READ and is_operand and edits:
            seen = True
            is_authored = bool(entry.codes or entry.skips)
            at = built.take(
                Action(domain=Domain.FILE, operation=Operation.EDIT, target=word, is_deep=deep, is_authored=is_authored)
            )
            built.back_up(at, word, line.said(*entry.in_place))
        elif operation in _SOURCES:
            seen = seen or is_operand
            built.read(word, operation, deep=deep and is_operand)
        elif operation is Operation.EXECUTE:
            built.run(word)
        else:
            if is_operand:
                words = own
            else:
                words = ()
            built.write(word, operation, words=words, deep=deep and is_operand)
    built.reads_input = built.reads_input or (entry.is_filter and not seen)


def _connect(entry: _Program, built: Builder) -> None:
    """What is read goes into what is written, or else to the standard output."""
    sources = [at for at, action in enumerate(built.actions) if action.operation in _SOURCES]
    targets = [at for at, action in enumerate(built.actions) if action.operation in _TARGETS]
    if targets:
        built.flow(sources, targets)
        if built.reads_input:
            built.feed(*targets)
    elif entry.prints:
        built.show(*sources)


def _picked(name: str, leading: Sequence[Word], operands: Sequence[Word]) -> Sequence[Word]:
    """The operands that a selector names."""
    match name:
        case "operands":
            return operands
        case "leading":
            return leading
        case "first":
            return operands[:1]
        case "second":
            return operands[1:2]
        case "last":
            return operands[-1:]
        case "rest":
            return operands[1:]
        case "most":
            return operands[:-1]
        case _:
            raise ValueError(f"{name!r} names no operands")


def silent(_: Command) -> Actions:
    """The rule of programs that change and read no files, whatever their words."""
    return NOTHING
