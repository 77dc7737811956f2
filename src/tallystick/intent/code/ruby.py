"""Ruby → what it does, read by its calls.

Owns Ruby's methods that touch files, hosts and processes. Must not know statements: `scanning` reads calls. Sources: the
documentation of Ruby's core (IO, File, Dir, Kernel) and of fileutils, open3, net/http and open-uri.
"""

import re
from collections.abc import Mapping

from tallystick.catalog.loading import load
from tallystick.intent.actions import HOME, Found, or_hole
from tallystick.intent.code.indirect import plain_sends
from tallystick.intent.code.scanning import Call, Language, Scan, scan
from tallystick.intent.code.tables import Functions, apply, operation_of, table, writes
from tallystick.intent.code.tokens import Dialect, Token, unescaped
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE

_PATTERN = pattern_of(
    r"(?P<space>[^\S\n]+|#[^\n]*|=~\s*/(?:[^/\\\n]|\\.?)*+/?)"
    r"|(?P<line>\n)"
    r'|(?P<template_1>"(?:[^"\\]|\\.?)*+(?:"|\Z))'
    r"|(?P<string_1>'(?:[^'\\]|\\.?)*+(?:'|\Z))"
    r"|(?P<command_1>`(?:[^`\\]|\\.?)*+(?:`|\Z)|%x(?:\{[^{}]*+(?:\}|\Z)|\([^()]*+(?:\)|\Z)|\[[^\[\]]*+(?:\]|\Z)))"
    r"|(?P<template_2>%Q?(?:\{[^{}]*+(?:\}|\Z)|\([^()]*+(?:\)|\Z)))"
    r"|(?P<string_2>%q(?:\{[^{}]*+(?:\}|\Z)|\([^()]*+(?:\)|\Z)))"
    r"|(?P<name>[@$]{0,2}[A-Za-z_]\w*[?!]?)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<sign>=>|::|&\.|\|\||&&|<<|\+=|=~|==|\S)",
    re.DOTALL,
)


_FACTS = load("code/ruby", Functions)
_RULES = table(_FACTS.calls)
_HOME_FOLDER = pattern_of(r"""ENV(?:\[|\.fetch\()\s?(['"])HOME\1\s?[\])]""")
_WORDS = pattern_of(r"(?<![\w)\]}])(\*?)%w(?:\[([^\[\]]{0,800})\]|\(([^()]{0,800})\)|\{([^{}]{0,800})\})")
_INERT = _FACTS.inert


def read_ruby(text: str, found: Found) -> None:
    """Note what a program does, as far as its calls tell."""
    scan(plain_sends(_HOME_FOLDER.sub("Dir.home", _WORDS.sub(_listed, text))), found, _LANGUAGE)


def _listed(words: re.Match[str]) -> str:
    """A list of words as one of strings, or, with `*` before it, as arguments."""
    given = (words[2] or words[3] or words[4] or "").split()
    inside = ", ".join(f"'{word}'" for word in given if "'" not in word)
    return inside if words[1] else f"[{inside}]"


def _calls(scan: Scan, call: Call) -> None:
    found = scan.found
    rule = _RULES.get(call.name)
    if call.name in ("File.write", "IO.write", "File.binwrite", "IO.binwrite"):
        mode = call.at(2).says("mode")
        if mode is not None:
            found.file(operation_of(mode), scan.placed(call.text(0)))
        else:
            writes(scan, call.at(0), call.at(1))
    elif call.name in ("File.open", "File.new", "open", "CSV.open", "Kernel.open", "PStore.new"):
        _open(scan, call)
    elif call.name == "Dir.glob":
        found.file(Operation.LIST, scan.placed(call.text(0)), is_deep=True)
    elif call.name == "require":
        found.is_unknown |= (call.text(0) or HOLE) not in _INERT
    elif call.name in ("eval", "instance_eval", "class_eval") and call.args:
        found.runs("ruby", call.text(0))
    elif rule is not None and call.args:
        apply(scan, call, rule)


def _open(scan: Scan, call: Call) -> None:
    path = call.text(0)
    if path is not None and "://" in path[:12]:
        scan.found.network(Operation.FETCH, path)
    elif path is not None and path.startswith("|"):
        scan.found.runs("sh", path[1:])
    elif call.args:
        said = call.at(1)
        is_mode = len(call.args) > 1 and said.says("mode") is None
        if is_mode:
            mode = said.text
        else:
            mode = said.says("mode") or "r"
        scan.found.file(operation_of(mode), scan.placed(path))


def _texts(scan: Scan, call: Call) -> str | None:
    parts = [or_hole(argument.text) for argument in call.args]
    if call.name in ("File.join", "Pathname.new", "Pathname"):
        if len(parts) > 1:
            return "/".join(part.rstrip("/") or "" for part in parts)
        if parts:
            return parts[0]
        return None
    if call.name == "File.expand_path" and parts:
        if parts[0] == "~" or parts[0].startswith("~/"):
            known = HOME + parts[0][1:]
        else:
            known = parts[0]
        if len(parts) == 1 or known.startswith(("/", HOME)):
            return known
        return f"{parts[1]}/{known}"
    if call.name in ("Dir.home", "Dir.pwd", "Dir.getwd"):
        if call.name == "Dir.home":
            return HOME
        return "."
    if call.name in ("URI", "URI.parse", "String"):
        return call.text(0)
    return None


def _names(program: list[Token]) -> Mapping[str, str]:
    """With `include FileUtils` its methods have no owner."""
    has = any(token.text == "include" and program[at + 1 : at + 2] and program[at + 1].text == "FileUtils"
              for at, token in enumerate(program))  # fmt: skip
    short = ("rm", "rm_f", "rm_r", "rm_rf", "cp", "cp_r", "mv", "mkdir_p", "mkdir", "touch", "ln_s", "chmod", "cd")
    if has:
        return {name: f"FileUtils.{name}" for name in short}
    return {}


_LANGUAGE = Language(
    dialect=Dialect(
        pattern=_PATTERN,
        joins=frozenset("+"),
        variable=pattern_of(r"#\{([^{}]{0,200})\}"),
        unescape=unescaped,
        has_bare_calls=True,
    ),
    calls=_calls,
    texts=_texts,
    names=_names,
    constants={"Dir.home": HOME, "Dir.pwd": ".", "__FILE__": HOLE, "__dir__": HOLE},
)
