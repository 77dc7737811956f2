"""Redirects and here-documents of a statement.

Owns which files a statement's descriptors are bound to, what reaches its standard input, and to which of its commands
that belongs; and where a here-document begins and ends, and the text that is left: each `<<WORD`, and each `<<< TEXT`,
becomes `< NAME`. The grammar loses its way where a redirect, a `;` or a second here-document follows the first on its
line, where a body begins with a blank or a backslash, and more. Whatever is unusual in the text stops the lifting:
better no answer than text taken for a document that the shell would run. Must not know the other kinds of statements:
the class that derives from it walks them. Source: the Bash Reference Manual, 3.1.2 "Quoting", 3.6.6 "Here Documents".
"""

from __future__ import annotations

import enum
import re
from abc import abstractmethod
from collections.abc import Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from tallystick.intent.shell.commands import Collector, Environment
from tallystick.intent.shell.expand import Expander, joined
from tallystick.intent.shell.feeds import Feed, carried, read_from
from tallystick.intent.shell.grammar import (
    MOST_BYTES,
    Node,
    descriptor_before,
    glued,
    is_broken,
    is_descriptor,
    is_slow,
    parse,
    text_of,
)
from tallystick.intent.shell.scope import Scope
from tallystick.model.intent import Chance
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Command, Redirect, Role, Word

_NAME = "_HERE_DOCUMENT_"
_START = pattern_of(
    r"<<(-?)[ \t]*(?:'([^'\n]{1,64})'|\"([\w.-]{1,64})\"|(\\?[\w.-]{1,64}))(?=[ \t\n;|&<>)]|\r?\n|\r?$)"
)
_STRING = pattern_of(
    r"<<<[ \t]*((?:'[^']*'|\"(?:[^\"\\`]|\\.)*\"|[\w./,:=%+@~-]|\$\w+|\$\{\w+\})+)(?=[ \t\n;|&<>)]|\r?\n|\r?$)"
)
_PLAIN = pattern_of(r"[^'\"\\#$`(){}<\n]+")
_IN_DOUBLE = pattern_of(r"[^\"\\$`]+")
_EXPANDED = pattern_of(
    r"\\(?P<escaped>[$`\\\n])"
    r"|\$(?:(?P<name>[A-Za-z_]\w*|[0-9@*#?$!-])|\{(?P<braced>[A-Za-z_]\w*)\}|\{[^{}\n]*\}"
    r"|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))"
    r"|`(?:[^`\\]|\\.)*`",
    re.ASCII | re.DOTALL,
)
_MOST = 32


class Kind(enum.Enum):
    """How the text of a document becomes what is read."""

    LITERAL = enum.auto()
    BODY = enum.auto()
    """What `$`, back-quotes and backslashes stand for is put in."""
    STRING = enum.auto()
    """It is a word of the shell as it is spelled, quotes included; a newline follows it."""


class Document(Struct, frozen=True):
    """One here-document, or one string that is in its place."""

    text: str
    kind: Kind


class Piece(enum.Enum):
    """A part of a body."""

    TEXT = enum.auto()
    NAME = enum.auto()
    """The name of a variable or parameter."""
    SHELL = enum.auto()
    """Something else that the shell expands, as it is spelled."""


def pieces(body: str) -> Iterator[tuple[Piece, str]]:
    """The parts of a body in which something is expanded."""
    at = 0
    for found in _EXPANDED.finditer(body):
        yield Piece.TEXT, body[at : found.start()]
        at = found.end()
        if found["escaped"] is not None:
            yield Piece.TEXT, found["escaped"].replace("\n", "")
        elif found["name"] or found["braced"]:
            yield Piece.NAME, found["name"] or found["braced"]
        else:
            yield Piece.SHELL, found[0]
    yield Piece.TEXT, body[at:]


def lifted(text: str) -> tuple[str, dict[str, Document]] | None:
    """The text without its here-documents, and these by the names that stand for them; None where that is not sure."""
    if "<<" not in text or _NAME in text:
        return None
    return _Lifter(text).run()


class _Lifter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._left: list[str] = []
        self._found: dict[str, Document] = {}
        self._open: list[tuple[int, str, bool, bool]] = []
        """Documents whose bodies follow at the end of the line: where they go, their end, stripped, literal."""

    def run(self) -> tuple[str, dict[str, Document]] | None:
        text, size = self._text, len(self._text)
        while self._at < size:
            plain = _PLAIN.match(text, self._at)
            if plain is not None:
                self._take(plain.end())
                continue
            if not self._special(text[self._at]):
                return None
        if self._found and not self._open:
            return "".join(self._left), self._found
        return None

    def _take(self, end: int) -> None:
        self._left.append(self._text[self._at : end])
        self._at = end

    def _special(self, character: str) -> bool:
        if character == "\n":
            self._take(self._at + 1)
            return self._bodies()
        if character == "<":
            return self._less()
        end = self._end(character, self._at)
        if end <= 0:
            return False
        self._take(min(end, len(self._text)))
        return True

    def _end(self, character: str, at: int) -> int:
        """Where what begins with a character ends; 0 for what is unusual."""
        text = self._text
        match character:
            case "'":
                return text.find("'", at + 1) + 1
            case '"':
                return self._double(at + 1)
            case "\\":
                return at + 2
            case "#":
                if at == 0 or text[at - 1] in " \t\r\n;|&()<>":
                    return text.find("\n", at)
                return at + 1
            case "$":
                if text[at + 1 : at + 2] in ("'", '"', "(", "{", "["):
                    return 0
                return at + 1
            case "(" | "{" | ")" | "}":
                return 0 if text.startswith("((", at) else at + 1
            case _:
                return 0

    def _double(self, at: int) -> int:
        """Where a string ends; 0 if something in it is run, or it does not end."""
        text = self._text
        while at < len(text):
            plain = _IN_DOUBLE.match(text, at)
            if plain is not None:
                at = plain.end()
            mark = text[at : at + 1]
            if mark == '"':
                return at + 1
            if mark == "\\":
                at += 2
            elif mark == "$" and text[at + 1 : at + 2] not in ("(", "{", "["):
                at += 1
            else:
                return 0
        return 0

    def _less(self) -> bool:
        text, at = self._text, self._at
        if not text.startswith("<<", at):
            self._take(at + 1)
            return True
        is_string = text.startswith("<<<", at)
        found = (_STRING if is_string else _START).match(text, at)
        if found is None or len(self._open) + len(self._found) >= _MOST:
            return False
        self._left += ["< ", "", " "]
        self._at = found.end()
        if is_string:
            self._put(len(self._left) - 2, Document(found[1], Kind.STRING))
        else:
            bare = found[4]
            word = found[2] or found[3] or (bare or "").removeprefix("\\")
            self._open.append((len(self._left) - 2, word, bool(found[1]), bare is None or bare.startswith("\\")))
        return True

    def _put(self, place: int, document: Document) -> None:
        name = f"{_NAME}{len(self._found)}"
        self._found[name] = document
        self._left[place] = name

    def _bodies(self) -> bool:
        for place, word, is_stripped, is_literal in self._open:
            lines: list[str] = []
            while True:
                if self._at >= len(self._text):
                    return False
                end = self._text.find("\n", self._at)
                if end < 0:
                    end = len(self._text)
                line = self._text[self._at : end]
                if is_stripped:
                    line = line.lstrip("\t")
                self._at = end + 1
                if line == word:
                    break
                lines.append(f"{line}\n")
            body = "".join(lines)
            self._put(place, Document(body, Kind.LITERAL if is_literal else Kind.BODY))
        self._open = []
        self._at = min(self._at, len(self._text))
        return True


SKIPPED = frozenset({"comment", "heredoc_start", "heredoc_end", "heredoc_body", "file_descriptor"})
_MOST_PIECES = 200
"""Substitutions in all here-documents together."""
_CHAINS = ("pipeline", "list", "negated_command")
_TABS = pattern_of(r"^\t+", re.MULTILINE)
_DESCRIPTOR = pattern_of(r"\d+-?|-")


class Redirector(Collector):
    """Reads the redirects around statements."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._documents: dict[str, Document] = {}
        self._pieces = 0
        self._bound_to: dict[int, Node] = {}
        """Statements whose redirects belong to the last command in them, by that command's node."""

    @abstractmethod
    def _walk(self, node: Node, scope: Scope, feed: Feed) -> None:
        """Read what stands below a node."""

    @abstractmethod
    def _elements(self, children: list[Node], scope: Scope, feed: Feed) -> None:
        """Read statements with pipes between them."""

    @abstractmethod
    def _simple(self, node: Node, scope: Scope, feed: Feed, around: Node | None) -> None:
        """Read a simple command; `around` is the statement that has its redirects."""

    @abstractmethod
    def _expander(self, scope: Scope, fed: Feed | None = None) -> Expander:
        """What makes words of nodes."""

    def _tree(self, text: str) -> Node | None:
        """The tree of a text, its here-documents taken out of it as far as that can be done; names stand for them.

        None where it would take too long, or is not sure.
        """
        found = None
        if len(text) <= MOST_BYTES:
            found = lifted(text)
        if found is not None and not is_slow(found[0]):
            root = parse(found[0])
            if root is not None and not is_broken(root):
                self._documents.update(found[1])
                return root
        if is_slow(text):
            return None
        return parse(text)

    def _held(self, document: Document, scope: Scope) -> Feed:
        """What a here-document holds."""
        match document.kind:
            case Kind.LITERAL:
                word = Word(document.text)
            case Kind.BODY:
                word = joined([self._piece(piece, text, scope) for piece, text in pieces(document.text)])
            case _:
                held = joined(self._spelled(document.text, scope), between=" ")
                word = Word(f"{held.text}\n", held.hidden, held.commands)
        return Feed(f"{word.plain} {word.hidden}" if word.hidden else word.plain, word)

    def _piece(self, piece: Piece, text: str, scope: Scope) -> Word:
        if piece is Piece.SHELL:
            self._pieces += 1
            if self._pieces > _MOST_PIECES:
                self.opaque["size"] = None
                return Word(HOLE)
        match piece:
            case Piece.TEXT:
                return Word(text)
            case Piece.NAME:
                return scope.variables.get(text) or Word(HOLE)
            case Piece.SHELL:
                return joined(self._spelled(f'"{text}"', scope))

    def _spelled(self, text: str, scope: Scope) -> list[Word]:
        """The words that a text is which stands where a word of a command does."""
        root = parse(f": {text}")
        command = None
        if root is not None and root.named_children:
            command = root.named_children[0]
        if command is not None:
            return self._expander(scope).words(command.named_children[1:])
        return [Word(HOLE, text)]

    def _redirected(self, node: Node, scope: Scope, feed: Feed, body: Node | None = None) -> None:
        """A statement with redirects: they belong to its last command, or to a group as a whole."""
        if body is None:
            body = node.child_by_field_name("body")
            if body is not None and body.type in _CHAINS:
                last = body
                while last.type in _CHAINS and last.named_children:
                    last = last.named_children[-1]
                self._bound_to[last.id] = node
                self._walk(body, scope, feed)
                return
        before = len(self.commands)
        heredocs = [child for child in node.named_children if child.type == "heredoc_redirect"]
        tails = [(heredoc, child) for heredoc in heredocs for child in self._tails(heredoc)]
        numbers = self.apart(partial(self._bound, node, body, scope, feed))
        after = carried(self.commands[before:], feed, numbers)
        if not any(child.type == "pipeline" for _, child in tails):
            self.sink += numbers
        for heredoc, child in tails:
            self._after_heredoc(heredoc, child, scope, after)

    def _bound(self, node: Node, body: Node | None, scope: Scope, feed: Feed) -> None:
        if body is not None and body.type == "command":
            self._simple(body, scope, feed, node)
            return
        redirects, inner, is_diverted = self._redirects(node, scope, feed, [])
        around = Command(words=(), redirects=tuple(redirects), is_diverted=is_diverted)
        if body is None:
            self.command(around, scope, inner)
        else:
            self.grouped(replace(around, role=Role.GROUP), scope, inner, lambda fed: self._walk(body, scope, fed))

    def _redirects(self, node: Node, scope: Scope, feed: Feed, words: list[Word]) -> tuple[list[Redirect], Feed, bool]:
        """The redirects that are in a node, what they feed, and whether standard output goes to another descriptor.

        Words among them are put into `words`.
        """
        found: list[Redirect] = []
        is_diverted = False
        before: Node | None = None
        for child in node.named_children:
            if child.type == "file_redirect" and (named := self._named_document(child)) is not None:
                feed = self._held(named, scope)
            elif child.type == "file_redirect":
                is_both = before is not None and before.is_error and before.end_byte == child.start_byte
                more, is_more = self._file(child, scope, words, "<" if is_both else "")
                found += more
                is_diverted |= is_more
                feed = read_from(more, feed)
            elif child.type == "heredoc_redirect":
                nested, _, is_more = self._redirects(child, scope, feed, words)
                found += nested
                is_diverted |= is_more
                words += self._expander(scope).words(child.children_by_field_name("argument"))
                feed = self._heredoc(child, scope)
            elif child.type == "herestring_redirect":
                word = self._expander(scope).value(child.named_children[-1] if child.named_children else None)
                feed = Feed(f"{word.plain} {word.hidden}", Word(f"{word.text}\n", word.hidden, word.commands))
            before = child
        return found, feed, is_diverted

    def _named_document(self, node: Node) -> Document | None:
        if not self._documents:
            return None
        name = node.child_by_field_name("destination")
        if name is None:
            return None
        return self._documents.get(text_of(name))

    def _file(self, node: Node, scope: Scope, words: list[Word], lead: str) -> tuple[list[Redirect], bool]:
        """One redirect; `lead` is the `<` that the grammar cut off `<>`. What follows its file belongs to the command."""
        operator = lead + "".join(text_of(child) for child in node.children if not child.is_named or child.is_error)
        descriptor = next((text_of(child) for child in node.named_children if child.type == "file_descriptor"), "")
        descriptor = descriptor or descriptor_before(node)
        groups = glued([part for part in node.children_by_field_name("destination") if not is_descriptor(part)])
        expander = self._expander(scope)
        words += [word for group in groups[1:] for word in expander.words(group)]
        targets = [word for group in groups[:1] for word in expander.words(group)]
        is_diverted = False
        if operator in (">&", "<&"):
            files = [word for word in targets if not _DESCRIPTOR.fullmatch(word.text)]
            is_diverted = operator == ">&" and descriptor in ("", "1") and len(files) < len(targets)
            targets = files
        return [Redirect(word, ">" in operator, operator, descriptor) for word in targets], is_diverted

    def _heredoc(self, node: Node, scope: Scope) -> Feed:
        """What a here-document holds. The grammar leaves out the blanks before its body, and what is expanded first in it."""
        parts = {child.type: child for child in node.named_children}
        start, body, end = (parts.get(f"heredoc_{name}") for name in ("start", "body", "end"))
        if start is None or body is None:
            return Feed("", Word(""))
        source, base = node.text or b"", node.start_byte
        head = source[: body.start_byte - base]
        first = head.find(b"\n", len(head.rstrip())) + 1
        if end is not None:
            last = end.start_byte - base
        else:
            last = len(source)
        text = source[first or len(head) : last].decode("utf-8", "replace")
        if any(child.type == "<<-" for child in node.children):
            text = _TABS.sub("", text)
        is_literal = bool(set(text_of(start)) & set("'\"\\"))
        return self._held(Document(text, Kind.LITERAL if is_literal else Kind.BODY), scope)

    @staticmethod
    def _tails(heredoc: Node) -> list[Node]:
        """What stands on the line of a here-document after it: the grammar hangs it below."""
        arguments = {child.start_byte for child in heredoc.children_by_field_name("argument")}
        return [
            child
            for child in heredoc.named_children
            if child.type not in SKIPPED
            and child.type not in ("file_redirect", "herestring_redirect")
            and child.start_byte not in arguments
        ]

    def _after_heredoc(self, heredoc: Node, child: Node, scope: Scope, feed: Feed) -> None:
        if child.type == "pipeline" and any(part.type == "|" for part in child.children[:1]):
            self._elements(child.named_children, scope, feed)
            return
        chance = self.state.chance
        if any(part.type == "||" for part in heredoc.children) or not self.state.is_needed:
            chance = Chance.MAYBE
        self.at(self.state._replace(chance=chance), lambda: self._walk(child, scope, Feed()))
