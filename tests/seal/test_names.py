"""Names and the members of `meta`: what the writer puts there the verifier takes, and nothing a person wrote fits."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import FormatError
from tallystick.model.moments import is_time
from tallystick.seal import names as module
from tallystick.seal.canonical import canonical
from tallystick.seal.names import check_meta, fit_meta, is_field_name, is_meta_string
from tests.seal.sentences import refusal
from tests.support.cases import each

BASE = {"type": "user", "recorded": "2026-01-02T03:04:05.000000Z", "source": "sdk"}
LEDGER = {"recorded": "2026-01-02T03:04:05.000000Z"}
SID, HASH = "0a" * 16, "0b" * 32


def check(meta: Any, *, in_ledger: bool = False) -> None:
    check_meta(meta, canonical(meta), in_ledger=in_ledger)


def refused(meta: Any, *, in_ledger: bool = False) -> None:
    assert refusal(lambda: check(meta, in_ledger=in_ledger)) == "class"


def test_field_names_are_meta_or_a_class_and_a_word() -> None:
    for name in (
        "meta",
        "content.text",
        "personal.cwd",
        "local.source",
        "content.a",
        "content.a_9",
        "content." + "a" * 40,
    ):
        assert is_field_name(name)
    for name in (
        *("", "Meta", "metadata", "meta.", "meta.text", "content", "content.", "content.A", "content.9", "content._a"),
        *("content.a-b", "content.a.b", "content." + "a" * 41, "contents.a", "xcontent.a", "secret.a", "content.a\n"),
        *("meta\n", "content.ä", "content.٣", "PERSONAL.cwd", "local.source ", " meta"),
    ):
        assert not is_field_name(name)


def test_strings_of_meta_are_words_of_a_program() -> None:
    for text in ("a", "0", "A9", "a" * 200, "toolu_01A", "2026-01-02T03:04:05.000000Z", "did:key:z6Mk", "a._:/@#~+-"):
        assert is_meta_string(text)
    for text in (
        "",
        " ",
        "a b",
        ".a",
        "-a",
        "_a",
        "/a",
        "a" * 201,
        "a..b",
        "a..",
        "ä",
        "a\n",
        "a,b",
        "a(b)",
        "٣",
        "a%",
        "a=b",
    ):
        assert not is_meta_string(text)


def test_times_are_utc_with_six_digits() -> None:
    assert is_time("2026-01-02T03:04:05.000006Z")
    assert is_time("9999-99-99T99:99:99.999999Z")  # that the day exists is not asked
    for text in (
        *(
            "2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05.00000Z",
            "2026-01-02T03:04:05.0000000Z",
            "2026-01-02 03:04:05.000000Z",
        ),
        *("2026-01-02T03:04:05.000000", "2026-01-02T03:04:05.000000z", "2026-01-02T03:04:05.000000Z\n", "", "x"),
        *("٢026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05,000000Z", " 2026-01-02T03:04:05.000000Z"),
    ):
        assert not is_time(text)
    assert not is_time(None)
    assert not is_time(20260102)


def test_a_meta_with_type_time_and_source_passes() -> None:
    check(BASE)
    check(BASE | {"ts": "2026-01-02T03:04:05.000000Z"})
    check(BASE | {"source": "telescope"})
    check(BASE | {"tokens": {"input": 1, "Cache.read": -5}, "list": [1, "a", True, False], "empty": [], "none": {}})


@each("member", ["type", "recorded", "source"])
def test_a_meta_that_lacks_a_member_it_must_have_is_refused(member: str) -> None:
    refused({key: value for key, value in BASE.items() if key != member})
    wrongs: tuple[Any, ...] = (None, 1, True, "", "a b", [], {}, ["sdk"])
    for wrong in wrongs:
        refused(BASE | {member: wrong})


def test_a_type_is_a_word_of_48_letters_at_most() -> None:
    check(BASE | {"type": "a" * 48})
    check(BASE | {"type": "a_9"})
    for kind in ("a" * 49, "A", "9a", "_a", "a-b", "a.b"):
        refused(BASE | {"type": kind})


def test_recorded_and_ts_must_be_times() -> None:
    refused(BASE | {"recorded": "2026-01-02"})
    refused(BASE | {"ts": "2026-01-02"})
    refused(BASE | {"ts": 1})
    refused(BASE | {"ts": ["2026-01-02T03:04:05.000000Z"]})


@each("meta", [None, [], "meta", 1, True])
def test_meta_is_an_object(meta: Any) -> None:
    refused(meta)


@each(
    "value",
    [
        "",
        "a b",
        "é",
        "a..b",
        None,
        0.5,
        1e21,
        {"a b": 1},
        {"": 1},
        {"a..b": 1},
        {".a": 1},
        [None],
        [0.5],
        {"a": None},
        ["a b"],
        {"a": ["a b"]},
        [["a b"]],
        {"a": {"b": "c d"}},
        [{"a b": 1}],
        {"a": {"b c": 1}},
        "x" * 201,
    ],
    ids=repr,
)
def test_a_value_that_is_no_word_of_a_program_is_refused(value: Any) -> None:
    refused(BASE | {"x": value})


@each("key", ["", "A", "9", "a b", "a-b", "a.b", "_a", "é", "a" * 49, "a\n"])
def test_members_of_meta_are_words(key: str) -> None:
    refused(BASE | {key: 1})


def test_meta_is_nested_four_deep_at_most() -> None:
    check(BASE | {"x": {"y": {"z": 1}}})
    check(BASE | {"x": [[[1]]]})
    check(BASE | {"x": {"y": {"z": {}}}})
    refused(BASE | {"x": {"y": {"z": {"w": {}}}}})
    refused(BASE | {"x": [[[[]]]]})
    refused(BASE | {"x": [{"y": [{}]}]})


def test_a_member_of_48_letters_and_a_word_of_200_pass() -> None:
    check(BASE | {"a" * 48: "b" * 200})
    check(BASE | {"x": {"K" * 200: 1}})
    refused(BASE | {"x": {"K" * 201: 1}})


# The ledger ----------------------------------------------------------------------------------------------------------

DID = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp"
HEAD = {"session": SID, "size": 0, "root": HASH}
ENTRIES: dict[str, dict[str, Any]] = {
    "store_start": {"key": DID},
    "key_add": {"key": DID},
    "key_retire": {"key": DID},
    "session_head": HEAD,
    "erasure": {"session": SID, "n": 0, "entry": HASH, "names": ["content.text", "meta"]},
    "drop_content": {"action": "drop_content", "session": SID, "from": 0, "to": 9, "names": []},
    "drop_session": {"action": "drop_session", **HEAD},
    "retention": {"action": "drop_something_else"},
}


def entry(kind: str) -> dict[str, Any]:
    of_type = "retention" if kind.startswith("drop") else kind
    return LEDGER | {"type": of_type} | ENTRIES[kind]


@each("kind", ENTRIES)
def test_an_entry_of_the_ledger_needs_no_source_but_its_members(kind: str) -> None:
    check(entry(kind), in_ledger=True)
    check(entry(kind) | {"extra": 1}, in_ledger=True)
    refused(entry(kind))
    check(entry(kind) | {"source": "sdk"})
    for member in ENTRIES[kind]:
        if member != "names":
            refused(entry(kind) | {member: []}, in_ledger=True)
        refused({key: value for key, value in entry(kind).items() if key != member}, in_ledger=True)


@each(
    "member, wrong",
    [
        ("session", [SID[:-1], SID + "0", SID.upper(), 5, "x" * 32]),
        ("size", [-1, True, "5"]),
        ("root", [HASH[:-1], HASH + "0", HASH.upper(), 5]),
    ],
)
@each("kind", ["session_head", "drop_session"])
def test_members_of_a_head_have_their_shape(kind: str, member: str, wrong: list[Any]) -> None:
    for value in wrong:
        refused(entry(kind) | {member: value}, in_ledger=True)


@each("kind", ["erasure", "drop_content"])
def test_members_of_an_erasure_have_their_shape(kind: str) -> None:
    for number in ("n", "entry") if kind == "erasure" else ("from", "to"):
        for value in (-1, True, "0", HASH[:-1]):
            refused(entry(kind) | {number: value}, in_ledger=True)
    for names in ("content.text", ["content.text", "secret.text"], [1], {"content.text": 1}):
        refused(entry(kind) | {"names": names}, in_ledger=True)
    refused(entry(kind) | {"session": SID[:-1]}, in_ledger=True)


@each("kind", ["store_start", "key_add", "key_retire"])
def test_a_key_has_the_shape_of_a_did_key(kind: str) -> None:
    check(entry(kind) | {"key": "did:key:z" + "1" * 40}, in_ledger=True)
    check(entry(kind) | {"key": "did:key:z" + "z" * 60}, in_ledger=True)
    for key in ("did:key:z" + "1" * 39, "did:key:z" + "1" * 61, DID[:-1] + "0", "did:web:z" + "1" * 47, "x" + DID, 5):
        refused(entry(kind) | {"key": key}, in_ledger=True)


def test_types_that_no_verifier_knows_hold_what_they_like() -> None:
    check(LEDGER | {"type": "weather", "size": -1, "session": "sunny"}, in_ledger=True)
    check(BASE | {"type": "session_head", "size": -1})


# The writer ----------------------------------------------------------------------------------------------------------

words = st.text("aA0._:/@#~+- é\n,", max_size=6)
keys = st.text("aA0_.-", min_size=1, max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**54), 2**54) | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(keys, values, max_size=5))
def test_whatever_the_writer_puts_into_meta_the_verifier_takes(members: dict[str, Any]) -> None:
    members = {key: value for key, value in members.items() if key not in ("ts", "type", "source", "recorded")}
    meta, rest = fit_meta(members)
    assert meta.keys() | rest.keys() == {key for key, value in members.items() if value is not None}
    assert not meta.keys() & rest.keys()
    assert all((meta | rest)[key] is members[key] for key in meta.keys() | rest.keys())
    check(BASE | meta)
    for key, value in rest.items():
        with pytest.raises(FormatError):
            check(BASE | {key: value})


def test_what_does_not_fit_goes_to_content() -> None:
    members = {
        "tool": "Ask Joe",
        "entropy": 0.85,
        "size": 2**53,
        "small": -(2**53),
        "ok": 2**53 - 1,
        "Bad key": 1,
        "no": None,
    }
    meta, rest = fit_meta(
        members | {"low": 1 - 2**53, "deep": [[[[1]]]], "fine": {"a": {"b": [2]}}, "b": True} | {"inner": [2**53]}
    )
    assert meta == {"ok": 2**53 - 1, "low": 1 - 2**53, "fine": {"a": {"b": [2]}}, "b": True}
    assert rest == {
        "tool": "Ask Joe",
        "entropy": 0.85,
        "size": 2**53,
        "small": -(2**53),
        "Bad key": 1,
        "deep": [[[[1]]]],
        "inner": [2**53],
    }


# The shortcut --------------------------------------------------------------------------------------------------------


def walk(meta: Any) -> bool:
    """What check_meta's walk says, without the shortcut before it."""
    if not isinstance(meta, dict):
        return False
    try:
        for key, value in meta.items():
            if not module._KEY.match(key):
                return False
            module._check_value(value, key, depth=2)
    except FormatError:
        return False
    return True


@given(st.dictionaries(keys | words, values, max_size=4))
def test_the_shortcut_accepts_nothing_that_the_walk_refuses(meta: dict[str, Any]) -> None:
    try:
        text = canonical(meta)
    except FormatError:
        return
    shortcut = b".." not in text and module._COMMON_META.fullmatch(text) is not None
    assert walk(meta) or not shortcut


@given(st.binary(max_size=12))
def test_the_shortcut_takes_no_bytes_for_what_they_are_not(noise: bytes) -> None:
    text = b'{"a":"x' + noise + b'"}'
    if module._COMMON_META.fullmatch(text) is not None and b".." not in text:
        from tallystick.seal.canonical import parse

        assert walk(parse(text))


def test_the_common_shape_takes_the_shortcut() -> None:
    text = canonical(BASE | {"tokens": {"input": 12}, "list": [1, "a"], "success": True})
    assert module._COMMON_META.fullmatch(text)
