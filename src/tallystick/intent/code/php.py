"""PHP → what it does, read by its calls.

Owns PHP's functions that touch files, hosts and processes. Must not know statements: `scanning` reads calls. Source: the PHP
manual (file system, program execution, cURL, sockets).
"""

import re

from tallystick.catalog.loading import load
from tallystick.intent.actions import HOME, Found
from tallystick.intent.code.indirect import plain_names
from tallystick.intent.code.scanning import Call, Language, Scan, scan
from tallystick.intent.code.tables import Functions, apply, operation_of, table, writes
from tallystick.intent.code.tokens import Dialect, unescaped
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE

_PATTERN = pattern_of(
    r"(?P<space>[^\S\n]+|//[^\n]*|#[^\n]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/|\Z)|<\?php\b|\?>)"
    r"|(?P<line>\n)"
    r'|(?P<template>"(?:[^"\\]|\\.?)*+(?:"|\Z))'
    r"|(?P<string>'(?:[^'\\]|\\.?)*+(?:'|\Z))"
    r"|(?P<command>`(?:[^`\\]|\\.?)*+(?:`|\Z))"
    r"|(?P<name>\$?[A-Za-z_]\w*)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<sign>=>|->|::|\.=|==|\S)",
    re.DOTALL,
)
_HOME_FOLDER = pattern_of(r"""\$_(?:SERVER|ENV)\[\s?(['"])HOME\1\s?\]""")


_FACTS = load("code/php", Functions)
_RULES = table(_FACTS.calls)


def read_php(text: str, found: Found) -> None:
    """Note what a PHP program does, as far as its calls tell."""
    text = _HOME_FOLDER.sub("getenv('HOME')", text)
    scan(plain_names(text), found, _LANGUAGE)


def _calls(scan: Scan, call: Call) -> None:
    rule = _RULES.get(call.name)
    path = call.text(0)
    if path is not None and path.startswith("php://"):
        return  # what the process itself is given and gives
    is_url = path is not None and "://" in path[:12] and not path.startswith("file://")
    if is_url and call.name in ("file_get_contents", "fopen", "file", "readfile", "copy"):
        scan.found.network(Operation.FETCH, path)
        if call.name == "copy":
            scan.found.file(Operation.WRITE, scan.placed(call.text(1)))
    elif call.name == "file_get_contents":
        scan.found.file(Operation.READ, scan.placed(path))
    elif call.name == "file_put_contents":
        if any(token.text == "FILE_APPEND" for token in call.at(2).tokens):
            scan.found.file(Operation.APPEND, scan.placed(path))
        else:
            writes(scan, call.at(0), call.at(1))
    elif call.name == "fopen":
        scan.found.file(operation_of(call.text(1)), scan.placed(path))
    elif call.name in ("eval", "assert") and call.args:
        scan.found.runs("php", path)
    elif rule is not None and call.args:
        apply(scan, call, rule)
    else:
        _each(scan, call)


def _each(scan: Scan, call: Call) -> None:
    """A function that another one calls for each of some files, by its name."""
    if call.name in ("array_map", "array_walk") and call.text(0) in ("unlink", "rmdir"):
        scan.found.file(Operation.DELETE, None)


def _texts(scan: Scan, call: Call) -> str | None:
    if call.name == "getenv":
        if call.text(0) == "HOME":
            return HOME
        return HOLE
    if call.name == "getcwd":
        return "."
    return None


_LANGUAGE = Language(
    dialect=Dialect(
        pattern=_PATTERN,
        joins=frozenset("."),
        variable=pattern_of(r"(?<!\\)\{(\$\w+)\}|(?<!\\)(\$\w+)|(?<!\\)\{\$[^{}]{1,60}\}"),
        unescape=unescaped,
        has_bare_calls=True,
    ),
    calls=_calls,
    texts=_texts,
    constants={"__DIR__": HOLE, "__FILE__": HOLE, "PHP_EOL": "\n", "DIRECTORY_SEPARATOR": "/"},
)
