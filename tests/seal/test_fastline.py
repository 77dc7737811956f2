"""The common line, accepted quickly: whatever the shortcut accepts the plain reading accepts, with the same outcome."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import FormatError
from tallystick.seal.canonical import canonical
from tallystick.seal.fastline import Accepted, accept_bare, accept_full, commit_all, json_frame
from tallystick.seal.hashes import commitment, fields_hash, genesis, salt
from tallystick.seal.line import Slot, check_content, hash_of, parse_line, seal_line
from tallystick.seal.redact import Redaction, line_text, redact
from tests.support.cases import each

SID = "0a" * 16
PREV = genesis(SID)
SEED = b"\xab" * 32
META = {"type": "user", "recorded": "2026-01-02T03:04:05.000000Z", "source": "sdk"}
HASH = "0b" * 32


def quickly(text: bytes, *, sid: str = SID, n: int = 7, prev: bytes = PREV, in_ledger: bool = False) -> Accepted | None:
    return accept_full(text, sid=sid.encode(), n=n, prev=prev.hex().encode(), in_ledger=in_ledger)


def plainly(text: bytes, *, in_ledger: bool = False) -> Accepted | None:
    """The same, read as line.py reads it."""
    try:
        line = parse_line(text)
        if (line.entry.sid, line.entry.n, line.entry.prev) != (SID, 7, PREV.hex()):
            return None
        check_content(line, in_ledger=in_ledger)
    except FormatError:
        return None
    seed = bytes.fromhex(line.seed) if line.seed else b""
    return Accepted(hash_of(line.entry), seed, dict(line.meta), line.entry.parents)


def seal(values: Mapping[str, Any], parents: tuple[str, ...] = ()) -> bytes:
    meta = {"meta": META} | dict(values)
    return seal_line(Slot(SID, 7, PREV, parents), seed=SEED, values=meta).line[:-1]


def by_hand(
    fields: Mapping[str, Any],
    /,
    *,
    parents: list[str] | None = None,
    texts: Mapping[str, bytes] | None = None,
    seed: bytes = SEED,
    **members: Any,
) -> bytes:
    """A line whose hashes fit, put together without asking whether it may be: `texts` replaces the bytes of values."""
    shown = {name: canonical(value) for name, value in fields.items()} | dict(texts or {})
    commitments = {name: commitment(name, "json", salt(seed, name), text) for name, text in sorted(shown.items())}
    framed = fields_hash(commitments.items()).hex() if len(shown) <= 32 else HASH
    entry: dict[str, Any] = {
        "fields": framed,
        "n": 7,
        "parents": parents or [],
        "prev": PREV.hex(),
        "sid": SID,
        "v": 1,
    } | members
    inner = b",".join(b'"%b":%b' % (name.encode(), text) for name, text in sorted(shown.items()))
    return b'{"entry":%b,"fields":{%b},"seed":"%b"}' % (canonical(entry), inner, seed.hex().encode())


def test_an_ordinary_line_is_accepted_with_what_the_chain_needs() -> None:
    for parents in ((), (HASH,), (HASH, "0c" * 32)):
        text = seal({"content.text": "héllo", "content.args": {"timeout": 1.5, "n": [1, None, True]}}, parents)
        found = quickly(text)
        assert found is not None
        assert found == plainly(text)
        assert (found.seed, found.meta, found.parents) == (SEED, META, parents)


NAMES = ["content.text", "content.args", "personal.cwd", "local.source", "content.a", "secret.a", "content.A"]
TEXT = st.text(st.sampled_from('aZ9 "\\/\x00\x1f\x7fé€\ufb33\U0001f600\u2028'), max_size=4)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda value: not 2**53 <= abs(value) < 1e21)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3))
def test_what_the_shortcut_accepts_the_plain_reading_accepts_too(values: dict[str, Any]) -> None:
    text = by_hand({"meta": META, **values})
    found = quickly(text)
    assert found is None or found == plainly(text)
    if all(isinstance(value, str | int) for value in values.values()) and not {"secret.a", "content.A"} & values.keys():
        assert found is not None


@each(
    "spelled",
    [
        b"1.0",
        b"-0",
        b"-0.0",
        b"1e2",
        b"1.50",
        b"1e400",
        b"0.0000001",
        b"9007199254740992",
        b"9007199254740993.0",
        b"NaN",
        b'"\\u0041"',
        b'"\\/"',
        b'{"a":1,"a":1}',
        b'{"b":1,"a":1}',
        b"[1, 2]",
        b'"\\ud800"',
        b'"\xff"',
        b'"\x01"',
        b"1.5 ",
        b'{"\xf0\x9f\x98\x80":1,"\xef\xac\xb3":1}',
        b'{"\xef\xac\xb3":1,"\xf0\x9f\x98\x80":1}',
        b"0.000001",
        b"1e+21",
        b"01",
        b'"\xed\xa0\x80"',
        b"12345678901234567890.5",
        b"1.5",
        b"0.1",
        b'"\xf0\x9f\x98\x80"',
        b"true",
        b"123456789012345.6",
    ],
)
def test_another_spelling_is_accepted_by_neither_or_both(spelled: bytes) -> None:
    text = by_hand({"meta": META}, texts={"content.args": spelled})
    found = quickly(text)
    assert found is None or found == plainly(text)
    if spelled in (b"1.5", b"0.1", b'"\xf0\x9f\x98\x80"', b"true", b"123456789012345.6"):
        assert found is not None


SAMPLES = [
    seal({"content.text": "hello", "content.args": {"a": [1.5, True, None], "é": "\\"}}, (HASH,)),
    seal({"personal.cwd": "/home/dev", "local.source": {"path": "x", "n": 12}}),
    seal({}),
]


def test_every_changed_bit_of_a_line_is_refused_or_changes_its_hash() -> None:
    for text in SAMPLES:
        assert quickly(text) is not None
        for place in range(len(text)):
            for bit in range(8):
                changed = text[:place] + bytes([text[place] ^ 1 << bit]) + text[place + 1 :]
                found = quickly(changed)
                if found is not None:  # another parent, which is for the chain to judge, and another hash
                    assert HASH.encode() in text
                    assert HASH.encode() not in changed
                    assert found == plainly(changed) != quickly(text)


def test_mutated_lines_are_accepted_by_neither_or_both() -> None:
    chance = random.Random(5)
    pieces = [
        b" ",
        b'"',
        b",",
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"0",
        b"1.0",
        b"\\u0061",
        b'"x":1,',
        b"null",
        b"\n",
        b"\xff",
    ]
    for _ in range(4000):
        text = chance.choice(SAMPLES)
        for _ in range(chance.randrange(1, 3)):
            start = chance.randrange(len(text))
            end = min(len(text), start + chance.choice((0, 0, 1, 2, 20)))
            text = text[:start] + chance.choice([*pieces, text[start:end] * 2, b""]) + text[end:]
        found = quickly(text)
        assert found is None or found == plainly(text)


def test_a_line_is_accepted_at_its_own_place_only() -> None:
    text = SAMPLES[0]
    assert quickly(text, n=8) is None
    assert quickly(text, sid="0c" * 16) is None
    assert quickly(text, prev=bytes(32)) is None


@each("member", ["n", "sid", "prev", "v", "fields"])
def test_an_entry_that_says_something_else_is_not_accepted(member: str) -> None:
    other: dict[str, Any] = {"n": 8, "sid": "0c" * 16, "prev": HASH, "v": 2, "fields": HASH}
    assert quickly(by_hand({"meta": META})) is not None
    assert quickly(by_hand({"meta": META}, **{member: other[member]})) is None
    assert quickly(by_hand({"meta": META}, extra=1)) is None


@each(
    "parents",
    [
        [HASH[:-1]],
        [HASH.upper()],
        [f"{SID}#{HASH}"],
        [HASH, f"{SID}#{HASH}"],
        ["x"],
        [HASH, 5],
        [f"{number:064x}" for number in range(65)],
    ],
)
def test_other_parents_than_plain_hashes_are_left_to_the_plain_reading(parents: list[Any]) -> None:
    assert quickly(by_hand({"meta": META}, parents=parents)) is None


def test_64_parents_are_accepted() -> None:
    parents = [f"{number:064x}" for number in range(64)]
    found = quickly(by_hand({"meta": META}, parents=parents))
    assert found is not None
    assert found.parents == tuple(parents)


def _meta_of(size: int) -> dict[str, Any]:
    meta: dict[str, Any] = META | {"words": [], "x": ""}
    while len(canonical(meta)) < size - 199:
        meta["words"].append("w" * 100)
    meta["x"] = "x" * (size - len(canonical(meta)))
    assert len(canonical(meta)) == size
    return meta


@each("name", ["content.text", "personal.cwd"])
def test_each_limit_holds_to_the_one(name: str) -> None:
    for size in (16_384, 16_385):
        text = by_hand({"meta": _meta_of(size), name: 1})
        assert (quickly(text) is not None) is (size == 16_384)
        assert (plainly(text) is not None) is (size == 16_384)
    for count in (32, 33):
        text = by_hand({"meta": META} | {f"content.part_{number}": number for number in range(count - 1)})
        assert (quickly(text) is not None) is (count == 32)
        assert (plainly(text) is not None) is (count == 32)
    for levels in (62, 63):
        text = by_hand({"meta": META, name: json.loads("[" * levels + "]" * levels)})
        assert (quickly(text) is not None) is (levels == 62)
        assert (plainly(text) is not None) is (levels == 62)
    room = 1_048_576 - len(by_hand({"meta": META, name: ""}))
    for more in (0, 1):
        text = by_hand({"meta": META, name: "x" * (room + more)})
        assert (quickly(text) is not None) is (more == 0)
        assert (plainly(text) is not None) is (more == 0)


@each(
    "change",
    [
        {"seed": "0" * 62},
        {"seed": "0" * 66},
        {"seed": "xy" * 32},
        {"seed": SEED.hex().upper()},
        {"seed": 5},
        {"extra": 1},
        {"fields": {}},
        {"fields": {"content.text": 1}},
        {"fields": []},
        {"entry": 5},
        {"withheld": {"content.text": HASH}},
        {"blobs": {"content.text": {"commitment": HASH, "kind": "raw", "size": 1}}},
    ],
    ids=str,
)
def test_other_members_are_not_accepted(change: dict[str, Any]) -> None:
    text = canonical(json.loads(SAMPLES[0]) | change)
    assert quickly(text) is None
    assert plainly(text) is None


def test_a_seed_has_32_bytes() -> None:
    for length in (31, 32, 33):
        text = by_hand({"meta": META}, seed=b"\xab" * length)
        assert (quickly(text) is not None) is (length == 32)


def test_meta_is_checked() -> None:
    for wrong in ({"type": "a b"}, {"source": None}, {"x": 0.5}, {"x": [[[[1]]]]}):
        assert quickly(by_hand({"meta": META | wrong, "personal.z": 1})) is None
    assert quickly(by_hand({"meta": "x"})) is None
    assert quickly(by_hand({"content.text": "x"})) is None
    note = {"type": "note", "recorded": META["recorded"]}
    assert quickly(by_hand({"meta": note})) is None
    assert (
        quickly(by_hand({"meta": note}), in_ledger=True) == plainly(by_hand({"meta": note}), in_ledger=True) is not None
    )


def test_a_field_that_sorts_after_meta_hides_nothing_of_it() -> None:
    fields = {"meta": META, "personal.meta": {"meta": "x y"}}
    found = quickly(by_hand(fields))
    assert found is not None
    assert found.meta == META
    assert quickly(by_hand(fields | {"meta": META | {"x": "a b"}})) is None


# Bare lines ----------------------------------------------------------------------------------------------------------


def bare(text: bytes, **other: Any) -> bytes | None:
    arguments: dict[str, Any] = {"sid": SID.encode(), "n": 7, "prev": PREV.hex().encode()} | other
    return accept_bare(text, **arguments)


BARE = line_text(redact(parse_line(SAMPLES[1]), Redaction.FULL))


def test_a_bare_line_without_parents_is_accepted() -> None:
    assert bare(BARE) == hash_of(parse_line(BARE).entry)


def test_a_bare_line_at_another_place_is_not() -> None:
    assert bare(BARE, n=8) is None
    assert bare(BARE, sid=b"0c" * 16) is None
    assert bare(BARE, prev=b"0b" * 32) is None
    assert bare(line_text(redact(parse_line(SAMPLES[0]), Redaction.FULL))) is None  # it has a parent
    assert bare(SAMPLES[1]) is None
    assert bare(b"") is None


def test_every_changed_bit_of_a_bare_line_is_refused_or_another_digest() -> None:
    digest = json.loads(BARE)["entry"]["fields"].encode()
    start = BARE.index(digest)
    for place in range(len(BARE)):
        for bit in range(8):
            changed = BARE[:place] + bytes([BARE[place] ^ 1 << bit]) + BARE[place + 1 :]
            found = bare(changed)
            if found is not None:
                assert start <= place < start + 64
                assert found == hash_of(parse_line(changed).entry)


@each("end", [b"", b" ", b"\n", b"]"])
def test_a_bare_line_ends_where_it_ends(end: bytes) -> None:
    assert bare(BARE[:-1] + end) is None
    assert not end or bare(BARE + end) is None


OTHER_SEED = bytes(range(32))
names = st.sampled_from(["meta", "content.text", "content.args", "content.a", "personal.cwd", "local.source"])


@given(st.dictionaries(names, st.text(max_size=3) | st.integers(0, 9), min_size=1))
def test_it_is_the_plain_formula(values: dict[str, Any]) -> None:
    commitments = {
        name: commitment(name, "json", salt(OTHER_SEED, name), canonical(values[name])) for name in sorted(values)
    }
    found = commit_all(OTHER_SEED, values, canonical, 1000)
    shown = [b'"%b":%b' % (name.encode(), canonical(values[name])) for name in sorted(values)]
    assert found == (fields_hash(commitments.items()).hex(), shown)


def test_a_text_as_long_as_the_limit_passes_and_one_longer_does_not() -> None:
    values = {"meta": {}, "content.text": "x" * 8}
    assert commit_all(OTHER_SEED, values, canonical, 10) is not None
    assert commit_all(OTHER_SEED, values, canonical, 9) is None


@each("name", ["", "Meta", "content", "content.", "secret.text", "meta.text", "content.text\n", "metas"])
def test_what_is_no_field_name_has_no_frame(name: str) -> None:
    assert json_frame(name) is None
    assert commit_all(OTHER_SEED, {"meta": {}, name: 1}, canonical, 1000) is None


def test_a_frame_holds_the_constant_bytes_of_a_field() -> None:
    frame = json_frame("content.text")
    assert frame is not None
    assert frame[0] == (12).to_bytes(8, "big") + b"content.text"
    assert frame[2] == frame[0] + (32).to_bytes(8, "big")
    assert frame[3] == b'"content.text":'
