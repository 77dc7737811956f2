"""One line: sealed, read back strictly, and refused by the right rule in every other shape."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.seal import limits
from tallystick.seal import line as line_module
from tallystick.seal.canonical import canonical
from tallystick.seal.hashes import commitment, entry_hash, fields_hash, genesis, salt
from tallystick.seal.line import (
    BlobRef,
    Slot,
    check_content,
    field_commitments,
    hash_of,
    parse_line,
    seal_line,
    seal_texts,
    sid_of,
    skim,
)
from tallystick.seal.redact import Redaction, line_text, redact
from tests.seal.made_lines import (
    BARE,
    BLOBBED,
    GOOD,
    HASH,
    META,
    OPAQUE,
    PARTIAL,
    SEED,
    SID,
    blob_with,
    entry_with,
    json_blob,
    meta_of,
    reader,
    refused,
    seal,
    text_of,
    value_of,
    without,
)
from tests.seal.sentences import refusal
from tests.support.cases import each

# Writing -------------------------------------------------------------------------------------------------------------


def test_a_sealed_line_is_built_as_the_format_says() -> None:
    sealed = seal({"content.text": "hi"}, parents=(HASH,), n=3)
    commitments = {
        "content.text": commitment("content.text", "json", salt(SEED, "content.text"), b'"hi"'),
        "meta": commitment("meta", "json", salt(SEED, "meta"), canonical(META)),
    }
    digest = fields_hash(commitments.items()).hex()
    entry = {"fields": digest, "n": 3, "parents": [HASH], "prev": genesis(SID).hex(), "sid": SID, "v": 1}
    fields = {"content.text": "hi", "meta": META}
    assert sealed.line == canonical({"entry": entry, "fields": fields, "seed": SEED.hex()}) + b"\n"
    assert sealed.hash == entry_hash(canonical(entry))
    assert (sealed.n, sealed.blobs) == (3, ())


values = st.dictionaries(
    st.sampled_from(["content.text", "content.args", "personal.cwd", "local.source", "content.z9"]),
    st.none() | st.integers(-9, 9) | st.text(max_size=4) | st.floats(0, 1) | st.lists(st.text(max_size=2), max_size=2),
)


@given(values, st.dictionaries(st.sampled_from(["content.part_0", "content.aa"]), st.binary(max_size=4)), st.data())
def test_what_was_sealed_reads_back(fields: dict[str, Any], raw: dict[str, bytes], data: st.DataObject) -> None:
    parents = tuple(
        data.draw(st.lists(st.sampled_from([HASH, f"{'0c' * 16}#{HASH}", "0d" * 32]), unique=True, max_size=3))
    )
    sealed = seal(fields, raw, parents=parents, n=7)
    line = parse_line(sealed.line[:-1])
    assert line_text(line) + b"\n" == sealed.line
    assert hash_of(line.entry) == sealed.hash
    assert dict(line.fields) == {"meta": META, **fields}
    assert line.meta == META
    assert line.entry.parents == parents
    assert {name: (ref.kind, ref.size) for name, ref in line.blobs.items()} == {
        name: ("raw", len(item)) for name, item in raw.items()
    }
    files = {blob.commitment: blob.data for blob in sealed.blobs}
    assert sorted(files.values()) == sorted(raw.values())
    assert check_content(line, read_blob=lambda name: [files[name]]) == 0
    assert sid_of(sealed.line[:-1]) == SID
    found = skim(sealed.line)
    assert found is not None
    assert (found.hash, found.n, found.prev, found.sid) == (sealed.hash, 7, genesis(SID).hex(), SID)
    assert found.parents == ",".join(f'"{parent}"' for parent in parents).encode()


def test_a_value_over_64_kib_becomes_a_blob_and_one_of_64_kib_does_not() -> None:
    inline, blob = seal({"content.text": "x" * 65_534}), seal({"content.text": "x" * 65_535})
    assert inline.blobs == ()
    (found,) = blob.blobs
    assert (found.kind, found.data) == ("json", b'"' + b"x" * 65_535 + b'"')
    line = parse_line(blob.line[:-1])
    assert line.blobs == {"content.text": BlobRef(found.commitment, "json", 65_537)}
    assert found.commitment == commitment("content.text", "json", salt(SEED, "content.text"), found.data).hex()
    assert parse_line(inline.line[:-1]).entry.fields != line.entry.fields


@given(values, st.lists(st.sampled_from([HASH, "0d" * 32]), unique=True))
def test_the_common_step_is_sealed_as_any_other(fields: dict[str, Any], parents: list[str]) -> None:
    quick = seal(fields, parents=tuple(parents), n=9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "SMALL_BYTES", 0)
        assert seal(fields, parents=tuple(parents), n=9) == quick
        patch.undo()
        patch.setattr(line_module, "_check_writable", None)
        assert seal(fields, parents=tuple(parents), n=9) == quick  # the plain way was not even tried


def test_raw_bytes_are_always_a_blob() -> None:
    sealed = seal(raw={"content.part_0": b""})
    (blob,) = sealed.blobs
    assert (blob.kind, blob.data) == ("raw", b"")
    assert blob.commitment == commitment("content.part_0", "raw", salt(SEED, "content.part_0"), b"").hex()


def test_moving_a_value_between_line_and_blob_changes_no_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    fields, raw = {"content.text": "x" * 198, "content.args": [123]}, {"content.part_0": b"raw"}
    inline = seal(fields, raw)
    monkeypatch.setattr(limits, "INLINE_BYTES", 200)
    assert seal(fields, raw).line == inline.line
    monkeypatch.setattr(limits, "INLINE_BYTES", 199)
    moved = seal(fields, raw)
    assert [blob.data for blob in moved.blobs if blob.kind == "json"] == [canonical("x" * 198)]
    assert moved.hash == inline.hash


def test_while_a_line_is_too_long_its_largest_values_become_blobs() -> None:
    sizes = [60_000 + number for number in range(20)]
    sealed = seal({f"content.part_{number}": "x" * size for number, size in enumerate(sizes)})
    assert len(sealed.line) <= limits.LINE_BYTES + 1
    parse_line(sealed.line[:-1])
    gone = sorted(len(blob.data) for blob in sealed.blobs)
    assert gone == [size + 2 for size in sizes[-len(gone) :]]
    assert 2 <= len(gone) <= 3  # 20 of them have 1.2 million bytes, 17 fit
    assert seal({f"content.part_{number}": "x" * 52_000 for number in range(20)}).blobs == ()


def test_meta_never_becomes_a_blob() -> None:
    meta = META | {"words": ["w" * 100] * 150}
    sealed = seal({"meta": meta} | {f"content.part_{number}": "x" * 65_000 for number in range(17)})
    line = parse_line(sealed.line[:-1])
    assert "meta" in line.fields
    assert line.blobs


def test_each_limit_of_an_entry_holds_to_the_one() -> None:
    def fields(count: int) -> dict[str, Any]:
        return {f"content.part_{number}": number for number in range(count - 1)}

    def parents(count: int) -> tuple[str, ...]:
        return tuple(f"{number:064x}" for number in range(count))

    def nested(levels: int) -> Any:
        return [nested(levels - 1)] if levels else 0

    parse_line(text_of(fields(32)))
    parse_line(text_of(parents=parents(64)))
    parse_line(text_of({"meta": meta_of(16_384)}))
    parse_line(text_of({"content.text": nested(62)}))
    assert refusal(lambda: seal(fields(33))) == "limit"
    assert refusal(lambda: seal(parents=parents(65))) == "limit"
    assert refusal(lambda: seal({"meta": meta_of(16_385)})) == "limit"
    deep = {"content.text": canonical(nested(63)), "meta": b"{}"}
    assert refusal(lambda: seal_texts(Slot(SID, 0, genesis(SID)), seed=SEED, json=deep)) == "limit"


def test_a_value_of_the_blob_limit_is_sealed_and_a_larger_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BLOB_BYTES", 200)
    assert seal(raw={"content.part_0": b"x" * 200}).blobs
    assert refusal(lambda: seal(raw={"content.part_0": b"x" * 201})) == "limit"
    assert refusal(lambda: seal({"content.text": "x" * 199}, {"content.part_0": b""})) == "limit"
    assert seal({"content.text": "x" * 198}, {"content.part_0": b""}).blobs


def test_what_cannot_be_sealed_is_refused() -> None:
    assert refusal(lambda: seal({"secret.text": 1})) == "class"
    assert refusal(lambda: seal(raw={"part": b""})) == "class"
    assert refusal(lambda: seal({"content.text": b"bytes"})) == "canonical"
    assert refusal(lambda: seal(raw={"meta": b"{}"})) == "member"
    assert refusal(lambda: seal_line(Slot(SID, 0, genesis(SID)), seed=SEED, values={"content.text": 1})) == "member"


# Reading -------------------------------------------------------------------------------------------------------------


def test_all_four_forms_are_read() -> None:
    for value in (GOOD, BLOBBED, PARTIAL, OPAQUE, BARE):
        line = parse_line(canonical(value))
        assert line_text(line) == canonical(value)
        assert line.is_bare is (value == BARE)
    assert parse_line(canonical(OPAQUE)).meta == {}


def test_a_line_of_1_mib_is_read_and_one_byte_more_is_not() -> None:
    value = value_of(text_of({"content.text": ""}))
    value["fields"]["content.text"] = "x" * (limits.LINE_BYTES - len(canonical(value)))
    text = canonical(value)
    assert len(text) == 1_048_576
    parse_line(text)
    assert refusal(lambda: parse_line(text + b"x")) == "limit"
    assert refusal(lambda: parse_line(b"\xff" * 1_048_577)) == "limit"


def test_depth_is_asked_before_anything_is_parsed() -> None:
    assert refusal(lambda: parse_line(b"[" * 65)) == "limit"
    assert refusal(lambda: parse_line(b"[" * 64)) == "line"


@each("text", [b"", b"[]", b"1", b'"x"', b"null", b"{", b"\xff{}", b"true"])
def test_what_is_no_object_is_no_line(text: bytes) -> None:
    assert refusal(lambda: parse_line(text)) == "line"


def test_another_spelling_is_not_canonical() -> None:
    text = canonical(GOOD)
    for other in (text + b" ", b" " + text, text.replace(b'"n":0', b'"n": 0'), text.replace(b"user", b"\\u0075ser")):
        assert refusal(lambda other=other: parse_line(other)) == "canonical"  # type: ignore[misc]


@each("version", [0, 2, -1, 2**53 - 1])
def test_another_version_is_said_before_all_other_members(version: int) -> None:
    assert refused(entry_with(v=version)) == "version"
    assert refused({"entry": {"v": version}, "more": 1}) == "version"
    assert refused(entry_with(v=version, n="x", parents=5)) == "version"
    shapes: tuple[Any, ...] = ("1", None, True, False, 1.5, [1], {})
    assert [refused(entry_with(v=wrong)) for wrong in shapes] == ["member"] * 7


WRONG_HASHES = (
    *("", HASH[:-1], HASH + "0", HASH.upper(), HASH[:-1] + "g", HASH[:-1] + "\n", HASH + "\n"),
    *(5, None, [HASH], True),
)


@each("wrong", WRONG_HASHES, ids=repr)
def test_hashes_are_64_hex_digits_in_lower_case(wrong: Any) -> None:
    assert refused(entry_with(fields=wrong)) == "member"
    assert refused(entry_with(prev=wrong)) == "member"
    assert refused(entry_with(parents=[wrong])) == "member"
    assert refused(entry_with(parents=[HASH, wrong])) == "member"
    assert refused(GOOD | {"seed": wrong}) == "member"
    assert refused(PARTIAL | {"salts": {"meta": wrong}}) == "member"
    assert refused(PARTIAL | {"withheld": {"content.text": wrong}}) == "member"
    assert refused(blob_with(commitment=wrong)) == "member"


@each("wrong", ["", SID[:-1], SID + "0", SID.upper(), SID + "\n", 5, None, [SID]], ids=repr)
def test_a_session_is_32_hex_digits(wrong: Any) -> None:
    assert refused(entry_with(sid=wrong)) == "member"
    if isinstance(wrong, str):
        assert refused(entry_with(parents=[f"{wrong}#{HASH}"])) == "member"


def test_parents_are_a_list_of_hashes_or_references() -> None:
    parse_line(canonical(entry_with(parents=[HASH, f"{SID}#{HASH}"])))
    shapes: tuple[Any, ...] = (None, HASH, {}, 5, [[HASH]], [{}])
    for wrong in (*shapes, [f"{SID}:{HASH}"], [f"{SID}##{HASH}"], [f"#{HASH}"], [f"{SID}#"]):
        assert refused(entry_with(parents=wrong)) == "member"


def test_n_is_a_whole_number_below_2_53() -> None:
    shapes: tuple[Any, ...] = ("0", None, True, False, 0.5, [0])
    assert [refused(entry_with(n=wrong)) for wrong in shapes] == ["member"] * 6
    assert parse_line(canonical(entry_with(n=2**53 - 1))).entry.n == 2**53 - 1
    assert parse_line(canonical(entry_with(n=-1))).entry.n == -1  # the chain refuses it
    text = canonical(GOOD)
    assert refusal(lambda: parse_line(text.replace(b'"n":0', b'"n":9007199254740992'))) == "limit"
    assert refusal(lambda: parse_line(text.replace(b'"n":0', b'"n":' + b"9" * 5000))) == "limit"
    assert refusal(lambda: parse_line(text.replace(b'"n":0', b'"n":-9007199254740992'))) == "canonical"


@each("member", ["fields", "n", "parents", "prev", "sid", "v"])
def test_an_entry_has_six_members(member: str) -> None:
    assert refused(GOOD | {"entry": without(GOOD["entry"], member)}) == "member"
    assert refused(entry_with(extra=1)) == "member"


def test_a_line_has_an_entry_and_no_strange_member() -> None:
    assert refused(without(GOOD, "entry")) == "member"
    assert refused({}) == "member"
    assert refused(GOOD | {"extra": 1}) == "member"
    shapes: tuple[Any, ...] = (None, [], "x", 1, {})
    for wrong in shapes:
        assert refused(GOOD | {"entry": wrong}) == "member"


@each("member", ["blobs", "fields", "salts", "withheld"])
@each("wrong", [{}, [], None, 1, "x", [1]], ids=repr)
def test_a_member_that_would_be_empty_is_absent(member: str, wrong: Any) -> None:
    assert refused(GOOD | {member: wrong}) == "member"


def test_a_blob_is_named_by_three_members() -> None:
    for kind in ("json", "raw"):
        assert parse_line(canonical(blob_with(kind=kind))).blobs["content.part_0"].kind == kind
    assert parse_line(canonical(blob_with(size=0))).blobs["content.part_0"].size == 0
    assert parse_line(canonical(blob_with(size=1 << 30))).blobs["content.part_0"].size == 1 << 30
    assert refused(blob_with(size=(1 << 30) + 1)) == "limit"
    for member, value in (("kind", "cbor"), ("kind", 1), ("size", -1), ("size", "3"), ("size", True), ("size", 0.5)):
        assert refused(blob_with(**{member: value})) == "member"
    assert refused(blob_with(extra=1)) == "member"
    for member in ("commitment", "kind", "size"):
        ref = without(BLOBBED["blobs"]["content.part_0"], member)
        assert refused(BLOBBED | {"blobs": {"content.part_0": ref}}) == "member"
    others: tuple[Any, ...] = (None, [], "x")
    for other in others:
        assert refused(BLOBBED | {"blobs": {"content.part_0": other}}) == "member"


def test_limits_are_asked_before_canonical_form_and_members() -> None:
    def spoiled(value: dict[str, Any]) -> str:
        return refusal(lambda: parse_line(json.dumps({"entry": {}} | value | {"extra": 1}).encode()))

    many = {f"content.part_{number}": 1 for number in range(16)}
    more = {f"content.other_{number}": HASH for number in range(17)}
    assert spoiled(GOOD) == "canonical"
    assert spoiled({"fields": many, "blobs": more, "withheld": {}}) == "limit"
    assert spoiled({"fields": many, "withheld": more}) == "limit"
    assert spoiled({"blobs": many, "withheld": more}) == "limit"
    assert spoiled({"fields": many, "withheld": dict(list(more.items())[:16])}) == "canonical"
    assert spoiled({"fields": many, "withheld": dict(list(more.items())[:16]) | many}) == "canonical"
    assert spoiled({"entry": {"parents": [1] * 65}}) == "limit"
    assert spoiled({"entry": {"parents": [1] * 64}}) == "canonical"
    assert spoiled({"entry": {"parents": "x" * 65}}) == "canonical"
    assert spoiled({"entry": {"n": 2**53}}) == "limit"
    assert spoiled({"entry": {"n": 2**53 - 1}}) == "canonical"
    assert spoiled({"fields": {"meta": "x" * 16_383}}) == "limit"
    assert spoiled({"fields": {"meta": "x" * 16_382}}) == "canonical"
    assert spoiled({"blobs": {"a": {"size": (1 << 30) + 1}}}) == "limit"
    assert spoiled({"blobs": {"a": {"size": 1 << 30}, "b": 5}}) == "canonical"
    assert spoiled({"blobs": {"a": {"size": "many"}}}) == "canonical"
    assert spoiled({"fields": [1] * 40, "blobs": "x", "withheld": None, "entry": []}) == "member"


def test_a_name_stands_in_one_place_only() -> None:
    assert refused(PARTIAL | {"withheld": PARTIAL["withheld"] | {"meta": HASH}}) == "member"
    both = BLOBBED | {"blobs": {"content.text": BLOBBED["blobs"]["content.part_0"]}}
    assert refused(both) == "member"
    shown = PARTIAL | {"blobs": {"content.text": BLOBBED["blobs"]["content.part_0"]}}
    assert refused(shown | {"salts": PARTIAL["salts"] | {"content.text": HASH}}) == "member"


def test_meta_is_there_and_never_a_blob() -> None:
    assert refused(GOOD | {"fields": {"content.text": "hi"}}) == "member"
    assert refused(OPAQUE | {"withheld": {"content.text": HASH}}) == "member"
    blob = BLOBBED["blobs"]["content.part_0"]
    assert refused({"blobs": {"meta": blob}, "entry": GOOD["entry"], "seed": HASH}) == "member"
    assert refused(GOOD | {"blobs": {"meta": blob}, "fields": {"content.text": "hi"}}) == "member"


def test_a_seed_stands_where_nothing_is_withheld_and_salts_where_something_is() -> None:
    assert refused(without(GOOD, "seed")) == "member"
    assert refused(GOOD | {"salts": {"meta": HASH, "content.text": HASH}}) == "member"
    assert refused(without(GOOD, "seed") | {"salts": {"meta": HASH, "content.text": HASH}}) == "member"
    assert refused(PARTIAL | {"seed": HASH}) == "member"
    assert refused(without(PARTIAL, "salts") | {"seed": HASH}) == "member"
    assert refused(without(PARTIAL, "salts")) == "member"
    assert refused(PARTIAL | {"salts": PARTIAL["salts"] | {"content.text": HASH}}) == "member"
    assert refused(PARTIAL | {"salts": {"content.text": HASH}}) == "member"
    assert refused(OPAQUE | {"seed": HASH}) == "member"
    assert refused(OPAQUE | {"salts": {"meta": HASH}}) == "member"
    assert refused(BARE | {"seed": HASH}) == "member"
    assert refused(BARE | {"salts": {"meta": HASH}}) == "member"


# What the values are ---------------------------------------------------------------------------------------------------


def content_rule(value: dict[str, Any], **other: Any) -> str:
    return refusal(lambda: check_content(parse_line(canonical(value)), **other))


def test_values_are_held_against_the_entry() -> None:
    for value in (GOOD, PARTIAL, OPAQUE, BARE, BLOBBED):
        check_content(parse_line(canonical(value)))
    assert content_rule(GOOD | {"fields": GOOD["fields"] | {"content.text": "ho"}}) == "fields"
    assert content_rule(GOOD | {"seed": HASH}) == "fields"
    assert content_rule(PARTIAL | {"salts": {"meta": HASH}}) == "fields"
    assert content_rule(PARTIAL | {"withheld": {"content.text": HASH}}) == "fields"
    assert content_rule(OPAQUE | {"withheld": OPAQUE["withheld"] | {"meta": HASH}}) == "fields"
    assert content_rule(blob_with(commitment=HASH)) == "fields"
    assert content_rule(entry_with(fields=HASH)) == "fields"


def test_names_and_meta_are_asked_before_values() -> None:
    assert content_rule(GOOD | {"fields": GOOD["fields"] | {"secret.text": 1}}) == "class"
    assert content_rule(PARTIAL | {"withheld": PARTIAL["withheld"] | {"secret.text": HASH}}) == "class"
    blobs = {"secret.part": BLOBBED["blobs"]["content.part_0"]}
    assert content_rule(BLOBBED | {"blobs": blobs}) == "class"
    assert content_rule(GOOD | {"fields": {"meta": without(META, "type")}}) == "class"
    start = text_of({"meta": {"type": "note", "recorded": META["recorded"]}})
    assert refusal(lambda: check_content(parse_line(start))) == "class"
    assert check_content(parse_line(start), in_ledger=True) == 0


def test_commitments_come_in_byte_order_of_their_names() -> None:
    line = parse_line(text_of({"content.b": 1, "content.a": 2, "personal.user": 3}, {"content.ab": b""}))
    full = field_commitments(line)
    assert list(full) == ["content.a", "content.ab", "content.b", "meta", "personal.user"]
    assert fields_hash(full.items()).hex() == line.entry.fields
    assert field_commitments(redact(line, Redaction.CONTENT)) == full
    assert field_commitments(redact(line, Redaction.FULL)) == {}


def test_a_blob_is_held_against_its_line() -> None:
    line = parse_line(canonical(BLOBBED))
    name = BLOBBED["blobs"]["content.part_0"]["commitment"]
    asked: list[str] = []

    def read(commitment: str) -> list[bytes]:
        asked.append(commitment)
        return [b"r", b"aw"]

    assert check_content(line, read_blob=read) == 0
    assert asked == [name]
    for chunks in ([b"raX"], [b"ra"], [b"raw", b"x"], []):
        assert refusal(lambda chunks=chunks: check_content(line, read_blob=reader(*chunks))) == "blob"  # type: ignore[misc]


def test_an_absent_blob_is_counted_or_refused_as_the_caller_says() -> None:
    line = parse_line(text_of(raw={"content.part_0": b"a", "content.part_1": b"b"}))
    assert check_content(line) == 2
    assert check_content(line, read_blob=lambda name: None) == 2
    one = line.blobs["content.part_0"].commitment
    assert check_content(line, read_blob=lambda name: [b"a"] if name == one else None) == 1
    asked: list[str] = []

    def may_be_absent(name: str) -> bool:
        asked.append(name)
        return name == "content.part_0"

    assert refusal(lambda: check_content(line, may_be_absent=may_be_absent)) == "blob"
    assert asked == ["content.part_0", "content.part_1"]


@each("text", [b'"x"', b'{"a":1}', b"[" * 64 + b"]" * 64])
def test_a_json_blob_holds_canonical_json(text: bytes) -> None:
    line, read = json_blob(text)
    assert check_content(line, read_blob=read) == 0


@each("text", [b"", b"x", b"{ }", b"1.0", b"\xff", b"[" * 65 + b"]" * 65, b"1e400", b'"x"\n', b"NaN"])
def test_a_json_blob_that_holds_no_canonical_json_is_refused(text: bytes) -> None:
    line, read = json_blob(text)
    assert refusal(lambda: check_content(line, read_blob=read)) == "blob"


def test_a_json_blob_beyond_what_memory_should_hold_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    line, read = json_blob(b"{ }")
    monkeypatch.setattr(limits, "PARSED_BLOB_BYTES", 3)
    assert refusal(lambda: check_content(line, read_blob=read)) == "blob"
    monkeypatch.setattr(limits, "PARSED_BLOB_BYTES", 2)
    assert check_content(line, read_blob=read) == 0


# Skimming ------------------------------------------------------------------------------------------------------------


def test_every_form_is_skimmed_to_the_same_entry() -> None:
    for value in (GOOD, PARTIAL, OPAQUE, BARE, BLOBBED):
        text = canonical(value)
        found = skim(text)
        assert found is not None
        assert found.hash == hash_of(parse_line(text).entry)
        assert skim(text + b"\n") == found


@each(
    "old, new",
    [
        *(
            (b'"entry":', b'"antry":'),
            (b'"v":1', b'"v":2'),
            (b'"n":0', b'"n":-1'),
            (b'"n":0', b'"n":00000000000000000'),
        ),
        *((SID.encode(), SID.upper().encode()), (b'"v":1}', b'"v":1,"x":1}'), (b'{"entry"', b' {"entry"')),
        *((b'"v":1},', b'"v":1};'), (b'"parents":[]', b'"parents":5')),
    ],
)
def test_what_has_not_the_shape_of_an_entry_is_not_skimmed(old: bytes, new: bytes) -> None:
    text = canonical(GOOD)
    assert old in text
    assert skim(text.replace(old, new, 1)) is None
