"""Which lines the tap touches, and how."""

from __future__ import annotations

import json
from typing import Any

from tallystick.capture.relay import Later, Passing, Way
from tallystick.ingest.acp_inline import Inline
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.step import Json, Opening
from tallystick.sessions.provenance import KEY
from tests.support.cases import each, each_case


class Known:
    """Provenance that is what it was told to be, and remembers what it was asked."""

    def __init__(self, head: str | None = None) -> None:
        self.opened: list[tuple[Opening, str, str | None]] = []
        self.asked: list[tuple[str, str, str | None]] = []
        self.head = head

    def of_opened(self, begun: Opening, acp_id: str, head: str | None = None) -> dict[str, Json] | None:
        self.opened.append((begun, acp_id, head))
        return {KEY: {"at": "open"}}

    def of_rotation(self, agent: str, acp_id: str, head: str | None = None) -> dict[str, Json] | None:
        self.asked.append((agent, acp_id, head))
        current, self.head = head or self.head, None
        return {KEY: {"current": current}, "hermes": "x"} if current is not None else None


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def ask(inline: Inline, method: str, params: dict[str, Any], request: Any = 1) -> None:
    assert inline(Way.TO_CHILD, line(id=request, method=method, params=params)) is None


def out(inline: Inline, data: bytes) -> tuple[bytes, ...]:
    """What the editor gets of a line of the agent."""
    answer = inline(Way.FROM_CHILD, data)
    if isinstance(answer, Later):
        answer = answer.work()
    return (data,) if answer is None else answer.sent


def update(kind: str, /, **members: Any) -> bytes:
    return line(method="session/update", params={"sessionId": "s", "update": {"sessionUpdate": kind, **members}})


@each("method", ["session/new", "session/load", "session/resume", "session/fork"])
def test_results_that_begin_or_continue_a_session_get_our_member(method: str) -> None:
    known = Known()
    inline = Inline("agent", known)
    ask(inline, method, {"sessionId": "s", "cwd": "/p"}, "one")
    (got,) = out(inline, line(id="one", result={"sessionId": "s2", "models": {"x": 1.50}}))
    assert json.loads(got)["result"] == {"sessionId": "s2", "models": {"x": 1.5}, "_meta": {KEY: {"at": "open"}}}
    assert known.opened[0][1] == "s2"


@each(
    "data",
    [
        line(id=1, error={"code": 1}),
        line(id=2, result={"sessionId": "s"}),
        line(id="1", result={"sessionId": "s"}),
        line(id=1, result=None),
        b"not json, though session_info_update stands in it\n",
        b"[1, 2]\n",
        b"\r\n",
        line(id=1, result={"sessionId": "s", "_meta": {KEY: "theirs"}}),
    ],
)
def test_all_other_lines_stay_as_they_are(data: bytes) -> None:
    inline = Inline("agent", Known())
    ask(inline, "session/new", {"cwd": "/"})
    assert out(inline, data) == (data,)


def test_an_answer_is_taken_for_one_request_only() -> None:
    inline = Inline("agent", Known())
    ask(inline, "session/new", {"cwd": "/"})
    data = line(id=1, result={"sessionId": "s"})
    assert out(inline, data) != (data,)
    assert out(inline, data) == (data,)


def test_other_lines_are_not_even_looked_at() -> None:
    inline = Inline("agent", Known())
    assert inline(Way.FROM_CHILD, update("agent_message_chunk", content={"type": "text", "text": "x"})) is None
    assert inline(Way.FROM_CHILD, line(id=0, method="session/request_permission", params={})) is None


def test_a_rotation_that_the_agent_tells_gets_our_member_beside_its_own() -> None:
    inline = Inline("hermes-acp", Known())
    told = {"previousHermesSessionId": "s", "currentHermesSessionId": "s2"}
    (got,) = out(inline, update("session_info_update", title="x", _meta={"hermes": {"sessionProvenance": told}}))
    meta = json.loads(got)["params"]["update"]["_meta"]
    assert meta == {"hermes": {"sessionProvenance": told}, KEY: {"current": "s2"}}


def test_a_new_title_is_no_rotation() -> None:
    inline = Inline("hermes-acp", Known("other"))
    told = {"currentHermesSessionId": "s"}  # Hermes gives the editor's id here, whatever is live
    data = update("session_info_update", title="x", _meta={"hermes": {"sessionProvenance": told}})
    assert out(inline, data) == (data,)


def test_a_rotation_that_the_agent_keeps_to_itself_is_told_before_the_turn_ends() -> None:
    inline = Inline("agent", Known("s~1"))
    ask(inline, "session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": "x" * 1000}]}, 5)
    end = line(id=5, result={"stopReason": "end_turn"})
    notice, last = out(inline, end)
    assert last == end
    params = json.loads(notice)["params"]
    assert params["sessionId"] == "s"
    assert params["update"]["sessionUpdate"] == "session_info_update"
    assert params["update"]["_meta"] == {KEY: {"current": "s~1", "origin": "tallystick"}, "hermes": "x"}


def test_a_turn_without_a_rotation_ends_as_it_does() -> None:
    inline = Inline("agent", Known())
    ask(inline, "session/prompt", {"sessionId": "s", "prompt": []}, 5)
    end = line(id=5, result={"stopReason": "end_turn"})
    assert out(inline, end) == (end,)


# Policy ----------------------------------------------------------------------------------------------------------------


class Judge:
    """A policy that says the same to everything."""

    def __init__(self, effect: Effect) -> None:
        self.calls: list[Call] = []
        self.decision = Decision(effect=effect, rules=("r",))

    def __call__(self, call: Call) -> Decision:
        self.calls.append(call)
        return self.decision


OPTIONS = [{"optionId": "y", "kind": "allow_once"}, {"optionId": "n", "kind": "reject_once"}]


def question(options: list[dict[str, str]] = OPTIONS, request: Any = 7, **shown: Any) -> bytes:
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c", **shown}, "options": options}
    return line(id=request, method="session/request_permission", params=params)


def answer(inline: Inline, data: bytes) -> Passing | None:
    found = inline(Way.FROM_CHILD, data)
    assert isinstance(found, Later)
    return found.work()


@each("effect", [Effect.ALLOW, Effect.WARN, Effect.ASK])
def test_only_a_denial_is_answered_here(effect: Effect) -> None:
    assert answer(Inline("agent", None, Judge(effect)), question()) is None


@each(
    "options, outcome",
    [
        (OPTIONS, {"outcome": "selected", "optionId": "n"}),
        ([{"optionId": "never", "kind": "reject_always"}, *OPTIONS], {"outcome": "selected", "optionId": "n"}),
        ([{"optionId": "never", "kind": "reject_always"}], {"outcome": "selected", "optionId": "never"}),
        ([{"optionId": "y", "kind": "allow_once"}], {"outcome": "cancelled"}),
        ([], {"outcome": "cancelled"}),
    ],
)
@each("request_id", [7, "7", 0])
def test_a_denial_chooses_the_option_that_refuses(options: Any, outcome: Any, request_id: Any) -> None:
    inline = Inline("agent", None, Judge(Effect.DENY))
    passing = answer(inline, question(options, request_id))
    assert passing is not None
    assert passing.sent == ()
    (reply,) = passing.replies
    assert json.loads(reply) == {"jsonrpc": "2.0", "id": request_id, "result": {"outcome": outcome}}
    assert inline.decided[reply].rules == ("r",)


def test_policy_is_asked_about_the_call_and_not_about_the_question() -> None:
    judge = Judge(Effect.ASK)
    inline = Inline("copilot", None, judge)
    ask(inline, "session/new", {"cwd": "/p"})
    out(inline, line(id=1, result={"sessionId": "s"}))
    args = {"path": "/p/a", "file_text": "x"}
    out(inline, update("tool_call", toolCallId="c", kind="edit", status="pending", rawInput=args))
    answer(inline, question(kind="edit", rawInput={"fileName": "/p/a", "diff": "…"}))
    (call,) = judge.calls
    assert call == Call(agent="copilot", session="s", tool="create", args=args, cwd="/p", call_id="c")


@each_case("shown, tool, args")
def test_what_an_agent_shows_stands_for_arguments_that_it_does_not_give(
    shown: dict[str, Any], tool: str, args: dict[str, Any]
) -> None:
    judge = Judge(Effect.ASK)
    answer(Inline("agent", None, judge), question(**shown))
    assert (judge.calls[0].tool, judge.calls[0].args) == (tool, args)
