"""What can be done to a store, by name: a table of changes, each of which says what it did or that it found nothing to do.

Owns the changes of bytes and lines, and how often each change is taken. How a line is spelled is in `spelling`, what it
says in `wording`, notes are in `heads`, which files there are and of what kind in `places`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tools.fuzz_stores.case import MISFITS, Case, Json, lines_of, parsed, written
from tools.fuzz_stores.heads import HEADS
from tools.fuzz_stores.places import PLACES
from tools.fuzz_stores.resealing import reseal
from tools.fuzz_stores.spelling import SPELLING
from tools.fuzz_stores.wording import WORDING
from tools.vectors.mutation import PIECES

Change = Callable[[Case], str | None]


# Bytes ------------------------------------------------------------------------------------------------------------------


def flip(case: Case) -> str | None:
    """One bit of a file is another."""
    path = case.choose(case.record())
    if path is None or not path.stat().st_size:
        return None
    data = bytearray(path.read_bytes())
    at = case.chance.randrange(len(data))
    data[at] ^= 1 << case.chance.randrange(8)
    path.write_bytes(data)
    return f"{path.name}: a bit of byte {at}"


def splice(case: Case) -> str | None:
    """Bytes are put in, or in the place of others."""
    path = case.choose(case.record())
    if path is None:
        return None
    data = path.read_bytes()
    at = case.chance.randrange(len(data) + 1)
    other = case.chance.randrange(len(data) + 1)
    gone = case.chance.choice((0, 0, 1, 2, 32, 64, 1_000))
    piece = case.chance.choice((*PIECES, b"", data[other : other + 64], bytes([case.chance.randrange(256)])))
    path.write_bytes(data[:at] + piece + data[at + gone :])
    return f"{path.name}: {gone} bytes at {at} became {piece[:24]!r}"


def truncate(case: Case) -> str | None:
    """A file ends earlier, at any byte."""
    path = case.choose(case.record())
    if path is None:
        return None
    size = case.chance.randrange(path.stat().st_size + 1)
    os.truncate(path, size)
    return f"{path.name}: cut to {size} bytes"


TAILS = (
    b"x",
    b"\n",
    b"\r\n",
    b"\x00",
    b"\x00\n",
    b"{}",
    b"{}\n",
    b"[]\n",
    b"null\n",
    b'{"entry":{}}\n',
    b" ",
    b"\xff\n",
    b"[" * 90,
)


def append(case: Case) -> str | None:
    """Bytes come after the end of a file; some of them very many."""
    path = case.choose(case.record())
    if path is None:
        return None
    tail = case.chance.choice((*TAILS, path.read_bytes()[:200], *((b"\x00" * (1 << 20), b" " * (1 << 20) + b" \n"))))
    with path.open("ab") as file:
        file.write(tail)
    return f"{path.name}: {len(tail)} bytes after the end, {tail[:16]!r}"


# Lines ------------------------------------------------------------------------------------------------------------------


def _chain(case: Case, least: int = 1) -> tuple[Path, list[bytes]] | None:
    found = [(path, lines) for path in case.chained() if len(lines := lines_of(path)) > least]
    return case.choose(found)


def drop_line(case: Case) -> str | None:
    """A line, or some, are gone."""
    found = _chain(case)
    if found is None:
        return None
    path, lines = found
    first = case.chance.randrange(len(lines) - 1)
    last = min(len(lines) - 1, first + case.chance.choice((1, 1, 1, 2, 5, 1_000)))
    del lines[first:last]
    path.write_bytes(b"\n".join(lines))
    return f"{path.name}: lines {first} to {last - 1} are gone"


def swap_lines(case: Case) -> str | None:
    """Two lines changed places."""
    found = _chain(case, 2)
    if found is None:
        return None
    path, lines = found
    one, other = case.chance.sample(range(len(lines) - 1), 2)
    lines[one], lines[other] = lines[other], lines[one]
    path.write_bytes(b"\n".join(lines))
    return f"{path.name}: lines {one} and {other} changed places"


def repeat_line(case: Case) -> str | None:
    """A line is there twice."""
    found = _chain(case)
    if found is None:
        return None
    path, lines = found
    one, at = (case.chance.randrange(len(lines) - 1) for _ in range(2))
    lines.insert(at, lines[one])
    path.write_bytes(b"\n".join(lines))
    return f"{path.name}: line {one} again at {at}"


def splice_session(case: Case) -> str | None:
    """Lines of another journal, as they are or as lines of this one."""
    path, other = case.choose(case.chained()), case.choose(case.chained())
    if path is None or other is None:
        return None
    lines, theirs = lines_of(path), lines_of(other)[:-1]
    if not theirs:
        return None
    first = case.chance.randrange(len(theirs))
    taken = theirs[first : first + case.chance.choice((1, 1, 3))]
    if case.chance.random() < 0.7:
        taken = [_of_session(line, path.stem) for line in taken]
    at = case.chance.randrange(len(lines))
    lines[at:at] = taken
    path.write_bytes(b"\n".join(lines))
    return f"{path.name}: {len(taken)} lines of {other.name} at {at}"


def _of_session(text: bytes, sid: str) -> bytes:
    line = parsed(text)
    if line is None or not isinstance(line.get("entry"), dict):
        return text
    line["entry"]["sid"] = sid
    return written(line)


def renumber(case: Case) -> str | None:
    """An entry and those after it have other numbers."""
    found = _chain(case)
    if found is None:
        return None
    path, lines = found
    first, step = case.chance.randrange(len(lines) - 1), case.chance.choice((-1, 1, 2**32, 2**53 - 2))
    for at in range(first, len(lines) - 1):
        line = parsed(lines[at])
        if line is not None and isinstance(line.get("entry"), dict):
            number: Json = line["entry"].get("n")
            line["entry"]["n"] = number + step if isinstance(number, int) else step
            lines[at] = written(line)
    path.write_bytes(b"\n".join(lines))
    return f"{path.name}: numbers from line {first} on are {step} more"


def duplicate_member(case: Case) -> str | None:
    """A member stands twice in the text of a line, or members are in another order."""
    found = _chain(case)
    if found is None:
        return None
    path, lines = found
    at = case.chance.randrange(len(lines) - 1)
    marks = [index for index in range(len(lines[at])) if lines[at][index : index + 2] in (b'{"', b',"')]
    if len(marks) < 3:
        return None
    one, two = sorted(case.chance.sample(marks, 2))
    text = lines[at]
    lines[at] = case.chance.choice(
        (
            text[: one + 1] + text[one + 1 : two] + b"," + text[one + 1 :],
            text[: one + 1] + text[two + 1 : -1] + b"," + text[one + 1 : two] + text[-1:],
            text[: one + 1] + b" " + text[one + 1 :],
            text[: two + 1] + b'"a":1,' + text[two + 1 :],
        )
    )
    path.write_bytes(b"\n".join(lines))
    return f"{path.name}: the text of line {at} between {one} and {two}"


# Whole files ------------------------------------------------------------------------------------------------------------


GARBAGE = (
    b"",
    b"\n",
    b"# prose\n",
    b"\xff\xfe\n",
    b'{"entry":"\xb0"}\n',
    b"[" * 100_000 + b"\n",
    b'{"entry":' * 20_000 + b"\n",
    b"9" * 10_000 + b"\n",
    b'{"entry":{"n":' + b"9" * 10_000 + b"}}\n",
    b"\x00" * 4_096,
    b"\xef\xbb\xbf{}\n",
    b'"\\ud800"\n',
    b"null\n",
)


def garble(case: Case) -> str | None:
    """A file, or a line of one, is something else altogether."""
    path = case.choose(case.record())
    if path is None:
        return None
    garbage = case.chance.choice(GARBAGE)
    lines = lines_of(path)
    if case.chance.random() < 0.5 or len(lines) < 2:
        path.write_bytes(garbage)
        return f"{path.name}: is {garbage[:16]!r}"
    at = case.chance.randrange(len(lines) - 1)
    lines[at] = garbage.removesuffix(b"\n")
    path.write_bytes(b"\n".join(lines))
    return f"{path.name}: line {at} is {garbage[:16]!r}"


# What is asked ----------------------------------------------------------------------------------------------------------


def ask_for_level(case: Case) -> str | None:
    """Another level is required."""
    case.request["require"] = case.chance.choice(("A1", "A2", "sealed"))
    return f"require {case.request['require']}"


def ask_for_file(case: Case) -> str | None:
    """One journal, or the ledger, is looked at by itself."""
    path = case.choose(case.chained())
    if path is None:
        return None
    level = case.chance.choice((None, None, "none", "content", "full"))
    case.request = {"path": str(path)} | ({"redaction": level} if level else {})
    return f"{path.name} alone, level {level}"


def cover_up(case: Case) -> str | None:
    """All hashes are made right again."""
    reseal(case, renumber=case.chance.random() < 0.8)
    return "resealed"


CHANGES: dict[str, tuple[int, Change]] = {
    "flip": (8, flip),
    "splice": (8, splice),
    "truncate": (6, truncate),
    "append": (5, append),
    "drop line": (6, drop_line),
    "swap lines": (4, swap_lines),
    "repeat line": (4, repeat_line),
    "splice session": (6, splice_session),
    "renumber": (4, renumber),
    "duplicate member": (5, duplicate_member),
    "garble": (4, garble),
    **PLACES,
    **{name: (3, change) for name, change in SPELLING.items()},
    **{name: (4, change) for name, change in WORDING.items()},
    **{name: (2, change) for name, change in HEADS.items()},
}
"""The changes by name, with how often each is taken beside the others."""


def damage(case: Case) -> None:
    """One to four changes; half of the time the hashes are then made right again, and perhaps something changed once more."""
    names, weights = list(CHANGES), [weight for weight, _ in CHANGES.values()]
    for _ in range(case.chance.choice((1, 1, 1, 2, 2, 3, 4))):
        _apply(case, *case.chance.choices(names, weights))
    if case.chance.random() < 0.5:
        _note(case, "reseal", cover_up)
        if case.chance.random() < 0.3:
            _apply(case, *case.chance.choices(names, weights))
    for share, change in ((0.15, ask_for_level), (0.08, ask_for_file)):
        if case.chance.random() < share:
            _note(case, "ask", change)


def _apply(case: Case, name: str) -> None:
    _note(case, name, CHANGES[name][1])


def _note(case: Case, name: str, change: Change) -> None:
    try:
        said = change(case)
    except MISFITS:  # what was done before left nothing that this could change
        return
    if said is not None:
        case.done.append(f"{name}: {said}")
