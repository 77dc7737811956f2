"""Redirects and here-documents of a statement.

Owns which files a statement's descriptors are bound to, what reaches its standard input, and to which of its commands that
belongs. Must not know the other kinds of statements: the class that derives from it walks them.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from functools import partial

from tallystick.intent.shell.commands import Collector, Environment
from tallystick.intent.shell.expand import Expander, joined
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
from tallystick.intent.shell.heredocs import Document, Kind, Piece, lifted, pieces
from tallystick.intent.shell.scope import Scope
from tallystick.intent.shell.told import Feed, carried, read_from
from tallystick.model.intent import Chance
from tallystick.model.script import HOLE, Command, Redirect, Role, Word

SKIPPED = frozenset({"comment", "heredoc_start", "heredoc_end", "heredoc_body", "file_descriptor"})
_MOST_PIECES = 200
"""Substitutions in all here-documents together."""
_CHAINS = ("pipeline", "list", "negated_command")
_TABS = re.compile(r"^\t+", re.MULTILINE)
_DESCRIPTOR = re.compile(r"\d+-?|-")


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
        around = Command(words=(), role=Role.GROUP, is_diverted=is_diverted)
        if body is None:
            self.command((), scope, inner, tuple(redirects), is_diverted)
        else:
            self.grouped(redirects, scope, inner, lambda fed: self._walk(body, scope, fed), around)

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
