from __future__ import annotations

from typing import Any

from tallystick.scrubbing.members import scrub_members

SECRET = "sk-ant-api03-" + "a1B2" * 20


def test_an_event_without_secrets_stays_the_same_object() -> None:
    event: dict[str, Any] = {"seq": 1, "type": "tool_call", "args": {"command": "ls"}, "meta": {"tokens_in": 12345678}}
    assert scrub_members(event) is event


def test_secrets_are_replaced_wherever_someone_writes() -> None:
    event: dict[str, Any] = {
        "content": f"key {SECRET}",
        "error": SECRET,
        "args": {"API_KEY": SECRET, "list": [SECRET]},
        "meta": {"prompt": f"use {SECRET}", "subagent_inputs": {"password": "hunter2-and-more"}, "tokens_in": 12345678},
        "host": SECRET,
    }
    clean = scrub_members(event)
    assert SECRET not in repr(clean)
    assert "hunter2" not in repr(clean)
    assert clean["content"].startswith("key ‹secret:")
    assert clean["meta"]["tokens_in"] == 12345678


def test_what_says_which_event_it_is_stays_as_it_is() -> None:
    event: dict[str, Any] = {"corr_id": SECRET, "seq": 3, "type": "tool_call", "content": SECRET}
    clean = scrub_members(event)
    assert (clean["corr_id"], clean["seq"]) == (SECRET, 3)
    assert clean["content"] != SECRET


def test_twice_is_as_once() -> None:
    once = scrub_members({"content": f"key {SECRET}", "args": {"token": SECRET}})
    assert scrub_members(once) == once


def test_what_json_cannot_hold_is_looked_at_too() -> None:
    clean = scrub_members({"content": f"\ud800 {SECRET}", "args": {"n": 2**80}})
    assert SECRET not in repr(clean)
