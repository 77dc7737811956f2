"""A step read back from a journal."""

from __future__ import annotations

from typing import Any

from tallystick.model.recorded import Recorded


def recorded(**members: Any) -> Recorded:
    defaults: dict[str, Any] = {
        "session": "0a" * 16,
        "n": 3,
        "hash": "0b" * 32,
        "prev": "0c" * 32,
        "parents": (),
        "meta": {"type": "user", "tool": "Bash"},
    }
    return Recorded(**(defaults | members))


def test_the_type_is_what_meta_says_or_unknown() -> None:
    assert recorded().type == "user"
    assert recorded(meta={}).type == "?"
    assert recorded(meta={"type": 5}).type == "?"


def test_a_step_follows_from_its_parents_or_the_entry_before_it() -> None:
    assert recorded().parent_path == ("0c" * 32,)
    assert recorded(n=0).parent_path == ()
    assert recorded(parents=("0d" * 32, "0e" * 32)).parent_path == ("0d" * 32, "0e" * 32)
    assert recorded(n=0, parents=("0d" * 32,)).parent_path == ("0d" * 32,)


def test_a_text_is_a_value_that_is_text() -> None:
    step = recorded(values={"content.text": "hello", "content.args": {"a": 1}})
    assert step.text("content.text") == "hello"
    assert step.text("content.args") is None
    assert step.text("content.output") is None


def test_a_member_is_found_in_meta_or_where_it_went_to_instead() -> None:
    step = recorded(values={"content.meta": {"tool": "Ask Joe", "entropy": 0.85}})
    assert step.member("tool") == "Bash"
    assert step.member("entropy") == 0.85
    assert step.member("mood") is None
    assert recorded().member("entropy") is None
    assert recorded(values={"content.meta": "text"}).member("entropy") is None


def test_what_is_not_there_is_empty() -> None:
    step = recorded()
    assert (step.values, step.raw, step.unloaded, step.withheld) == ({}, {}, {}, ())
