from __future__ import annotations

import json

from tallystick.agents.copilot import hooks as copilot
from tallystick.agents.hooks import Payload
from tallystick.live.nested_sub_agents import NestedSubAgents
from tallystick.model.step import Opening, SessionKind, Step

ROOT, OUTER, INNER = "06fcf783", "a7b9dd49", "5e9c7bea"


def heard(nested: NestedSubAgents, event: str, **said: str) -> Payload:
    payload = copilot.parse(json.dumps({"timestamp": 1795293961236, **said}).encode(), event)
    return nested.placed("copilot", payload)


def begin(nested: NestedSubAgents, session: str, agent: str) -> Payload:
    return heard(nested, "subagentStart", sessionId=session, agentId=agent, parentAgentId=session, agentType="task")


def test_a_sub_agents_sub_agent_belongs_to_the_session_and_hangs_on_the_one_that_began_it() -> None:
    nested = NestedSubAgents()
    begin(nested, ROOT, OUTER)
    payload = begin(nested, OUTER, INNER)
    assert payload.session == f"{ROOT}/{INNER}"
    [opening] = [event for event in payload.events if isinstance(event, Opening)]
    assert (opening.session, opening.kind) == (f"{ROOT}/{INNER}", SessionKind.CHILD)
    assert opening.parent is not None
    assert opening.parent.session == f"{ROOT}/{OUTER}"
    [started] = [event for event in payload.events if isinstance(event, Step)]
    assert (started.type, started.session) == ("subagent_start", f"{ROOT}/{OUTER}")


def test_what_it_calls_is_asked_and_recorded_in_its_own_session() -> None:
    nested = NestedSubAgents()
    begin(nested, ROOT, OUTER)
    begin(nested, OUTER, INNER)
    called = {"sessionId": INNER, "agentId": INNER, "parentAgentId": OUTER, "toolName": "bash", "toolArgs": "ls"}
    payload = heard(nested, "preToolUse", **called)
    assert payload.asks is not None
    assert {payload.session, payload.asks.session} == {f"{ROOT}/{INNER}"}
    assert {event.session for event in payload.events if isinstance(event, Step)} == {f"{ROOT}/{INNER}"}
    begin(nested, INNER, "f3")
    assert begin(nested, "f3", "f4").session == f"{ROOT}/f4"


def test_other_sessions_stay_as_they_are_named() -> None:
    nested = NestedSubAgents()
    begin(nested, ROOT, OUTER)
    payload = begin(nested, "other", INNER)
    assert payload.session == f"other/{INNER}"
    assert [event.session for event in payload.events if isinstance(event, Opening)] == ["other", f"other/{INNER}"]
    assert heard(nested, "sessionEnd", sessionId=ROOT).session == ROOT


def test_no_more_than_some_thousands_are_known() -> None:
    nested = NestedSubAgents()
    for number in range(4097):
        begin(nested, ROOT, f"a{number}")
    assert begin(nested, "a0", INNER).session == f"a0/{INNER}"
    assert begin(nested, "a4096", INNER).session == f"{ROOT}/{INNER}"
