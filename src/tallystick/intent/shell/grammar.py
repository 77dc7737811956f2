"""Text → syntax tree.

Owns the parser (tree-sitter with its grammar of bash). Must not know what a node means.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator
from functools import cache, lru_cache

from tree_sitter import Language, Node, Parser
from tree_sitter_bash import language

from tallystick.intent.shell.blanks import is_ambiguous, joined
from tallystick.model.pattern import pattern_of

__all__ = ["MOST_BYTES", "Node", "glued", "is_broken", "is_lost", "is_slow", "parse", "text_of"]

MOST_BYTES = 256 << 10
_MOST_PLAIN = 16 << 10
_SLOW, _MOST_SLOW = "|()<>{$[&", 800
"""Of texts made to hurt, the parser takes time by the square of how many of these are in them."""
_LEAST_QUOTED = 200
_MOST_SPANS = 64
_MASKED = bytes(byte if byte < 0x80 else ord(".") for byte in range(0x100))
"""The grammar's scanner (0.25.1) looks characters up in a table for ASCII, and reads beyond it for others: a crash of the
whole process for `{` before one above U+FFFF (tree-sitter-bash issue 337). It is given none; all are parts of words."""
_MEETING = pattern_of(rb"``+|\\`")
_INK = pattern_of(r"\S")
_OPENING = pattern_of(r"(?<![\\\w$'\"])'|<<-?[ \t]*(?P<quote>['\"])(?P<end>\w{1,40})(?P=quote)")


@cache
def _parser() -> Parser:
    return Parser(Language(language()))


def is_slow(text: str) -> bool:
    """Whether a text may take longer than a call can wait; quoted text in it does not count."""
    size = len(text)
    if size > MOST_BYTES:
        return True
    if size <= _MOST_SLOW:
        return False
    spans = _quoted(text)
    plain = text
    if spans:
        plain = _without(text, spans)
    return len(plain) > _MOST_PLAIN or sum(map(plain.count, _SLOW)) > _MOST_SLOW


def parse(text: str) -> Node | None:
    """The root of the tree of a text. It has errors in it where the text is not a shell: see `Node.has_error`.

    Long quoted parts are parsed as if they were blank, which is quick whatever is in them. Where the grammar then finds
    something else than quoted text there, None.
    """
    whole = text.encode("utf-8", "replace")
    if len(whole) > _MOST_SLOW:
        spans = [*_quoted(text)]
    else:
        spans = []
    if not spans and text.isascii() and not is_ambiguous(text):
        return _parser().parse(whole).root_node
    spans = [(_bytes_before(text, start), _bytes_before(text, end)) for start, end in spans]
    source = bytearray(joined(whole).translate(_MASKED))
    for start, end in spans:
        source[start:end] = b"\n".join(b"x" * len(line) for line in whole[start:end].split(b"\n"))
    root = _parser().parse(source).root_node
    for start, end in spans:
        node = root.descendant_for_byte_range(start, end)
        if node is None or node.type not in ("raw_string", "heredoc_body"):
            return None
    source[:] = whole  # the tree holds positions; text is taken from here when it is asked for
    return root


def _bytes_before(text: str, at: int) -> int:
    return len(text[:at].encode("utf-8", "replace"))


@lru_cache(maxsize=4)
def _quoted(text: str) -> tuple[tuple[int, int], ...]:
    """Where long strings and here-documents seem to be in which nothing is expanded.

    It is asked of a text before it is parsed, and when it is.
    """
    ends: dict[str, list[int]] | None = None
    spans: list[tuple[int, int]] = []
    at = 0
    while (found := _OPENING.search(text, at)) is not None and len(spans) < _MOST_SPANS:
        at = found.end()
        if found["end"] is None:
            end = text.find("'", at)
            if end < 0:
                break
            start, at = at, end + 1
        else:
            start = text.find("\n", at) + 1
            if ends is None:
                ends = _lines(text)
            places = ends.get(found["end"], [])
            n = bisect.bisect_left(places, start)
            if not start or n == len(places):
                continue
            end = at = places[n]
            start = _first_in(text, start, end)  # the grammar begins a body at its first character that is not a blank
        if end - start >= _LEAST_QUOTED:
            spans.append((start, end))
    return tuple(spans)


def _lines(text: str) -> dict[str, list[int]]:
    """Where the lines of a text begin, by what they hold without blanks around it."""
    ends: dict[str, list[int]] = {}
    at = 0
    for line in text.split("\n"):
        ends.setdefault(line.strip(" \t"), []).append(at)
        at += len(line) + 1
    return ends


def _first_in(text: str, start: int, end: int) -> int:
    found = _INK.search(text, start, end)
    if found is not None:
        return found.start()
    return end


def _without(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    edges = [0, *(at for span in spans for at in span), len(text)]
    return "".join(text[edges[n] : edges[n + 1]] for n in range(0, len(edges), 2))


def is_lost(root: Node) -> bool:
    """Whether the grammar may have lost its way: it does at errors, and among back-quotes that meet or are in others."""
    if is_broken(root):
        return True
    found = list(itertools.islice(_MEETING.finditer(root.text or b""), _MOST_SPANS))
    return len(found) == _MOST_SPANS or not all(_is_inert(root, each) for each in found)


def _is_inert(root: Node, found: re.Match[bytes]) -> bool:
    """Whether back-quotes stand where they mean nothing."""
    at = root.start_byte
    node = root.descendant_for_byte_range(at + found.start(), at + found.end())
    if node is not None and node.type == "string_content" and found[0].startswith(b"\\"):
        while node is not None and not (node.text or b"").startswith(b"`"):
            node = node.parent
        return node is None
    return node is not None and node.type in ("raw_string", "comment", "heredoc_body", "heredoc_content")


def is_broken(root: Node) -> bool:
    """Whether a tree has errors other than in `<>`, which the grammar does not know."""
    return root.has_error and not all(_is_of_both(node) for node in _errors(root))


def _is_of_both(node: Node) -> bool:
    before, after = node.prev_sibling, node.next_sibling
    if node.text == b">":
        return before is not None and before.type == "<"
    return (
        node.text == b"<" and after is not None and after.type == "file_redirect" and after.start_byte == node.end_byte
    )


def _errors(root: Node) -> Iterator[Node]:
    left = [root]
    while left:
        for child in left.pop().children:
            if child.is_error or child.is_missing:
                yield child
            elif child.has_error:
                left.append(child)


def glued(nodes: list[Node]) -> list[list[Node]]:
    """Nodes in groups that stand without a blank between them, and so are one word.

    The grammar ends a word after a quote where an escape follows, and before a back-quote.
    """
    groups: list[list[Node]] = []
    for node in nodes:
        if groups and groups[-1][-1].end_byte == node.start_byte:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def is_descriptor(node: Node) -> bool:
    """Whether a number stands right before a redirect, and so tells which descriptor; the grammar may take it for a word."""
    if node.type != "number":
        return False
    at: Node | None = node
    while at is not None and at.next_sibling is None:
        at = at.parent
    after = None
    if at is not None:
        after = at.next_sibling
    return after is not None and after.type == "file_redirect" and after.start_byte == node.end_byte


def descriptor_before(node: Node) -> str:
    """The descriptor of a redirect that the grammar took for a word before it."""
    before = node.prev_sibling
    while before is not None and before.children:
        before = before.children[-1]
    is_number = before is not None and before.type == "number" and before.end_byte == node.start_byte
    if before is not None and is_number:
        return text_of(before)
    return ""


def text_of(node: Node) -> str:
    """The text that a node stands for."""
    return (node.text or b"").decode("utf-8", "replace")
