"""A text → its simple commands.

Owns the walk over the tree: which variables and folders hold at each command, what a pipe carries, which text is shell text
again. Must not know which programs or paths matter. A text that does not tell everything is read as far as it goes, and says
why it is opaque.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping

import msgspec
from msgspec.structs import replace

from tallystick.model.script import HOLE, Command, Redirect, Script, Word
from tallystick.shell import wrappers
from tallystick.shell.expand import Expander, Scope, joined
from tallystick.shell.grammar import Node, glued, parse, text_of
from tallystick.shell.quotes import ansi

_MOST_BYTES = 64 << 10
_SLOW, _MOST_SLOW = "|()<>{$", 1500
"""Of texts made to hurt, the parser takes time by the square of how many of these are in them: 0.1 s for 1,500."""
_MOST_COMMANDS = 1000
_MOST_CHARACTERS = 1 << 20
"""In all words together, after variables have their values."""
_MOST_NESTED = 60
_MOST_FOLDERS = 16
_MOST_TEXTS = 6
_DESCRIPTOR = re.compile(r"\d+-?|-")
_SKIPPED = frozenset({"comment", "heredoc_start", "heredoc_end", "heredoc_body", "file_descriptor"})


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """What is known before the first command."""

    variables: Mapping[str, str]
    """Names and values that the text may use. `HOME` must be among them."""
    folder: str | None = None
    """Where the text runs, absolute; None if the agent did not say."""


def read_script(text: str, environment: Environment) -> Script:
    """The commands of a shell text. Never raises: what cannot be read is `opaque`."""
    reader = _Reader(environment)
    reader.text(text, reader.scope)
    return reader.script()


def read_argv(argv: Iterable[str], environment: Environment) -> Script:
    """The commands of a program that is started without a shell."""
    reader = _Reader(environment)
    reader.command(tuple(Word(text) for text in argv), reader.scope, _Feed())
    return reader.script()


class _Feed(msgspec.Struct):
    """What reaches a command's standard input."""

    text: str = ""
    is_exact: bool = False
    """The text is the input itself, not the words of the commands that write it."""


class _Reader:
    """Collects the commands of one text and of the texts in it."""

    def __init__(self, environment: Environment) -> None:
        variables = {name: Word(value) for name, value in environment.variables.items()}
        folders = [environment.folder] if environment.folder is not None else []
        self.scope = Scope(variables, folders)
        self._commands: list[Command] = []
        self._opaque: dict[str, None] = {}
        self._shadowed: set[str] = set()
        self._nested = 0
        self._texts = 0
        self._characters = 0
        self._has_own_path = False

    def script(self) -> Script:
        """All that was read."""
        return Script(commands=tuple(map(self._told_trust, self._commands)), opaque=tuple(self._opaque))

    def _told_trust(self, command: Command) -> Command:
        shadowed = bool(command.words) and command.words[0].text in self._shadowed
        return replace(command, trusted=False) if shadowed or self._has_own_path else command

    # Texts ----------------------------------------------------------------------------------------------------------

    def text(self, text: str, scope: Scope) -> None:
        """Read a text, or one that a command of it runs."""
        is_large = len(text) > _MOST_BYTES or sum(map(text.count, _SLOW)) > _MOST_SLOW
        if is_large or self._texts >= _MOST_TEXTS:
            self._opaque["size" if is_large else "depth"] = None
            self._commands.append(Command(words=(), fed=text[:_MOST_BYTES]))
            return
        self._texts += 1
        root = parse(text)
        if root.has_error or "``" in text or "\\`" in text:  # the grammar loses its way among back-quotes
            self._opaque["syntax"] = None
        self._walk(root, scope, _Feed())
        self._texts -= 1

    # Nodes ----------------------------------------------------------------------------------------------------------

    def _walk(self, node: Node, scope: Scope, feed: _Feed) -> None:
        """Read what stands below a node, in order."""
        if self._is_enough(len(self._commands) >= _MOST_COMMANDS):
            return
        self._nested += 1
        known = _READERS.get(node.type)
        if known is not None:
            known(self, node, scope, feed)
        else:
            self._children(node, scope, feed)
        self._nested -= 1

    def _is_enough(self, is_large: bool = False) -> bool:
        """Whether what comes is left unread: a text that nests or grows without end says so, and is opaque."""
        if self._nested >= _MOST_NESTED:
            self._opaque["depth"] = None
        elif is_large or self._characters > _MOST_CHARACTERS:
            self._opaque["size"] = None
        else:
            return False
        return True

    def _children(self, node: Node, scope: Scope, feed: _Feed) -> None:
        for child in node.named_children:
            if child.type not in _SKIPPED:
                self._walk(child, scope, feed)

    def _expander(self, scope: Scope, fed: str = "") -> Expander:
        return Expander(scope, lambda node: self._substitution(node, scope, fed))

    def _substitution(self, node: Node, scope: Scope, fed: str) -> Word:
        """Read `$(…)` or `<(…)`: a hole, unless its output is told by its words."""
        before = len(self._commands)
        self._nested += 1
        for child in node.named_children:
            self._walk(child, scope.copy(), _Feed(fed))
        self._nested -= 1
        inner = self._commands[before:]
        told = _output(inner, scope) if node.type == "command_substitution" and len(node.named_children) == 1 else None
        return told if told is not None else Word(HOLE, " ".join([text_of(node), *map(_said, inner)]))

    def _subshell(self, node: Node, scope: Scope, feed: _Feed) -> None:
        self._children(node, scope.copy(), feed)

    def _pipeline(self, node: Node, scope: Scope, feed: _Feed) -> None:
        for child in node.named_children:
            before = len(self._commands)
            self._walk(child, scope, feed)
            feed = _carried(self._commands[before:], feed)

    def _redirected(self, node: Node, scope: Scope, feed: _Feed) -> None:
        """A statement with redirects: they belong to the command, or to a group as a whole."""
        body = node.child_by_field_name("body")
        before = len(self._commands)
        if body is not None and body.type == "command":
            feed = self._simple(body, scope, feed, node)
        else:
            redirects, feed = self._redirects(node, scope, feed, [])
            if body is not None:
                self._walk(body, scope, feed)
            self._commands.append(Command(words=(), redirects=tuple(redirects), folders=tuple(scope.folders)))
        for heredoc in (child for child in node.named_children if child.type == "heredoc_redirect"):
            self._after_heredoc(heredoc, scope, _carried(self._commands[before:], feed))

    def _redirects(self, node: Node, scope: Scope, feed: _Feed, words: list[Word]) -> tuple[list[Redirect], _Feed]:
        """The redirects that stand in a node, and what they feed; words among them are put into `words`."""
        found: list[Redirect] = []
        for child in node.named_children:
            if child.type == "file_redirect":
                found += self._file(child, scope, words)
                feed = _read_from(found, feed)
            elif child.type == "heredoc_redirect":
                nested, _ = self._redirects(child, scope, feed, words)
                found += nested
                words += self._expander(scope).words(child.children_by_field_name("argument"))
                feed = _Feed(self._heredoc(child, scope), is_exact=True)
            elif child.type == "herestring_redirect":
                word = self._expander(scope).value(child.named_children[-1] if child.named_children else None)
                feed = _Feed(f"{word.plain} {word.hidden}", is_exact=True)
        return found, feed

    def _file(self, node: Node, scope: Scope, words: list[Word]) -> list[Redirect]:
        """One redirect. What follows its file belongs to the command: the grammar takes it along."""
        operator = "".join(text_of(child) for child in node.children if not child.is_named or child.is_error)
        groups = glued(node.children_by_field_name("destination"))
        expander = self._expander(scope)
        words += [word for group in groups[1:] for word in expander.words(group)]
        targets = [word for group in groups[:1] for word in expander.words(group)]
        if operator in (">&", "<&"):
            targets = [word for word in targets if not _DESCRIPTOR.fullmatch(word.text)]
        return [Redirect(word, ">" in operator) for word in targets]

    def _heredoc(self, node: Node, scope: Scope) -> str:
        body = next((child for child in node.named_children if child.type == "heredoc_body"), None)
        start = next((text_of(child) for child in node.named_children if child.type == "heredoc_start"), "")
        if body is None:
            return ""
        if set(start) & set("'\"\\"):
            return text_of(body)
        word = self._expander(scope).quoted(body)
        return f"{word.plain} {word.hidden}" if word.hidden else word.plain

    def _after_heredoc(self, node: Node, scope: Scope, feed: _Feed) -> None:
        """What stands on the line of a here-document after it: the grammar hangs it below."""
        for child in node.named_children:
            if child.type == "pipeline":
                self._pipeline(child, scope, feed)
            elif child.type not in _SKIPPED and child.type not in ("file_redirect", "herestring_redirect"):
                self._walk(child, scope, _Feed())

    # Statements -----------------------------------------------------------------------------------------------------

    def _assignment(self, node: Node, scope: Scope, feed: _Feed) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            key = text_of(name.named_children[0] if name.type == "subscript" and name.named_children else name)
            value = self._expander(scope).value(node.child_by_field_name("value"))
            is_more = any(child.type == "+=" for child in node.children) and key in scope.variables
            self._assign(scope, key, _appended(scope.variables[key], value) if is_more else value)

    def _lengthen(self, node: Node, tail: list[Node], scope: Scope) -> None:
        """Append to the value of an assignment what the grammar cut off."""
        name = node.child_by_field_name("name")
        more = self._expander(scope).words(tail)
        if name is not None and more and text_of(name) in scope.variables:
            scope.variables[text_of(name)] = _appended(scope.variables[text_of(name)], more[0])

    def _assign(self, scope: Scope, name: str, value: Word) -> None:
        scope.variables[name] = value
        self._characters += len(value.text) + len(value.hidden)
        self._has_own_path |= name == "PATH"

    def _loop(self, node: Node, scope: Scope, feed: _Feed) -> None:
        """`for NAME in WORDS`: inside, the variable is one of the words."""
        name = node.child_by_field_name("variable")
        words = self._expander(scope).words(node.children_by_field_name("value"))
        if name is not None:
            value = (
                words[0] if len(words) == 1 else Word(HOLE, " ".join(f"{word.text} {word.hidden}" for word in words))
            )
            self._assign(scope, text_of(name), value)
        body = node.child_by_field_name("body")
        if body is not None:
            self._walk(body, scope, feed)

    def _function(self, node: Node, scope: Scope, feed: _Feed) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self._shadowed.add(text_of(name))
        body = node.child_by_field_name("body")
        if body is not None:
            self._walk(body, scope, feed)

    def _declaration(self, node: Node, scope: Scope, feed: _Feed) -> None:
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assignment(child, scope, feed)
            else:
                self._expander(scope).words([child])

    def _alone(self, node: Node, scope: Scope, feed: _Feed) -> None:
        """A substitution where no word is read: in a test, the value of a case, a count."""
        self._substitution(node, scope, feed.text)

    # Commands -------------------------------------------------------------------------------------------------------

    def _command(self, node: Node, scope: Scope, feed: _Feed) -> None:
        self._simple(node, scope, feed, None)

    def _simple(self, node: Node, scope: Scope, feed: _Feed, around: Node | None) -> _Feed:
        """A simple command; `around` is the statement that has its redirects. What it is fed."""
        late: list[Word] = []
        redirects, feed = self._redirects(node, scope, feed, late)
        if around is not None:
            outer, feed = self._redirects(around, scope, feed, late)
            redirects += outer
        assigned = [child for child in node.named_children if child.type == "variable_assignment"]
        parts = [
            part
            for child in node.named_children
            for part in (child.children if child.type == "command_name" else [child])
            if child.type != "variable_assignment" and not child.type.endswith("_redirect")
        ]
        # What is glued to the last value belongs to it.
        tail = glued([assigned[-1], *parts])[0][1:] if assigned else []
        words = (*self._expander(scope, feed.text).words(parts[len(tail) :]), *late)
        own = Scope(dict(scope.variables), scope.folders) if words else scope
        for child in assigned:
            self._assignment(child, own, feed)
        if tail:
            self._lengthen(assigned[-1], tail, own)
        self.command(words, own if assigned else scope, feed, tuple(redirects))
        return feed

    def command(self, words: tuple[Word, ...], scope: Scope, feed: _Feed, redirects: tuple[Redirect, ...] = ()) -> None:
        """Take a simple command: what it wraps is read in its place."""
        found = Command(words=words, redirects=redirects, folders=tuple(scope.folders), fed=feed.text)
        if not words or self._is_enough():
            self._commands.append(found)
            return
        name = found.program
        scope.variables["_"] = words[-1]
        self._characters += len(feed.text) + sum(len(word.text) + len(word.hidden) for word in words)
        if not words[0].is_known:
            self._opaque["program"] = None
        self._nested += 1
        if self._is_builtin(name, found.arguments, scope, feed):
            self._commands.append(found)
        elif not self._is_wrapper(found, scope, feed):
            self._commands.append(found)
            if name == "find":
                for inner in wrappers.executed(found.arguments):
                    self.command(inner, scope, _Feed())
        self._nested -= 1

    def _is_builtin(self, name: str, arguments: tuple[Word, ...], scope: Scope, feed: _Feed) -> bool:
        """What changes the shell itself."""
        match name:
            case "cd" | "pushd":
                self._change_folder(arguments, scope)
            case "read" | "mapfile" | "readarray":
                for word in arguments:
                    if not word.text.startswith("-"):
                        scope.variables[word.text] = Word(HOLE, feed.text)
            case "printf" if arguments[:1] and arguments[0].text == "-v" and len(arguments) > 1:
                said = " ".join(f"{word.text} {word.hidden}" for word in arguments[2:])
                scope.variables[arguments[1].text] = Word(HOLE, said)
            case "alias":
                self._shadowed.update(word.text.partition("=")[0] for word in arguments)
            case "set":
                _number(scope, arguments[arguments[0].text == "--" :] if arguments else (), first=1)
            case _:
                return False
        return True

    def _change_folder(self, arguments: tuple[Word, ...], scope: Scope) -> None:
        target = next((word for word in arguments if word.text == "-" or not word.text.startswith("-")), None)
        path = target.plain if target is not None else scope.variables["HOME"].text
        if path == "-":
            path = scope.folders[-2] if len(scope.folders) > 1 else ""
        if target is not None and not target.is_known:
            return
        new = [posixpath.normpath(posixpath.join(folder, path)) for folder in scope.folders] or [path]
        told = [folder for folder in dict.fromkeys(new) if folder.startswith("/")]
        before = [folder for folder in scope.folders[1:] if folder not in told]
        scope.folders[1:] = [*before, *told][-_MOST_FOLDERS:] if scope.folders else []
        scope.folders += told[:1] if not scope.folders else []
        if scope.folders:
            scope.variables["PWD"] = Word(posixpath.normpath(scope.folders[-1]))

    def _is_wrapper(self, command: Command, scope: Scope, feed: _Feed) -> bool:
        """Read what the command runs; whether there is nothing else to say of it."""
        name, arguments = command.program, command.arguments
        inner = wrappers.unwrapped(name, arguments, feed.text)
        text = wrappers.split_string(name, arguments) or wrappers.shell_text(name, arguments)
        if text is not None:
            self._inner_text(name, text, scope, wrappers.positional(name, arguments))
        elif wrappers.reads_its_input(name, arguments):
            self._input_text(command, scope, feed)
        elif inner:
            self.command(inner, scope, feed)
        else:
            return False
        self._commands.append(Command(words=(), redirects=command.redirects, folders=command.folders))
        return True

    def _inner_text(self, name: str, text: Word, scope: Scope, given: tuple[Word, ...]) -> None:
        if not text.is_known:
            self._opaque["eval"] = None
            self._commands.append(Command(words=(), fed=f"{text.plain} {text.hidden}"))
        inner = scope if name in ("eval", "trap") else scope.copy()
        if given:
            _number(inner, given, first=0)
        self.text(text.plain, inner)

    def _input_text(self, command: Command, scope: Scope, feed: _Feed) -> None:
        if feed.is_exact:
            self.text(feed.text, scope.copy())
        elif feed.text or command.arguments:
            self._opaque["pipe"] = None
            self._commands.append(Command(words=(), fed=" ".join([feed.text, _said(command)])))


_Read = Callable[[_Reader, Node, Scope, _Feed], None]
_READERS: dict[str, _Read] = {
    "command": _Reader._command,
    "pipeline": _Reader._pipeline,
    "redirected_statement": _Reader._redirected,
    "subshell": _Reader._subshell,
    "variable_assignment": _Reader._assignment,
    "declaration_command": _Reader._declaration,
    "for_statement": _Reader._loop,
    "function_definition": _Reader._function,
    "command_substitution": _Reader._alone,
    "process_substitution": _Reader._alone,
}


def _output(inner: list[Command], scope: Scope) -> Word | None:
    """What a substitution prints, where its one command says so itself."""
    if len(inner) != 1 or inner[0].redirects or not all(word.is_known for word in inner[0].words):
        return None
    command = inner[0]
    if command.program == "cat" and not command.arguments and command.fed:
        return Word(command.fed.rstrip("\n"))
    if command.program == "pwd" and scope.folders:
        return Word(scope.folders[-1])
    if command.program in ("echo", "printf") and "%" not in (command.arguments[:1] or (Word(""),))[0].text:
        said = " ".join(word.text for word in command.arguments if word.text not in ("-n", "-e", "-ne", "-en"))
        return Word(ansi(said) if "\\" in said else said)
    return None


def _said(command: Command) -> str:
    """All words of a command and what it is fed, as one text."""
    return f"{_worded(command)} {command.fed}" if command.fed else _worded(command)


def _worded(command: Command) -> str:
    """All words of a command, and what their holes were made from."""
    return " ".join(f"{word.text} {word.hidden}" if word.hidden else word.text for word in command.words)


def _carried(commands: list[Command], feed: _Feed) -> _Feed:
    """What a pipe carries on: the text that the commands before it name."""
    said = [
        part for command in commands for part in (_worded(command), command.fed if command.fed != feed.text else "")
    ]
    return _Feed(" ".join(part for part in (*said, feed.text) if part)[:_MOST_BYTES])


def _read_from(redirects: list[Redirect], feed: _Feed) -> _Feed:
    """What `< FILE` feeds, as far as the text tells: which file it is."""
    if not redirects or redirects[-1].writes or feed.text:
        return feed
    target = redirects[-1].target
    return _Feed(f"{target.text} {target.hidden}".strip())


def _number(scope: Scope, words: tuple[Word, ...], *, first: int) -> None:
    """Make words the parameters `$0`, `$1`… of a scope."""
    for n, word in enumerate(words, first):
        scope.variables[str(n)] = word
    rest = words[1 - first :]
    every = Word(HOLE, " ".join(f"{word.text} {word.hidden}" for word in rest)) if len(rest) != 1 else rest[0]
    scope.variables["@"] = scope.variables["*"] = every


def _appended(old: Word, more: Word) -> Word:
    return joined([old, more])
