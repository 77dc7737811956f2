"""PowerShell → syntax tree.

Owns the parser (tree-sitter with its grammar of PowerShell), and what has to be done to a text that the grammar would take
apart. Must not know what a node means. The grammar is loaded when the first text is met: few sessions hold one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from tallystick.model.pattern import pattern_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_MOST, _MOST_TEXTS = 24 << 10, 50
_SIGNS, _MOST_SIGNS = "|(){$[,=", 3000
"""Of texts made to hurt, the parser takes time by the square of how many of these are in them."""
_LONG = pattern_of(r"@'\r?\n.*?\n'@|@\"\r?\n.*?\n\"@", re.DOTALL)
_FIXED = pattern_of(
    r"(?P<comment>(?:(?<=\s)|\A)(?:#[^\n]*|<#.*?#>))|(?P<kept>@'\r?\n.*?\n'@|@\"\r?\n.*?\n\"@|\"(?:[^\"`]|`.|\"\")*\")"
    r"|(?P<null>[\d*]?>\s*\$null\b)|(?P<code>(?<![\w.$-])(?:iex|invoke-expression)(?=\())|(?P<input>(?<=\s)(?:--(?=\s)|-(?=\s*(?:[|;\n]|\Z))|-[A-Za-z]{1,3}\d\w{0,20}(?=\s)))"
    r"|(?P<start>(?:\A|(?<=[;\n{(|&]))[ \t]*(?:~|[\w.-]*)/[^\s;|&(){}'\"$,]*)"
    r"|(?P<list>(?<=\s)[\w.\\/:~-]*[A-Za-z.][\w.\\/:~-]*(?:,[ \t]*[\w.\\/:~-]+)+(?=[\s;|)}]|\Z))"
    r"|(?<=\d)(?P<unit>[kmgtp]b\b)"
    r"|(?P<comma>(?<=[\w'\")\]}*]),[ \t]+(?=[\w'\"$@(\[*]))"
    r"|(?P<option>(?<=\s)--?[\w-]+=)(?P<value>'[^']*'|\"[^\"]*\"|[^\s;|'\")}]*)"
    r"|(?P<text>'(?:[^']|'')*')"
    r"|(?P<path>(?<![\w$\])}.])(?:\$(?:env:)?\w+|\$\{[^}\n]+\})[\\/][^\s;|&(){}'\",]*)",
    re.DOTALL | re.IGNORECASE,
)
"""What the grammar (0.26.4) takes apart in a bare argument: `$HOME\\.x`, `--format=%h`, `2>$null`."""
_ARGUMENTS = pattern_of(r"((?:^|(?<=[;|&{]))[ \t]*[A-Za-z][\w.-]*)((?:[ \t]+[^\s;|&(){}'\"$,@]+)+)", re.MULTILINE)
"""A command and its bare arguments, among which there are no operators: `certutil -urlcache -split -f`."""
_OPERATOR = pattern_of(
    r"(?i)(?<=\s)-(?:i|c)?(?:split|join|replace|match|like|contains|in|is|as|eq|ne|gt|lt|ge|le|and|or)(?=\s)"
)
_THIN = frozenset(
    f"{kind}{each}_expression"
    for kind in ("logical", "bitwise", "comparison", "additive", "multiplicative", "format", "range")
    for each in ("", "_argument")
) | {
    "array_literal_expression", "unary_expression", "string_literal", "left_assignment_expression", "argument_expression",
    "command_name_expr", "member_name", "integer_literal", "pipeline_chain", "pipeline", "statement_list", "key_expression",
    "expression_with_unary_operator", "path_command_name",
}  # fmt: skip


@cache
def _parser() -> Parser:
    from tree_sitter import Language, Parser
    from tree_sitter_powershell import language

    return Parser(Language(language()))


def is_slow(text: str) -> bool:
    """Whether a text may take longer than a call can wait; long texts in it do not count."""
    if text.count("@'") + text.count('@"') > _MOST_TEXTS:
        return True
    plain = _LONG.sub("", text)
    return len(plain) > _MOST or sum(map(plain.count, _SIGNS)) > _MOST_SIGNS


def parse(text: str) -> Node:
    """The root of the tree of a text."""
    plain = _ARGUMENTS.sub(lambda found: found[1] + _OPERATOR.sub(r"'\g<0>'", found[2]), f"{text}\n")
    return _parser().parse(_fixed(plain).encode("utf-8", "replace")).root_node


def _fixed(text: str) -> str:
    def whole(match: re.Match[str]) -> str:
        if match["comment"] or match["unit"]:
            return ""
        if match["list"]:
            return ",".join(f"'{each.strip()}'" for each in match["list"].split(","))
        if match["start"]:
            return match["start"].replace("/", "\\")
        if match["null"] or match["comma"]:
            return "," if match["comma"] else ""
        if match["code"] or match["input"]:
            return f"{match['code']} " if match["code"] else f"'{match['input']}'"
        if match["option"]:
            return f'"{match["option"]}{match["value"].strip(chr(39) + chr(34))}"'
        return f'"{match["path"]}"' if match["path"] else match[0]

    return _FIXED.sub(whole, text)


def text_of(node: Node) -> str:
    """The text that a node stands for."""
    return (node.text or b"").decode("utf-8", "replace")


def below(node: Node, kinds: tuple[str, ...]) -> Iterator[Node]:
    """The nodes of some kinds at or below a node, but not those inside of one."""
    if node.type in kinds:
        yield node
        return
    for child in node.named_children:
        yield from below(child, kinds)


def unwrapped(node: Node) -> Node:
    """The node without those around it that say nothing."""
    while node.named_child_count == 1 and node.type in _THIN and node.named_children[0].type != "command":
        node = node.named_children[0]
    return node
