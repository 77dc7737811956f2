"""Changes of what a line says: members added, taken away, of another type, at limits, with odd strings.

Owns which values are tried, and the changes that know what a member means: entries of the ledger, blobs, erasures.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tallystick.seal.hashes import commitment
from tallystick.seal.keys import SigningKey, did_key
from tools.fuzz_stores.case import Case, Json, lines_of, parsed, written
from tools.fuzz_stores.resealing import salt_of

NUMBERS: tuple[Json, ...] = (
    0,
    1,
    -1,
    2,
    63,
    64,
    2**31,
    2**32,
    2**53 - 2,
    2**53 - 1,
    2**53,
    -(2**53),
    10**18,
    10**30,
    0.5,
    1e21,
    -0.0,
    1e-7,
)
TEXTS: tuple[Json, ...] = (
    *(
        "",
        "x",
        "A b",
        "..",
        "a..b",
        "a" * 200,
        "a" * 201,
        "\u0000",
        "\n",
        "\r",
        "\u001f",
        "\u007f",
        "\u0080",
        "\u2028",
        "\ufeff",
        "é",
        "e\u0301",
    ),
    *(
        "\U0001f600",
        "\ud800",
        "\udfff",
        "\u202e",
        '"',
        "\\",
        "/",
        "0" * 32,
        "0" * 64,
        "f" * 64,
        "F" * 64,
        "0" * 63,
        f"{'0' * 32}#{'0' * 64}",
    ),
    *(
        "2026-01-02T03:04:05.000006Z",
        "2026-13-99T99:99:99.999999Z",
        "2026-02-30T24:00:60.000000Z",
        "2026-01-02T03:04:05.000006z",
        "2026-01-02T03:04:05Z",
        "2026-01-02T03:04:05.000006+00:00",
        "\u0662026-01-02T03:04:05.000006Z",
        "session_start",
        "session_end",
        "recovery",
        "store_start",
    ),
    *(
        "\u0010tally:nan",
        "did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvVd",
        "did:key:z" + "1" * 47,
        "__proto__",
        "constructor",
    ),
)
OTHERS: tuple[Json, ...] = (
    None,
    True,
    False,
    [],
    {},
    [[]],
    [1, "a"],
    {"a": 1},
    ["0" * 64],
    {"a": {"b": {"c": {"d": 1}}}},
    {"": 0},
)
VALUES: tuple[Json, ...] = (*NUMBERS, *TEXTS, *OTHERS)
TIMES = ("2026-01-02T03:04:05.000006Z", "2026-01-02T03:04:05.000007Z", "2025-01-02T03:04:05.000006Z", "x")
CAUSES: tuple[Json, ...] = (
    "lost_entries",
    "other_entries",
    "unfit_entries",
    "old_signer",
    "lost_key",
    "weather",
    0,
    None,
)
MEMBERS = (
    *(
        "v",
        "n",
        "sid",
        "prev",
        "parents",
        "seed",
        "salts",
        "withheld",
        "blobs",
        "fields",
        "entry",
        "meta",
        "content.text",
    ),
    *(
        "type",
        "source",
        "recorded",
        "ts",
        "local.x",
        "personal.x",
        "secret.x",
        "content.X",
        "size",
        "kind",
        "commitment",
    ),
    *(
        "__proto__",
        "constructor",
        "toString",
        "",
        "a b",
        "é",
        "\U0001f600",
        "\uffff",
        "resumed",
        "session",
        "root",
        "action",
        "key",
    ),
)


def _lines(case: Case, paths: list[Path]) -> tuple[Path, list[bytes], int, dict[str, Json]] | None:
    """A line of one of the files that is an object: the file, its lines, which one, and what it says."""
    found = [
        (path, lines, at, line)
        for path in paths
        for lines in (lines_of(path),)
        for at in range(len(lines) - 1)
        if (line := parsed(lines[at])) is not None
    ]
    return case.choose(found)


def _write(path: Path, lines: list[bytes], at: int, line: Json) -> None:
    lines[at] = written(line)
    path.write_bytes(b"\n".join(lines))


def places(value: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a value, as the keys that lead there; none of the value itself."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    for key in keys:
        yield (*path, key)
        yield from places(value[key], (*path, key))


def _at(value: Json, path: tuple[Any, ...]) -> Json:
    for key in path:
        value = value[key]
    return value


def _changed(case: Case, change: Callable[[Case, Json, Json], str]) -> str | None:
    """Apply a change to the holder of one place of a line, and that place."""
    found = _lines(case, case.chained())
    if found is None:
        return None
    path, lines, at, line = found
    where = case.choose(list(places(line)))
    if where is None:
        return None
    said = change(case, _at(line, where[:-1]), where[-1])
    _write(path, lines, at, line)
    return f"{path.name}:{at}: {'/'.join(map(str, where))[:80]} {said[:80]}"


def take_member(case: Case) -> str | None:
    """A member is gone."""

    def change(case: Case, holder: Json, last: Json) -> str:
        del holder[last]
        return "gone"

    return _changed(case, change)


def retype(case: Case) -> str | None:
    """A value is another one, of another type or at a limit."""

    def change(case: Case, holder: Json, last: Json) -> str:
        holder[last] = copy.deepcopy(case.chance.choice(VALUES))
        return f"is {holder[last]!r}"

    return _changed(case, change)


def add_member(case: Case) -> str | None:
    """A member more, or an item more."""

    def change(case: Case, holder: Json, last: Json) -> str:
        value = copy.deepcopy(case.chance.choice(VALUES))
        if isinstance(holder, list):
            holder.append(value)
            return f"and {value!r}"
        name = case.chance.choice(MEMBERS)
        holder[name] = value
        return f"beside {name!r}: {value!r}"

    return _changed(case, change)


def nearby(case: Case) -> str | None:
    """A value is almost what it was."""

    def change(case: Case, holder: Json, last: Json) -> str:
        value = holder[last]
        if isinstance(value, str) and value:
            at = case.chance.randrange(len(value))
            holder[last] = value[:at] + case.chance.choice("0aZ é.") + value[at + 1 :]
        elif isinstance(value, int):
            holder[last] = value + case.chance.choice((-1, 1))
        elif isinstance(value, list):
            holder[last] = value + value
        return f"is {holder[last]!r}"

    return _changed(case, change)


def transplant(case: Case) -> str | None:
    """A value is that of another place."""

    def change(case: Case, holder: Json, last: Json) -> str:
        other = _lines(case, case.chained())
        if other is None:
            return "stays"
        where = case.choose(list(places(other[3])))
        holder[last] = copy.deepcopy(_at(other[3], where or ()))
        return f"is {'/'.join(map(str, where or ()))} of {other[0].name}:{other[2]}"

    return _changed(case, change)


def deepen(case: Case) -> str | None:
    """A value is nested to a limit, or by one more; or there are as many members as may be, or one more."""

    def change(case: Case, holder: Json, last: Json) -> str:
        many = case.chance.choice((2, 3, 4, 5, 31, 32, 33, 59, 60, 61, 62, 63, 64, 65, 66))
        if case.chance.random() < 0.5:
            for _ in range(many):
                holder[last] = [holder[last]]
            return f"nested {many} deep"
        if isinstance(holder[last], dict):
            holder[last] |= {f"content.x{number}": number for number in range(many)}
        else:
            holder[last] = [f"{number:064x}" for number in range(many)]
        return f"of {many}"

    return _changed(case, change)


# The ledger -------------------------------------------------------------------------------------------------------------


def _meta(line: Json) -> dict[str, Json] | None:
    fields = line.get("fields")
    meta = fields.get("meta") if isinstance(fields, dict) else None
    return meta if isinstance(meta, dict) else None


def tell_ledger(case: Case) -> str | None:
    """The ledger says something else, or something more, in the words that it has."""
    found = _lines(case, [path for path in case.chained() if path == case.ledger])
    if found is None:
        return None
    path, lines, at, line = found
    meta, journals = _meta(line), case.journals()
    if meta is None or not isinstance(line.get("entry"), dict):
        return None
    target = case.choose(journals)
    session = target.stem if target is not None else "0" * 32
    texts = lines_of(target)[:-1] if target is not None else []
    chance = case.chance
    names = chance.choice(
        (["content.text"], ["content.output", "content.args"], ["meta"], [], ["content.text", 1], "content.text")
    )
    key = did_key(SigningKey(chance.choice((*case.secrets, bytes(range(40, 72))))).public)
    said = _entries(case, session, texts, names, key)
    told = {"recorded": meta.get("recorded"), **chance.choice(said)}
    if chance.random() < 0.5:
        line["fields"]["meta"] = told
        _write(path, lines, at, line)
        return f"entry {at} is {told}"[:200]
    more = copy.deepcopy(line)
    more["fields"] = {"meta": told}
    more["seed"] = f"{chance.getrandbits(256):064x}"
    lines.insert(chance.choice((at + 1, len(lines) - 1)), written(more))
    path.write_bytes(b"\n".join(lines))
    return f"an entry more, {told}"[:200]


def _entries(case: Case, session: str, texts: list[bytes], names: Json, key: str) -> list[dict[str, Json]]:
    """What an entry of the ledger may say of a session with these lines, of names and of a key."""
    chance, size = case.chance, len(texts)
    elsewhere = chance.choice((session, session, session, "0" * 32, "f" * 32, session.upper(), session[:-1]))
    times = {"began": "2026-01-02T03:04:05.000006Z", "ended": chance.choice(TIMES)}
    epoch = {"epoch": chance.choice((0, 1, 2, 3)), "size": chance.choice((0, 1, size)), "root": "0" * 64, **times}
    return [
        {
            "type": "session_head",
            "session": elsewhere,
            "size": max(0, size + chance.choice((-2, -1, 0, 0, 1, 9))),
            "root": "0" * 64,
            "closed": chance.choice((False, True, 0, None)),
        },
        {
            "type": "erasure",
            "session": session,
            "n": chance.randrange(size + 1),
            "entry": _hash_at(texts, chance.randrange(size + 1)),
            "names": names,
            "basis": "law",
        },
        {
            "type": "retention",
            "action": "drop_content",
            "session": session,
            "from": 0,
            "to": chance.choice((0, 1, size, 2**53 - 1)),
            "names": names,
        },
        {"type": "retention", "action": "drop_session", "session": session, "size": size, "root": "0" * 64},
        {"type": "retention", "action": chance.choice(("compress", "drop", "", 5, None, "a b"))},
        {"type": chance.choice(("key_add", "key_retire", "store_start")), "key": key},
        {"type": "weather"},
        {"type": "key_add", "key": key, **epoch, "seconds": chance.choice((0, 1, 60)), "signature": "0" * 128},
        {
            "type": "recovery",
            "cause": chance.choice(CAUSES),
            "from": chance.choice((0, 1, 2**53)),
            "taken": 1,
            "aside": 0,
        },
        {"type": "recovery", "bytes": chance.choice((0, 1, -1, "1"))},
        {"type": "alert_head", "session": elsewhere, "n": chance.randrange(size + 1)},
        {"type": chance.choice(("anchor", "export", "witness", "gap", "heartbeat", "import")), "session": elsewhere},
    ]


def _hash_at(texts: list[bytes], n: int) -> str:
    from tallystick.seal.line import legible_entry

    digest = legible_entry(texts[n]) if n < len(texts) else None
    return digest.hex() if digest is not None else "0" * 64


def withhold(case: Case) -> str | None:
    """A value of a line is withheld, as an erasure would leave it."""
    found = _lines(case, case.chained())
    if found is None:
        return None
    path, lines, at, line = found
    fields = line.get("fields")
    if not isinstance(fields, dict) or "seed" not in line:
        return None
    name = case.choose(sorted(fields))
    if name is None:
        return None
    try:
        kept = {each: salt_of(line, each).hex() for each in (*fields, *line.get("blobs", {})) if each != name}
        digest = commitment(name, "json", salt_of(line, name), written(fields[name])).hex()
    except (ValueError, TypeError, AttributeError, UnicodeError):
        return None
    del fields[name], line["seed"]
    line["withheld"] = {name: digest}
    if kept:
        line["salts"] = kept
    if not fields:
        del line["fields"]
    _write(path, lines, at, line)
    return f"{path.name}:{at}: {name} withheld"


def as_blob(case: Case) -> str | None:
    """A value of a line becomes a blob, whose file is right, wrong, of another kind or not canonical."""
    found = _lines(case, case.chained())
    if found is None:
        return None
    path, lines, at, line = found
    fields = line.get("fields")
    names = (
        sorted(name for name in fields if name != "meta" or case.chance.random() < 0.1)
        if isinstance(fields, dict)
        else []
    )
    name = case.choose(names)
    if name is None or not isinstance(fields, dict):
        return None
    chance = case.chance
    value = chance.choice(
        (written(fields[name]), b'"x" ', b"{}", b"[1.0]", b"\xff", b"", b"[" * 70 + b"]" * 70, b'{"a":1,"a":1}', b"nul")
    )
    kind = chance.choice(("json", "json", "raw", "text"))
    try:
        digest = commitment(name, kind, salt_of(line, name), value).hex()
    except (ValueError, TypeError, KeyError, AttributeError, UnicodeError):
        return None
    del fields[name]
    size = len(value) + chance.choice((0, 0, 0, 0, 1, 2**30, 2**31))
    blobs = line.setdefault("blobs", {})
    if not isinstance(blobs, dict):
        return None
    blobs[name] = {"commitment": digest, "kind": kind, "size": size}
    _write(path, lines, at, line)
    file = case.store / "blobs" / digest[:2] / digest
    if chance.random() < 0.85 and not file.exists() and (case.store / "blobs").is_dir():
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(value)
    return f"{path.name}:{at}: {name} is a blob, {kind}, {value[:16]!r}, size {size}"


def reparent(case: Case) -> str | None:
    """A line follows from other entries: earlier, later, elsewhere, nowhere."""
    found, other = _lines(case, case.chained()), _lines(case, case.chained())
    if found is None or other is None:
        return None
    path, lines, at, line = found
    if not isinstance(line.get("entry"), dict):
        return None
    digest = _hash_at(other[1], other[2])
    reference = case.chance.choice(
        (digest, f"{other[0].stem}#{digest}", f"{path.stem}#{digest}", f"{'a' * 32}#{digest}", "0" * 64)
    )
    parents = line["entry"].get("parents")
    line["entry"]["parents"] = [
        *(parents if isinstance(parents, list) and case.chance.random() < 0.5 else []),
        reference,
    ]
    _write(path, lines, at, line)
    return f"{path.name}:{at}: follows from {reference[:44]}"


WORDING: dict[str, Callable[[Case], str | None]] = {
    "take member": take_member,
    "retype": retype,
    "retype more": retype,
    "add member": add_member,
    "nearby": nearby,
    "transplant": transplant,
    "deepen": deepen,
    "tell ledger": tell_ledger,
    "tell ledger more": tell_ledger,
    "withhold": withhold,
    "as blob": as_blob,
    "reparent": reparent,
}
