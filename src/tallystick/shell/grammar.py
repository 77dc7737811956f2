"""Text → syntax tree.

Owns the parser (tree-sitter with its grammar of bash). Must not know what a node means.
"""

from __future__ import annotations

from functools import cache

from tree_sitter import Language, Node, Parser
from tree_sitter_bash import language

__all__ = ["Node", "glued", "parse", "text_of"]


@cache
def _parser() -> Parser:
    return Parser(Language(language()))


def parse(text: str) -> Node:
    """The root of the tree of a text. It has errors in it where the text is no shell: see `Node.has_error`."""
    return _parser().parse(text.encode("utf-8", "replace")).root_node


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


def text_of(node: Node) -> str:
    """The text that a node stands for."""
    return (node.text or b"").decode("utf-8", "replace")
