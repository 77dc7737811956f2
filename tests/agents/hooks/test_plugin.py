from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.hooks import SILENT, Payload, SettingsFile, plugin
from tallystick.errors import FormatError
from tallystick.model.decision import Call, Decision, Effect
from tests.support.cases import each

FILE = SettingsFile(path="plugins/tallystick.js", ours=True)
OURS = f"// {plugin.MARK}.\ncode".encode()
ASKS = Payload(event="e", session="s", asks=Call(agent="hermes", session="s", tool="t", args={}))


@given(st.binary(max_size=300))
def test_a_file_is_somebody_elses_unless_its_first_lines_say_ours(content: bytes) -> None:
    far = b"x" * 300 + OURS
    for theirs in (content, far):
        assert not plugin.is_ours(theirs)
        assert plugin.emptied(theirs) == theirs
        if theirs.strip():
            with pytest.raises(FormatError, match=r"plugins/tallystick\.js is not ours"):
                plugin.replaced(FILE, theirs, OURS)


@each("content", [b"", b"\n", OURS])
def test_nothing_and_what_is_ours_is_replaced(content: bytes) -> None:
    assert plugin.replaced(FILE, content, b"new") == b"new"


def test_what_is_ours_is_emptied() -> None:
    assert plugin.is_ours(OURS)
    assert plugin.emptied(OURS) == b""


@each("effect", [Effect.ALLOW, Effect.WARN])
def test_leave_is_silence(effect: Effect) -> None:
    assert plugin.reply("hermes", ASKS, Decision(effect=effect, reason="x")) == SILENT


def test_a_refusal_without_a_reason_still_refuses() -> None:
    assert json.loads(plugin.reply("pi", ASKS, Decision(effect=Effect.DENY)).stdout) == {"deny": "refused by policy"}


def test_an_agent_that_asks_is_made_to_ask_where_somebody_is_there() -> None:
    decision = Decision(effect=Effect.ASK, reason="may it?")
    assert json.loads(plugin.reply("hermes", ASKS, decision).stdout) == {"ask": "may it?"}
    alone = Payload(event="e", session="s", asks=ASKS.asks, never_asks=True)
    assert list(json.loads(plugin.reply("hermes", alone, decision).stdout)) == ["deny"]
    assert list(json.loads(plugin.reply("pi", ASKS, decision).stdout)) == ["deny"]
