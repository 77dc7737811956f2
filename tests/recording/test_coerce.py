"""What of a step can be sealed."""

from __future__ import annotations

import pytest

from tallystick.model.step import Json, Step
from tallystick.recording.coerce import as_sealed, comparable, fit_raw, fit_values
from tallystick.seal import limits


def test_nothing_is_left_out_but_what_is_not_there() -> None:
    values = {"content.text": "a", "content.error": None, "content.meta": {"entropy": 0.5}}
    assert fit_values(values, {"tool": "Ask Joe"}) == {
        "content.text": "a",
        "content.meta": {"tool": "Ask Joe", "entropy": 0.5},
    }
    assert fit_values({"content.meta": 7}, {}) == {"content.meta": {"meta": 7}}


def test_of_raw_bytes_that_are_too_many_the_size_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BLOB_BYTES", 4)
    sealed: dict[str, Json] = {}
    assert fit_raw({"content.part_0": b"abcd", "content.part_1": b"abcde"}, sealed) == {"content.part_0": b"abcd"}
    assert list(sealed) == ["content.part_1"]
    step = as_sealed(Step(session="s", type="user", raw={"content.part_1": b"abcde"}))
    assert (step.raw, list(step.values)) == ({}, ["content.part_1"])


def test_times_and_where_it_happened_are_not_compared() -> None:
    def step(**more: Json) -> Step:
        return Step(session="s", type="user", values={"content.text": "a"}, **more)

    assert comparable(step(ts="2026-01-01T00:00:00Z", source_id="1")) == comparable(
        step(meta={"ts": "x", "model": "m"})
    )
    assert comparable(step()) != comparable(step(meta={"success": False}))
    assert comparable(step()) != comparable(step(meta={"tool": "Ask Joe"}))
