"""Changes of how a file is spelled, while it says the same or almost: ends of lines, marks, encodings, numbers, escapes.

Owns which spellings are tried. Must not know what a member means.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tools.fuzz_stores.case import Case, lines_of

NUMBER = re.compile(rb"(?<=[:,\[])-?\d+(?=[,}\]])")
NUMBERS = (
    *(
        "1.0",
        "1e0",
        "1E0",
        "-0",
        "-0.0",
        "00",
        "01",
        "+1",
        "1e400",
        "-1e400",
        "1e-400",
        "0x1",
        "1_000",
        "NaN",
        "Infinity",
    ),
    *(
        "9007199254740993",
        "-9007199254740993",
        "9007199254740992.0",
        "1e23",
        "123456789012345678901234567890",
        "1.",
        ".5",
    ),
    *(
        "0.1e1",
        "4.9e-324",
        "5e-324",
        "1.7976931348623157e308",
        "\u0661",
        "1n",
        "0b1",
        "true1",
        "undefined",
        "'1'",
        '"1"',
    ),
)
CHARACTER = re.compile(rb'(?<=[\w"])[a-z/](?=[\w"])')


def unend(case: Case) -> str | None:
    """The last line has no LF, or only half of it is there."""
    path = case.choose(case.chained())
    if path is None:
        return None
    data = path.read_bytes()
    last = data.rfind(b"\n", 0, max(0, len(data) - 1)) + 1
    end = case.chance.choice((len(data) - 1, len(data) - 2, (last + len(data)) // 2, last + 1, last))
    path.write_bytes(data[: max(0, end)])
    return f"{path.name}: ends at {end} of {len(data)}, its last line begins at {last}"


ENDS = (b"\r\n", b"\r", b"\n\r", b"\n\n", b" \n", b"\xe2\x80\xa8", b"\x0b", b"\x0c\n", b"\x00\n", b"")


def end_lines(case: Case) -> str | None:
    """All lines of a file, or one, end otherwise."""
    path = case.choose(case.record())
    if path is None:
        return None
    data, end = path.read_bytes(), case.chance.choice(ENDS)
    lines = data.split(b"\n")
    if len(lines) < 2:
        return None
    if case.chance.random() < 0.4:
        path.write_bytes(data.replace(b"\n", end))
        return f"{path.name}: all lines end with {end!r}"
    at = case.chance.randrange(len(lines) - 1)
    path.write_bytes(b"\n".join([*lines[:at], lines[at] + end + lines[at + 1], *lines[at + 2 :]]))
    return f"{path.name}: line {at} ends with {end!r}"


def encode(case: Case) -> str | None:
    """A file is in another encoding, or begins with a mark."""
    path = case.choose(case.record())
    if path is None:
        return None
    data = path.read_bytes()
    text = data.decode("utf-8", "surrogateescape")
    ways: dict[str, Callable[[], bytes]] = {
        "a mark": lambda: b"\xef\xbb\xbf" + data,
        "UTF-16": lambda: text.encode("utf-16", "replace"),
        "UTF-16BE": lambda: text.encode("utf-16-be", "replace"),
        "UTF-32": lambda: text.encode("utf-32", "replace"),
        "UTF-7": lambda: text.encode("utf-7", "replace"),
        "overlong": lambda: data.replace(b"/", b"\xc0\xaf").replace(b"a", b"\xc1\xa1", 1),
        "pairs of surrogates": lambda: (
            text.replace("e", "\U0001f600", 1).encode("utf-16-be").decode("utf-16-be").encode("utf-8")
        ),
        "a mark in a line": lambda: data.replace(b":", b":\xef\xbb\xbf", 1),
        "compressed": lambda: b"\x1f\x8b\x08\x00" + data,
    }
    way = case.chance.choice(list(ways))
    try:
        path.write_bytes(ways[way]())
    except UnicodeError:
        return None
    return f"{path.name}: {way}"


def _in_line(case: Case, pattern: re.Pattern[bytes], spell: Callable[[bytes], bytes]) -> str | None:
    """Spell one match in one line otherwise."""
    path = case.choose(case.chained())
    lines = lines_of(path) if path is not None else []
    if path is None or len(lines) < 2:
        return None
    at = case.chance.randrange(len(lines) - 1)
    found = case.choose(list(pattern.finditer(lines[at])))
    if found is None:
        return None
    text = spell(found[0])
    lines[at] = lines[at][: found.start()] + text + lines[at][found.end() :]
    path.write_bytes(b"\n".join(lines))
    return f"{path.name}:{at}: {found[0]!r} at {found.start()} is {text!r}"


def spell_number(case: Case) -> str | None:
    """A number is written as JSON, or a language near it, might write it."""
    return _in_line(
        case, NUMBER, lambda said: case.chance.choice((*NUMBERS, f"{said.decode()}.0", f"{said.decode()}e0")).encode()
    )


def escape(case: Case) -> str | None:
    """A character is written as an escape that JSON has, or has not."""

    def spell(said: bytes) -> bytes:
        code = said[0]
        ways = (
            f"\\u{code:04x}",
            f"\\u{code:04X}",
            f"\\{chr(code)}",
            f"\\x{code:02x}",
            "\\/",
            "\\",
            "\\u",
            "\\ud83d\\ude00",
        )
        return case.chance.choice((*ways, "\\ud800", "\\udc00\\ud800", "\t", "\x7f", "\\u0000")).encode()

    return _in_line(case, CHARACTER, spell)


SPACES = (b" ", b"\t", b"  ", b"\xc2\xa0", b"\xe2\x80\x83", b"/**/", b"//", b"#")


def space(case: Case) -> str | None:
    """There is white space, or a comment, where none may be; or a comma more."""
    way = case.chance.choice((*SPACES, b","))
    return _in_line(case, re.compile(rb"[,:{}\[\]]"), lambda said: case.chance.choice((said + way, way + said)))


def unfold(case: Case) -> str | None:
    """One line becomes several, as a person would print it; or several become a list."""
    path = case.choose(case.chained())
    if path is None:
        return None
    return f"{path.name}: {case.chance.choice([_printed, _listed])(path, case)}"


def _printed(path: Path, case: Case) -> str:
    path.write_bytes(path.read_bytes().replace(b",", b",\n ", case.chance.choice((1, 3, 10_000))))
    return "is printed over several lines"


def _listed(path: Path, case: Case) -> str:
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"[" + b",\n".join(lines[:-1]) + b"]" + case.chance.choice((b"", b"\n")))
    return "is a list"


SPELLING: dict[str, Callable[[Case], str | None]] = {
    "unend": unend,
    "end lines": end_lines,
    "encode": encode,
    "spell number": spell_number,
    "escape": escape,
    "space": space,
    "unfold": unfold,
}
