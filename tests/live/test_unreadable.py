"""What a payload that cannot be read may have asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.agents.hooks import hook_adapter
from tallystick.errors import FormatError
from tallystick.journal.home import Home
from tallystick.live.delivery import Delivery
from tallystick.live.unreadable import Doubt, check_plain, on_error, read_again
from tallystick.model.decision import Call, Decision, Effect
from tests.support.calls_of_agents import ASKING
from tests.support.cases import each

AGENT = "claude-code"
SAID = ASKING[AGENT].made("Bash", {"command": "ls"}, "/p")
PLAIN = json.dumps(SAID).encode()


def read(data: bytes, event: str | None = None) -> Doubt | None:
    delivery = Delivery(agent=AGENT, data=data, event=event, received="2026-01-02T03:04:05Z")
    return read_again(hook_adapter(AGENT), delivery, FormatError("odd"))


def commands(data: bytes) -> list[object]:
    doubt = read(data)
    assert doubt is not None
    return [call.args["command"] if isinstance(call.args, dict) else None for call in doubt.calls]


@each(
    "data, found",
    [
        (b"\xef\xbb\xbf" + PLAIN, ["ls"]),
        (PLAIN.decode().encode("utf-16"), ["ls"]),
        (PLAIN.decode().encode("utf-16-le"), ["ls"]),
        (PLAIN.replace(b"ls", b"l\xffs"), ["l\ufffds"]),
        (PLAIN.replace(b"ls", b"l\ns"), ["l\ns"]),
        (PLAIN + b"]", ["ls"]),
        (PLAIN + PLAIN.replace(b"ls", b"rm"), ["ls", "rm"]),
        (PLAIN.replace(b'"command": "ls"', b'"command": "rm", "command": "ls"'), ["ls", "rm"]),
        (
            PLAIN.replace(b'"hook_event_name": "PreToolUse"', b'"hook_event_name":"PreToolUse","hook_event_name":"x"'),
            ["ls"],
        ),
        (PLAIN.replace(b"session_id", b"sess"), ["ls"]),
        (PLAIN[:40], []),
        (b"\xff" * 9, []),
        (b"[" * 100_000, []),
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_each_way_to_read_it_is_what_may_have_been_asked(data: bytes, found: list[object]) -> None:
    assert commands(data) == found


@each(
    "data, event",
    [
        (PLAIN.replace(b"PreToolUse", b"Stop")[:-9], None),
        (b'{"hook_event_name": "PostToolUse", "x": "\xff', None),
        (b"\xff", "PostToolUse"),
    ],
)
def test_an_event_that_no_agent_waits_at_is_no_question(data: bytes, event: str | None) -> None:
    assert read(data, event) is None


def test_of_an_unknown_agent_nothing_is_asked() -> None:
    assert read_again(None, Delivery(agent="x", data=b"{", received=""), FormatError("odd")) is None


def test_a_session_that_is_not_told_is_not_recorded() -> None:
    doubt = read(PLAIN.replace(b"session_id", b"sess"))
    assert doubt is not None
    assert (doubt.payload.session, doubt.payload.events) == ("", ())


def test_where_nobody_is_asked_it_is_known_from_the_bytes() -> None:
    doubt = read(b'{"hook_event_name":"PreToolUse","permission_mode":"bypassPermissions",')
    assert doubt is not None
    assert doubt.payload.never_asks


@each(
    "setting, answers, wanted",
    [
        ("ask", [Effect.ALLOW], Effect.ASK),
        ("ask", [Effect.ALLOW, Effect.DENY], Effect.DENY),
        ("deny", [Effect.ASK], Effect.DENY),
        ("allow", [Effect.WARN, Effect.ALLOW], Effect.WARN),
        ("allow", [], Effect.ALLOW),
        ("broken", [Effect.ALLOW], Effect.ASK),
    ],
)
def test_the_strictest_answer_counts_and_never_less_than_the_setting(
    tmp_path: Path, setting: str, answers: list[Effect], wanted: Effect
) -> None:
    home = Home(tmp_path / f"{setting}{len(answers)}")
    home.folder.mkdir()
    home.config.write_text(f'[hooks]\non_error = "{setting}"\n')
    left = iter(answers)

    def decide(call: Call, then: Callable[[Decision], None]) -> None:
        then(Decision(effect=next(left)))

    doubt = read(PLAIN)
    assert doubt is not None
    asked = doubt.calls[0]
    found: list[Decision] = []
    Doubt(doubt.payload, (asked,) * len(answers), "why").deciding(decide, home)(asked, found.append)
    assert [decision.effect for decision in found] == [wanted]


def test_without_a_setting_it_is_asked(tmp_path: Path) -> None:
    assert on_error(Home(tmp_path)) is Effect.ASK


@each("data", [b'{"a":1,"a":1}', b"[" * 61 + b"]" * 61, b'{"a":{"b":1,"b":2}}'])
def test_what_can_be_read_in_two_ways_is_not_plain(data: bytes) -> None:
    with pytest.raises(FormatError):
        check_plain(data)
    check_plain(b'{"a":1,"b":{"a":1}}')
