"""Putting a member into a line without touching the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.protocols.splice import NoPlace, add_meta

KEY = "ours.example/key"
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


@given(OBJECTS, OBJECTS | st.none(), st.booleans(), st.sampled_from([None, 1]), st.sampled_from([b"\n", b"\r\n", b""]))
def test_the_member_is_there_and_all_else_is_as_it_was(
    result: dict[str, Any], meta: dict[str, Any] | None, ascii_only: bool, indent: int | None, end: bytes
) -> None:
    result = {key: value for key, value in result.items() if key != "_meta"}
    if meta is not None:
        result["_meta"] = meta
    message = {"jsonrpc": "2.0", "id": 1, "result": result}
    line = json.dumps(message, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass") + end
    added = add_meta(line, ("result",), KEY, b'{"a":1}')
    read = json.loads(added)
    assert read["result"]["_meta"].pop(KEY) == {"a": 1}
    if meta is None:
        assert read["result"].pop("_meta") == {}
    assert read == message
    assert list(read["result"]) == list(result)
    at = next(i for i in range(len(line) + 1) if i == len(line) or added[i] != line[i])
    more = len(added) - len(line)
    assert any(added[:k] + added[k + more :] == line for k in range(max(0, at - more), at + 1))  # bytes were put in


def test_number_literals_order_and_unknown_members_stay() -> None:
    line = b'{"result" : {"z":1.0, "a":1e2,"big":123456789012345678901234567890,"z":2},"id":7}\r\n'
    expected = line.replace(b'"z":2}', b'"z":2,"_meta":{"ours.example/key":true}}')
    assert add_meta(line, ("result",), KEY, b"true") == expected


def test_what_stands_in_meta_is_kept_and_ours_comes_last() -> None:
    line = b'{"result":{"_meta": {"hermes": {"sessionProvenance":{}}} }}'
    expected = b'{"result":{"_meta": {"hermes": {"sessionProvenance":{}},"ours.example/key":1} }}'
    assert add_meta(line, ("result",), KEY, b"1") == expected


def test_of_duplicate_keys_the_one_that_counts_is_used() -> None:
    line = b'{"result":{},"result":{"_meta":{},"_meta":{"b":1}}}'
    assert json.loads(add_meta(line, ("result",), KEY, b"1"))["result"]["_meta"] == {"b": 1, KEY: 1}


def test_a_key_may_be_written_with_escapes() -> None:
    line = rb'{"\u0072esult":{"\u005fmeta":{"x":"}{\"]["}}}'
    assert json.loads(add_meta(line, ("result",), KEY, b"1"))["result"] == {"_meta": {"x": '}{"][', KEY: 1}}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"nonsense",
        b'{"result":null}',
        b'{"result":[]}',
        b'{"id":1}',
        b'{"result":{"_meta":null}}',
        b'{"result":{"_meta":[1]}}',
        b'{"result":{"_meta":{"ours.example/key":0}}}',
        b'{"result":{"a":',
        b'{"result":{"a":1',
        b'{"result":{"a":"x}',
        b'{"result" {}}',
    ],
)
def test_where_there_is_no_place_nothing_is_put(line: bytes) -> None:
    with pytest.raises(NoPlace):
        add_meta(line, ("result",), KEY, b"1")


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_or_grow(line: bytes) -> None:
    try:
        added = add_meta(line, (), KEY, b"1")
    except NoPlace:
        return
    assert len(added) > len(line)


def test_a_line_of_4_mb_takes_no_time_to_speak_of() -> None:
    line = b'{"result":{"text":"' + b'\\"x' * 1_400_000 + b'","list":[' + b"1," * 100 + b"2]}}"
    assert add_meta(line, ("result",), KEY, b"1").endswith(b'2],"_meta":{"ours.example/key":1}}}')
