"""Languages of filters: awk, sed, jq and yq → the files that they read and write, and the commands that they run.

Owns redirections of `print` and `getline`, `system` and texts that are put side by side in awk; where a command of sed
begins and ends; and the few words by which jq and yq read files. Must not know the files that the programs are given.
Sources: awk(1) of POSIX; the manual of gawk, "Redirecting Output" and "Explicit Input with getline"; sed(1) of GNU and
of POSIX; jq(1); the manual of yq, "load".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tallystick.intent.actions import HOME, Found
from tallystick.intent.code.tokens import Dialect, Token, tokens, unescaped
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE

_DIALECT = Dialect(
    pattern=pattern_of(
        r"(?P<space>(?:(?<=[({,;~!&|])|^)[^\S\n]*/(?:[^/\\\n]|\\.?)*+/?|[^\S\n]+|#[^\n]*|\\\n)"
        r"|(?P<line>\n)"
        r'|(?P<string>"(?:[^"\\\n]|\\.?)*+(?:"|(?=\n)|\Z))'
        r"|(?P<name>[A-Za-z_]\w*)"
        r"|(?P<number>\d[\w.]*|\$\d+)"
        r"|(?P<sign>>>|\|&|\|\||&&|==|\S)",
        re.DOTALL | re.MULTILINE,
    ),
    joins=frozenset(),
    variable=pattern_of(r"(?!)"),
    unescape=unescaped,
)
_HOME_FOLDER = pattern_of(r'ENVIRON\["HOME"\]')
_ENDS = frozenset((";", "}", "{", ")", "&&", "||", ",", "?"))
_OUTPUTS = frozenset((">", ">>", "|", "|&"))
_NO_FILES = ("/dev/stdout", "/dev/stderr", "/dev/stdin", "-", "/dev/tty")
_SOCKET = pattern_of(r"/inet[46]?/(?:tcp|udp)/[^/]*/([^/]+)/([^/]+)")


def read_awk(text: str, found: Found) -> None:
    """Note what a program does besides printing."""
    program, is_whole = tokens(_HOME_FOLDER.sub(f'"{HOME}"', text), _DIALECT)
    found.is_unknown |= not is_whole
    bound = _bindings(program)
    is_printing, depth = False, 0
    for place, token in enumerate(program):
        if token.kind == "line" or token.text in (";", "}"):
            is_printing, depth = False, 0
        elif token.kind == "name" and token.text in ("print", "printf"):
            is_printing, depth = True, 0
        elif token.kind == "sign" and token.text in "()":
            if token.text == "(":
                depth += 1
            else:
                depth += -1
        if is_printing and depth == 0 and token.kind == "sign" and token.text in _OUTPUTS:
            _output(found, token.text, _text(program, place + 1, bound))
        elif token.kind == "name":
            _name(found, program, place, bound)


def _name(found: Found, program: Sequence[Token], place: int, bound: dict[str, str]) -> None:
    word = program[place].text
    if word == "system":
        found.runs("sh", _text(program, place + 2, bound))
    elif word == "getline":
        _input(found, program, place, bound)
    elif word in ("include", "load") and place and program[place - 1].text == "@":
        found.file(Operation.EXECUTE, _text(program, place + 1, bound))


def _bindings(program: Sequence[Token]) -> dict[str, str]:
    """Names that are bound once, to a text."""
    found: dict[str, str] = {}
    changed: set[str] = set()
    for place, token in enumerate(program[:-2]):
        is_bound = token.kind == "name" and program[place + 1].text == "=" and program[place + 2].text != "="
        if is_bound:
            if token.text in found or program[place + 2].kind != "string":
                changed |= {token.text}
            else:
                changed |= set()
            end = next((n for n in range(place + 2, len(program)) if program[n].kind != "string"), len(program))
            parts = [unescaped(part.text) for part in program[place + 2 : max(end, place + 3)]]
            found[token.text] = "".join(parts) + ("" if _is_end(program, max(end, place + 3)) else HOLE)
    return {name: text for name, text in found.items() if name not in changed}


def _is_end(program: Sequence[Token], place: int) -> bool:
    return place >= len(program) or program[place].kind == "line" or program[place].text in _ENDS


def _text(program: Sequence[Token], place: int, bound: dict[str, str]) -> str | None:
    """The text of parts that stand side by side."""
    found: list[str] = []
    depth = 0
    for token in program[place : place + 40]:
        if token.kind == "line" or (depth == 0 and token.kind == "sign" and token.text in _ENDS | _OUTPUTS):
            break
        if token.kind == "sign":
            depth += (token.text == "(") - (token.text == ")")
        if token.kind == "string":
            found.append(unescaped(token.text))
        elif token.text not in ("(", ")") or token.kind != "sign":
            found.append(bound.get(token.text, HOLE))
    known = "".join(found)
    if known.strip(HOLE):
        return known
    return None


def _output(found: Found, sign: str, target: str | None) -> None:
    if target is not None and (socket := _SOCKET.fullmatch(target[:500])) is not None:
        found.network(Operation.CONNECT, f"{socket[1]}:{socket[2]}")
    elif sign in ("|", "|&"):
        found.runs("sh", target)
    elif target not in _NO_FILES:
        operation = Operation.WRITE
        if sign == ">>":
            operation = Operation.APPEND
        found.file(operation, target)


def _input(found: Found, program: Sequence[Token], place: int, bound: dict[str, str]) -> None:
    """`"command" | getline`, `getline [name] < "file"`."""
    before = ""
    if place:
        before = program[place - 1].text
    if before in ("|", "|&") and place > 1:
        command = program[place - 2]
        if command.kind != "string":
            known = bound.get(command.text)
        else:
            known = unescaped(command.text)
        found.runs("sh", known)
        return
    for ahead in range(place + 1, min(place + 6, len(program))):
        if program[ahead].text == "<":
            target = _text(program, ahead + 1, bound)
            if target not in _NO_FILES:
                found.file(Operation.READ, target)
            return
        if program[ahead].kind == "line" or program[ahead].text in _ENDS:
            return


_MOST_COMMANDS = 2000
_ADDRESS = pattern_of(
    r"[\s;{}]*(?:(?:\d+|\$|/(?:[^/\\\n]|\\.?)*+/[IM]*|\\(.)(?:(?!\1)[^\n])*.?[IM]*)(?:[,~+]\s*)?)*\s*!?\s*"
)
_TO_END = pattern_of(r"[^\n]*")
_TEXT = pattern_of(r"(?:[^\\\n]|\\(?:.|\n|\Z))*+")
_NAME = pattern_of(r"[^;\n}]*")
_FLAGS = pattern_of(r"(?:[gpiImM]|\d+)*")
_NO_FILES_OF_SED = ("/dev/stdout", "/dev/stderr", "/dev/stdin", "")


def read_sed(text: str, found: Found) -> None:
    """Note what a script does besides changing lines."""
    place = 0
    for _ in range(_MOST_COMMANDS):
        address = _ADDRESS.match(text, place)
        if address is not None:
            place = address.end()
        if place >= len(text):
            return
        place = _command(found, text, place)
    found.is_unknown = True


def _command(found: Found, text: str, place: int) -> int:
    """One command; the place after it."""
    letter, place = text[place], place + 1
    if letter in "rRwW":
        name = _rest(_TO_END, text, place)
        operation = Operation.WRITE
        if letter in "rR":
            operation = Operation.READ
        _file(found, operation, name.strip())
        return place + len(name)
    if letter == "e":
        command = _rest(_TO_END, text, place)
        found.runs("sh", command.strip() or None)
        return place + len(command)
    if letter in "sy":
        return _substitution(found, text, place, letter)
    if letter in "aic":
        return place + len(_rest(_TEXT, text, place))
    if letter == "#":
        return place + len(_rest(_TO_END, text, place))
    if letter in "btT:qQlL":
        return place + len(_rest(_NAME, text, place))
    return place


def _rest(pattern: re.Pattern[str], text: str, place: int) -> str:
    found = pattern.match(text, place)
    if found is None:
        return ""
    return found[0]


def _substitution(found: Found, text: str, place: int, letter: str) -> int:
    """`s/a/b/flags`: `w FILE` writes lines, `e` runs what comes out."""
    delimiter = text[place : place + 1]
    for _ in range(2):
        place = _after(text, place + 1, delimiter)
    place += 1
    if letter == "y":
        return place
    flags = _rest(_FLAGS, text, place)
    place += len(flags)
    if text[place : place + 1] == "e":
        found.is_unknown = True
        return place + 1
    if text[place : place + 1] == "w":
        name = _rest(_TO_END, text, place + 1)
        _file(found, Operation.WRITE, name.strip())
        return place + 1 + len(name)
    return place


def _after(text: str, place: int, delimiter: str) -> int:
    """The place of the next delimiter that no backslash and no bracket hides; the end, if none exists."""
    in_class = False
    while place < len(text):
        letter = text[place]
        if letter == "\\":
            place += 1
        elif letter == "[":
            in_class = True
        elif letter == "]":
            in_class = False
        elif letter == delimiter and not in_class:
            return place
        place += 1
    return len(text)


def _file(found: Found, operation: Operation, name: str) -> None:
    if name not in _NO_FILES_OF_SED:
        found.file(operation, name)


_LOADS = pattern_of(r"\b(?:load|load_str|load_xml|load_props|load_base64|strload)\s{0,20}\(\s{0,20}\"([^\"]{1,4096})\"")


def read_filter(text: str, found: Found) -> None:
    """Note what an expression reads besides its input."""
    for load in _LOADS.finditer(text[:131_072]):
        found.file(Operation.READ, load[1])
