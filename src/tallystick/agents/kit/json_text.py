"""JSON text that people keep, changed in place: what is not meant stays as it is, to the byte.

Owns the positions of values in the text, and three changes: a value added to the end of a list or an object, one replaced,
one taken out, which undoes the first exactly. Comments, order, indentation, line ends, number literals and duplicate keys
stay. Must not know what the text is for.

What tells a container that was made here from one that was there, empty, before: ours have white space before the
closing bracket, while the first value put into one of the user's is written right before its bracket, after whatever
was in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import msgspec

from tallystick.errors import FormatError
from tallystick.model.step import Json

_BOM = "\ufeff"
_MOST_DEPTH = 100
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_SAME_LINE = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*.*?\*/))+", re.DOTALL)
_SCALAR = re.compile(
    r'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*"'
    r"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null"
)


class Dialect(msgspec.Struct, frozen=True):
    """What an agent reads beyond JSON."""

    comments: bool = False
    trailing_commas: bool = False


JSON = Dialect()
COMMENTED = Dialect(comments=True)
RELAXED = Dialect(comments=True, trailing_commas=True)


class Node(msgspec.Struct):
    """A value and where it stands. `entries` is None for a value that holds no others."""

    start: int
    end: int
    value: Json
    """As Python has it; of duplicate keys the last one counts."""
    entries: list[Entry] | None = None
    comments: bool = False
    """There are comments between its brackets, outside its entries."""

    def member(self, key: str) -> Node | None:
        """The member that counts under a key."""
        found = [entry.node for entry in self.entries or () if entry.key == key]
        if found:
            return found[-1]
        return None


class Entry(msgspec.Struct):
    """An element of a list, or a member of an object."""

    lead: int
    """Where the white space before it begins."""
    start: int
    """Where it begins itself: for a member its key."""
    node: Node
    key: str | None = None
    comma: int | None = None
    """Where the comma after it stands."""
    below_comment: bool = False
    """Right before that white space stands a comment that needs its line's end."""


class Document(msgspec.Struct):
    """A text and what is in it."""

    text: str
    root: Node
    dialect: Dialect
    bom: str = ""

    def encode(self) -> bytes:
        """The bytes of the file."""
        return (self.bom + self.text).encode()

    @property
    def line_end(self) -> str:
        """How lines end: as the first one does."""
        first = self.text.find("\n")
        if first > 0 and self.text[first - 1] == "\r":
            return "\r\n"
        return "\n"

    @property
    def step(self) -> str:
        """By how much one level is indented further than the one around it."""
        for entry in self.root.entries or ():
            indent = _indent_at(self.text, entry.start)
            if indent:
                return indent
        return "  "

    def line(self, position: int) -> int:
        """The number of the line of a position, from 1."""
        return self.text.count("\n", 0, position) + 1


def read(data: bytes, dialect: Dialect = JSON) -> Document:
    """The document in the bytes of a file.

    Raises:
        FormatError: it is not JSON of this dialect; the message has line and column.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"line {line}: not UTF-8", hint="mend the file, then try again") from error
    bom = ""
    if text.startswith(_BOM):
        bom = _BOM
    text = text[len(bom) :]
    return Document(text=text, root=_Parser(text, dialect).document(), dialect=dialect, bom=bom)


# Changes --------------------------------------------------------------------------------------------------------------


def created(value: Mapping[str, Json]) -> bytes:
    """A new file with an object in it."""
    return (_written(value, "", "  ", "\n") + "\n").encode()


def append(document: Document, container: Node, value: Json, key: str | None = None) -> Document:
    """The document with a value at the end of a list, or under a key at the end of an object."""
    entries = container.entries
    assert entries is not None, "values are added to lists and objects"
    if not entries:
        return _spliced(document, (container.end - 1, container.end - 1, _new(document, container, value, key)))
    last = entries[-1]
    if last.comma is None:
        at = last.node.end
    else:
        at = last.comma + 1
    beside = None
    if document.dialect.comments:
        beside = _SAME_LINE.match(document.text, at)
    place = at
    if beside:
        place = beside.end()
    new = _gap(document, container, last, "//" in (beside.group() if beside else "")) + _new(
        document, container, value, key
    )
    if last.comma is not None and last is entries[-1]:
        return _spliced(document, (place, place, new + ","))
    return _spliced(document, (last.node.end, last.node.end, ","), (place, place, new))


def replace(document: Document, node: Node, value: Json) -> Document:
    """The document with another value in a value's place."""
    multiline = "\n" in document.text
    indent = None
    if multiline:
        indent = _line_indent(document.text, node.start)
    return _spliced(document, (node.start, node.end, _written(value, indent, document.step, document.line_end)))


def remove(document: Document, container: Node, entry: Entry) -> Document:
    """The document without a value. Values added one after another are taken out last first."""
    entries = container.entries
    assert entries is not None, "it holds the entry"
    number = next(index for index, item in enumerate(entries) if item is entry)
    end = entry.node.end
    if entry.comma is None:
        before = None
        if number:
            before = entries[number - 1].comma
        if number or container.end - 1 != end:
            lead = entry.lead
        else:
            lead = entry.start
        commas: tuple[tuple[int, int, str], ...] = ()
        if before is not None:
            commas = ((before, before + 1, ""),)
        return _spliced(document, *commas, (lead, end, _kept(document, entry, lead, end)))
    rest = (entry.comma, entry.comma + 1, "")
    if number == 0 and len(entries) > 1:
        space = _SPACE.match(document.text, entry.comma + 1)
        assert space is not None, "white space may be none"
        return _spliced(document, (entry.start, end, ""), (entry.comma, space.end(), ""))
    return _spliced(document, (entry.lead, end, _kept(document, entry, entry.lead, entry.comma + 1)), rest)


def _kept(document: Document, entry: Entry, lead: int, end: int) -> str:
    """The line's end that a comment before an entry still needs when the text from `lead` to `end` is gone."""
    is_needed = entry.below_comment and lead == entry.lead and document.text[end : end + 1] not in ("\r", "\n")
    if is_needed:
        return document.line_end
    return ""


def is_made_here(container: Node, entry: Entry) -> bool:
    """Whether a container with this one entry came into being with it (see the module)."""
    alone = container.entries == [entry] and not container.comments
    return alone and not (entry.comma is None and entry.node.end == container.end - 1)


def _spliced(document: Document, *changes: tuple[int, int, str]) -> Document:
    """The document with pieces of text replaced; they are given in order and do not overlap."""
    text = document.text
    for start, end, new in reversed(changes):
        text = text[:start] + new + text[end:]
    root = _Parser(text, document.dialect).document()
    return Document(text=text, root=root, dialect=document.dialect, bom=document.bom)


# Writing --------------------------------------------------------------------------------------------------------------


def _gap(document: Document, container: Node, last: Entry, after_comment: bool) -> str:
    """What goes between the last entry, or the comment after it, and a new one: as between the others."""
    indent = _indent_at(document.text, last.start)
    if indent is not None:
        return document.line_end + indent
    if after_comment:
        return document.line_end + _line_indent(document.text, container.start) + document.step
    if document.text[last.lead : last.start] or len(container.entries or ()) < 2:
        return " "
    return ""


def _new(document: Document, container: Node, value: Json, key: str | None) -> str:
    """A new entry as text."""
    text = _written(value, _indent_for(document, container), document.step, document.line_end)
    if key is None:
        return text
    return f"{json.dumps(key, ensure_ascii=False)}: {text}"


def _indent_for(document: Document, container: Node) -> str | None:
    """How a new entry of a container is indented; None if the document has no lines."""
    if document.root.entries and "\n" not in document.text:
        return None
    around = _line_indent(document.text, container.start)
    if not container.entries:
        return around
    own = _indent_at(document.text, container.entries[-1].start)
    if own is not None:
        return own
    return around + document.step


def _written(value: Json, indent: str | None, step: str, line_end: str) -> str:
    """A value as text, its lines indented further than `indent`; on one line if that is None."""
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = None
    if indent is not None:
        inner = indent + step
    items: Iterator[str]
    if isinstance(value, dict):
        items = (
            f"{json.dumps(key, ensure_ascii=False)}: {_written(item, inner, step, line_end)}"
            for key, item in value.items()
        )
    else:
        items = (_written(item, inner, step, line_end) for item in value)
    brackets = "[]"
    if isinstance(value, dict):
        brackets = "{}"
    if inner is None:
        return f"{brackets[0]}{', '.join(items)} {brackets[1]}"
    return f"{brackets[0]}{line_end}{inner}{f',{line_end}{inner}'.join(items)}{line_end}{indent}{brackets[1]}"


def _indent_at(text: str, position: int) -> str | None:
    """The white space from the line's begin to a position; None if there is more than that."""
    before = text[text.rfind("\n", 0, position) + 1 : position]
    if "\n" in text[:position] and not before.strip(" \t"):
        return before
    return None


def _line_indent(text: str, position: int) -> str:
    """The white space with which the line of a position begins."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


# Reading --------------------------------------------------------------------------------------------------------------


class _Parser:
    """Reads a text once, strictly."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect
        self.at = 0
        self.lead = 0
        self.commented = False
        self.below_comment = False

    def document(self) -> Node:
        self.skip()
        root = self.value(0)
        self.skip()
        if self.at < len(self.text):
            raise self.error("something follows after the end")
        return root

    def error(self, what: str) -> FormatError:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - self.text.rfind("\n", 0, self.at)
        return FormatError(f"line {line}, column {column}: {what}", hint="mend the file, then try again")

    def skip(self) -> None:
        """Go over white space and comments; remember where the last white space began, and whether there was a comment."""
        self.commented = self.below_comment = False
        while True:
            self.lead = self.at
            self.at = _end_of(_SPACE, self.text, self.at)
            comment = _COMMENT.match(self.text, self.at)
            if comment is None:
                return
            if not self.dialect.comments:
                raise self.error("a comment, which this file cannot have")
            self.at, self.commented, self.below_comment = comment.end(), True, comment.group().startswith("//")

    def value(self, depth: int) -> Node:
        first = self.text[self.at : self.at + 1]
        if first in ("{", "["):
            if depth == _MOST_DEPTH:
                raise self.error("nested too deep")
            return self.container(first, depth + 1)
        found = _SCALAR.match(self.text, self.at)
        if found is None:
            raise self.error("a value is expected")
        node = Node(start=self.at, end=found.end(), value=json.loads(found.group()))
        self.at = found.end()
        return node

    def container(self, opening: str, depth: int) -> Node:
        node = Node(start=self.at, end=0, value=None, entries=[])
        closing = "]"
        if opening == "{":
            closing = "}"
        self.at += 1
        self.entries(node, closing, depth)
        self.at += 1
        node.end = self.at
        entries = node.entries or []
        is_object = opening == "{"
        if is_object:
            node.value = {e.key: e.node.value for e in entries}
        else:
            node.value = [e.node.value for e in entries]
        return node

    def entries(self, node: Node, closing: str, depth: int) -> None:
        """Read up to the closing bracket."""
        assert node.entries is not None, "a container has entries"
        while True:
            self.skip()
            node.comments |= self.commented
            if self.text[self.at : self.at + 1] == closing:
                if node.entries and not self.dialect.trailing_commas:
                    raise self.error("a value is expected after the comma")
                return
            entry = self.entry(closing == "}", depth)
            node.entries.append(entry)
            self.skip()
            node.comments |= self.commented
            mark = self.text[self.at : self.at + 1]
            if mark == closing:
                return
            if mark != ",":
                raise self.error(f"',' or '{closing}' is expected")
            entry.comma = self.at
            self.at += 1

    def entry(self, is_member: bool, depth: int) -> Entry:
        lead, start, below_comment = self.lead, self.at, self.below_comment
        key = None
        if is_member:
            key = self.key()
        return Entry(lead=lead, start=start, node=self.value(depth), key=key, below_comment=below_comment)

    def key(self) -> str:
        found = _SCALAR.match(self.text, self.at)
        if found is None or not found.group().startswith('"'):
            raise self.error("a name in quotes is expected")
        self.at = found.end()
        self.skip()
        if self.text[self.at : self.at + 1] != ":":
            raise self.error("':' is expected")
        self.at += 1
        self.skip()
        return str(json.loads(found.group()))


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    assert found is not None, "the pattern matches nothing as well"
    return found.end()
