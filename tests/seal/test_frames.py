"""Committing to all values of a line at once gives what the formulas give one by one."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.seal.canonical import canonical
from tallystick.seal.frames import commit_all, json_frame
from tallystick.seal.hashes import commitment, fields_hash, salt
from tests.support.cases import each

SEED = bytes(range(32))
names = st.sampled_from(["meta", "content.text", "content.args", "content.a", "personal.cwd", "local.source"])


@given(st.dictionaries(names, st.text(max_size=3) | st.integers(0, 9), min_size=1))
def test_it_is_the_plain_formula(values: dict[str, Any]) -> None:
    commitments = {name: commitment(name, "json", salt(SEED, name), canonical(values[name])) for name in sorted(values)}
    found = commit_all(SEED, values, canonical, 1000)
    shown = [b'"%b":%b' % (name.encode(), canonical(values[name])) for name in sorted(values)]
    assert found == (fields_hash(commitments.items()).hex(), shown)


def test_a_text_as_long_as_the_limit_passes_and_one_longer_does_not() -> None:
    values = {"meta": {}, "content.text": "x" * 8}
    assert commit_all(SEED, values, canonical, 10) is not None
    assert commit_all(SEED, values, canonical, 9) is None


@each("name", ["", "Meta", "content", "content.", "secret.text", "meta.text", "content.text\n", "metas"])
def test_what_is_no_field_name_has_no_frame(name: str) -> None:
    assert json_frame(name) is None
    assert commit_all(SEED, {"meta": {}, name: 1}, canonical, 1000) is None


def test_a_frame_holds_the_constant_bytes_of_a_field() -> None:
    frame = json_frame("content.text")
    assert frame is not None
    assert frame[0] == (12).to_bytes(8, "big") + b"content.text"
    assert frame[2] == frame[0] + (32).to_bytes(8, "big")
    assert frame[3] == b'"content.text":'
