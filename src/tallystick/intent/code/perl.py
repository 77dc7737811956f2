"""Perl → what it does, read by its calls.

Owns Perl's functions that touch files, hosts and processes. Must not know statements: `scanning` reads calls. Sources:
perlfunc, perlop, and the documentation of File::Copy, File::Path, LWP::Simple and HTTP::Tiny.
"""

import re

from tallystick.catalog.loading import load
from tallystick.intent.actions import HOME, Found, or_hole
from tallystick.intent.code.scanning import Call, Language, Scan, scan
from tallystick.intent.code.tables import Functions, apply, operation_of, shell, table
from tallystick.intent.code.tokens import Dialect, unescaped
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE

_PATTERN = pattern_of(
    r"(?P<space>[^\S\n]+|(?<![$@%&])#[^\n]*|=~\s*(?:m|qr)?/(?:[^/\\\n]|\\.?)*+/?"
    r"|=~\s*(?:s|tr|y)/(?:[^/\\\n]|\\.?)*+/(?:[^/\\\n]|\\.?)*+/?)"
    r"|(?P<line>\n)"
    r'|(?P<template_1>"(?:[^"\\]|\\.?)*+(?:"|\Z))'
    r"|(?P<string_1>'(?:[^'\\]|\\.?)*+(?:'|\Z))"
    r"|(?P<command_1>`(?:[^`\\]|\\.?)*+(?:`|\Z)|\bqx\s?(?:\{(?:[^{}]|\{[^{}]*+\})*+(?:\}|\Z)|\([^()]*+(?:\)|\Z)))"
    r"|(?P<template_2>\bqq\s?(?:\{(?:[^{}]|\{[^{}]*+\})*+(?:\}|\Z)|\([^()]*+(?:\)|\Z)))"
    r"|(?P<string_2>\bq\s?(?:\{(?:[^{}]|\{[^{}]*+\})*+(?:\}|\Z)|\([^()]*+(?:\)|\Z)))"
    r"|(?P<name>[$@%]?[A-Za-z_]\w*(?:::\w+)*)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<sign>=>|->|\|\||&&|\.=|\+=|=~|==|\S)",
    re.DOTALL,
)
_HOME_FOLDER = pattern_of(r"""\$ENV\{['"]?HOME['"]?\}\s?\.\s?(['"])""")
_BARE_HOME = pattern_of(r"""([,(=]\s{0,3})\$ENV\{['"]?HOME['"]?\}(?=\s{0,3}(?:[,);]|\.\s?\w{1,20}\s?\(|\Z))""")
_DIAMOND = pattern_of(r"<([^<>\s;='\"\\*?]{0,200}[*?][^<>\s;='\"\\]{0,200})>")
"""`<*.txt>`: the files that a pattern names."""


_FACTS = load("code/perl", Functions)
_RULES = table(_FACTS.calls)
_INERT = _FACTS.inert
_METADATA = {"chmod": 1, "chown": 2, "utime": 2}
"""Functions that change the files of a list, and how many arguments stand before it."""
_ARGUMENTS = pattern_of(
    r"""@ARGV\s{0,9}=\s{0,9}\(?\s{0,9}(?:glob\s{0,3}\(?\s{0,3}|qw\s{0,3}[(/]\s{0,3})?["']?([~/$][^"'\s()]{1,300})"""
)
"""What `<>` and the loops of `-n` and `-p` read then."""
_REQUESTS = pattern_of(
    r"""(?:HTTP::Tiny|LWP::UserAgent|Mojo::UserAgent)->new(?:\([^()]{0,200}\))?\s{0,3}->\s{0,3}(get|post|put|delete|patch)"""
    r"""\s{0,3}\(\s{0,3}["'](https?://[^"'\s]{1,500})"""
)
_MODE = pattern_of(r"\s*(\+?[<>]{1,2}|\|)?\s*(.*?)\s*(\|)?\s*", re.DOTALL)


def read_perl(text: str, found: Found) -> None:
    """Note what a program does, as far as its calls tell."""
    for argument in _ARGUMENTS.findall(text)[:20]:
        found.file(
            Operation.READ, argument.replace("$ENV{HOME}", HOME) if argument[0] != "~" else f"{HOME}{argument[1:]}"
        )
    for method, address in _REQUESTS.findall(text)[:20]:
        operation = Operation.SEND
        if method == "get":
            operation = Operation.FETCH
        found.network(operation, address)
    text = _DIAMOND.sub(r'glob("\1")', text)
    text = _HOME_FOLDER.sub(lambda home: f"{home[1]}{HOME}", text)
    scan(_BARE_HOME.sub(r'\1"$ENV{HOME}"', text), found, _LANGUAGE)


def _calls(scan: Scan, call: Call) -> None:
    rule = _RULES.get(call.name)
    if call.name in ("open", "IO::File.new"):
        _open(scan, call)
    elif call.name in _METADATA:
        for argument in call.args[_METADATA[call.name] :]:
            scan.found.file(Operation.METADATA, scan.placed(argument.text))
    elif call.name == "sysopen":
        said = "".join(token.text for token in call.at(2).tokens)
        scan.found.file(Operation.READ if "O_RDONLY" in said else Operation.WRITE, scan.placed(call.text(1)))
    elif call.name in ("getstore", "mirror", "LWP::Simple::getstore"):
        scan.found.network(Operation.FETCH, call.text(0))
        scan.found.file(Operation.WRITE, scan.placed(call.text(1)))
    elif call.name in ("use", "require"):
        _loads(scan, call)
    elif call.name == "eval":
        if call.at(0).tokens and call.at(0).tokens[0].text != "{":
            scan.found.runs("perl", call.text(0))
    elif rule is not None and call.args:
        apply(scan, call, rule)
    else:
        _globs(scan, call)


def _globs(scan: Scan, call: Call) -> None:
    """`glob`: knows `~` as the shell does."""
    if call.name in ("glob", "bsd_glob", "File::Glob::bsd_glob") and call.args:
        pattern = call.text(0)
        is_at_home = pattern is not None and pattern.startswith("~/")
        scan.found.file(Operation.LIST, f"{HOME}{pattern[1:]}" if pattern and is_at_home else scan.placed(pattern))


def _open(scan: Scan, call: Call) -> None:
    """`open(FH, MODE, PATH)`, `open(FH, "MODE PATH")`, and both for the output or input of a command."""
    is_new = call.name != "open"
    if is_new:
        mode, path = call.text(1), call.text(0)
    else:
        mode, path = call.text(1), call.text(2)
    if is_new or len(call.args) >= 3:
        spelled = (mode or HOLE).partition(":")[0].strip()
        if "|" in spelled:
            _pipe(scan, call)
        elif call.at(2).tokens[:1] and call.at(2).tokens[0].text == "\\":
            return  # a text in memory
        else:
            scan.found.file(_operation(spelled), scan.placed(path))
        return
    found = None
    if mode is not None and len(mode) < 4096:
        found = _MODE.fullmatch(mode)
    if found is None:
        scan.found.file(Operation.READ, None)
    elif found[1] == "|" or found[3]:
        scan.found.runs("sh", found[2])
    elif found[2] != "-":
        scan.found.file(_operation(found[1] or "<"), scan.placed(found[2]))


def _pipe(scan: Scan, call: Call) -> None:
    shell(scan, Call(call.name, lambda: call.args[2:]))


def _operation(mode: str) -> Operation:
    told = {"<": "r", ">": "w", ">>": "a", "+<": "r+", "+>": "w", "+>>": "a"}
    return operation_of(told.get(mode, mode if mode in ("r", "w", "a", "r+") else None))


def _loads(scan: Scan, call: Call) -> None:
    """A module that is in no library is code that was not read."""
    token = call.at(0).tokens[:1]
    module = ""
    if token:
        module = token[0].text.split("::")[0]
    if not re.fullmatch(r"v?[\d._]*", module) and module not in _INERT:
        scan.found.is_unknown = True


def _texts(scan: Scan, call: Call) -> str | None:
    if call.name in ("catfile", "catdir", "File::Spec.catfile", "File::Spec.catdir"):
        return "/".join(or_hole(argument.text) for argument in call.args)
    if call.name in ("getcwd", "cwd", "Cwd::getcwd"):
        return "."
    return None


_LANGUAGE = Language(
    dialect=Dialect(
        pattern=_PATTERN,
        joins=frozenset("."),
        variable=pattern_of(
            r"(?<!\\)(\$ENV\{HOME\})|(?<!\\)(\$\w+)|(?<!\\)\$\{\w{1,60}\}|(?<!\\)@\w+|(?<!\\)\$[^\s\w]"
        ),
        unescape=unescaped,
        has_bare_calls=True,
    ),
    calls=_calls,
    texts=_texts,
    constants={"$ENV{HOME}": HOME},
)
