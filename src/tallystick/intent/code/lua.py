"""Lua → what it does, read by its calls.

Owns Lua's functions that touch files and processes. Must not know statements: `scanning` reads calls. Source: the Lua 5.4
reference manual, 6.1, 6.8 and 6.9.
"""

import re

from tallystick.catalog.loading import load
from tallystick.intent.actions import HOME, Found
from tallystick.intent.code.indirect import plain_members
from tallystick.intent.code.scanning import Call, Language, Scan, scan
from tallystick.intent.code.tables import Functions, apply, operation_of, table
from tallystick.intent.code.tokens import Dialect, unescaped
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE

_PATTERN = pattern_of(
    r"(?P<space>[^\S\n]+|--\[\[[^\]]*+(?:\](?!\])[^\]]*+)*(?:\]\]|\Z)|--[^\n]*)"
    r"|(?P<line>\n)"
    r'|(?P<string_1>"(?:[^"\\\n]|\\.?)*+(?:"|(?=\n)|\Z))'
    r"|(?P<string_2>'(?:[^'\\\n]|\\.?)*+(?:'|(?=\n)|\Z))"
    r"|(?P<string_3>\[\[[^\]]*+(?:\](?!\])[^\]]*+)*(?:\]\]|\Z))"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<sign>\.\.|==|\S)",
    re.DOTALL,
)


_FACTS = load("code/lua", Functions)
_RULES = table(_FACTS.calls)


def read_lua(text: str, found: Found) -> None:
    """Note what a Lua program does, as far as its calls tell."""
    scan(plain_members(text), found, _LANGUAGE)


def _calls(scan: Scan, call: Call) -> None:
    rule = _RULES.get(call.name)
    if call.name == "io.open":
        if len(call.args) > 1:
            mode = call.text(1)
        else:
            mode = "r"
        scan.found.file(operation_of(mode), scan.placed(call.text(0)))
    elif call.name == "require":
        scan.found.is_unknown = True
    elif call.name in ("load", "loadstring"):
        scan.found.runs("lua", call.text(0))
    elif rule is not None and call.args:
        apply(scan, call, rule)


def _texts(scan: Scan, call: Call) -> str | None:
    if call.name != "os.getenv":
        return None
    if call.text(0) == "HOME":
        return HOME
    return HOLE


_LANGUAGE = Language(
    dialect=Dialect(
        pattern=_PATTERN,
        joins=frozenset((".", "..")),
        variable=pattern_of(r"(?!)"),
        unescape=unescaped,
        has_bare_calls=True,
    ),
    calls=_calls,
    texts=_texts,
)
