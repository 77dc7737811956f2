from __future__ import annotations

from tallystick.agents.kit.calls import CallIds, result_id


def test_a_call_has_its_own_id_unless_another_has_it_or_it_has_none() -> None:
    calls = CallIds()
    assert (calls.new("a", "#0"), calls.new("a", "#1"), calls.new(None, "#2")) == ("a", "#1", "#2")
    assert (calls.of("a"), calls.of("b"), calls.of(None)) == ("#1", "b", None)


def test_a_result_is_named_by_its_call() -> None:
    assert (result_id("a", "#1"), result_id(None, "#1")) == ("a/result", "#1")
