"""What an editor does for an agent: it answers a question, reads or writes a file, runs a command.

Owns the steps of these requests once they are answered. Must not know how requests and answers are paired.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.kit.reading import dict_of, int_of, list_of, text_of
from tallystick.agents.protocols._acp_calls import Call
from tallystick.agents.protocols._acp_session import Session
from tallystick.model.decision import Decision
from tallystick.model.step import Event, Json

_ACTIONS = {"create": "start", "wait_for_exit": "exit"}


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A request that was answered, or never will be."""

    method: str
    params: dict[str, Json]
    asked_ns: int
    at_ns: int
    """When the answer came, or it was clear that none comes."""
    result: Json = None
    error: Json = None
    policy: Decision | None = None
    """The decision that the answer is, if we gave it."""

    @property
    def took_ms(self) -> int:
        """Whole milliseconds between the question and its answer."""
        return max(0, (self.at_ns - self.asked_ns) // 1_000_000)

    @property
    def refusal(self) -> str | None:
        """What the error says."""
        return text_of(dict_of(self.error).get("message"))


def permitted(session: Session, call: Call | None, exchange: Exchange, answer: dict[str, Json] | None) -> Event:
    """A question and its answer: what was shown, what was offered, what was chosen and how long it took.

    Args:
        answer: None if there was none.
    """
    params, policy = exchange.params, exchange.policy
    shown, options = dict_of(params.get("toolCall")), list_of(params.get("options"))
    chosen = _chosen(options, answer)
    meta: dict[str, Json] = {
        "decision": _decision(chosen, answer),
        "option": text_of(dict_of(dict_of(answer).get("outcome")).get("optionId")),
        "option_kind": text_of(dict_of(chosen).get("kind")),
        "duration_ms": exchange.took_ms,
    }
    if policy is not None:
        meta |= {"decided_by": "policy", "rules": list(policy.rules) or None, "policy": policy.policy}
    elif answer is not None:
        meta["decided_by"] = "user"
    values: dict[str, Json] = {"content.options": options, "content.shown": shown}
    if policy is not None:
        values["content.reason"] = policy.reason or None
    if call is None:
        meta |= {"corr": text_of(shown.get("toolCallId")), "tool": text_of(shown.get("kind"))}
        return session.step("permission", exchange.at_ns, meta, values)
    meta |= {"corr": call.source_id, "tool": call.name}
    source_id = f"{call.source_id}/permission"
    if call.questions > 1:
        source_id = f"{source_id}/{call.questions}"
    return session.about(call, session.at(exchange.at_ns, source_id).step("permission", meta, values))


def _chosen(options: list[Json], answer: dict[str, Json] | None) -> Json:
    wanted = dict_of(dict_of(answer).get("outcome")).get("optionId")
    return next((option for option in options if dict_of(option).get("optionId") == wanted), None)


def _decision(chosen: Json, answer: dict[str, Json] | None) -> str:
    if answer is None:
        return "none"
    if dict_of(answer.get("outcome")).get("outcome") == "cancelled":
        return "cancelled"
    kind = text_of(dict_of(chosen).get("kind")) or ""
    if kind.startswith("allow"):
        return "allow"
    if kind.startswith("reject"):
        return "deny"
    return "unknown"


def touched(session: Session, exchange: Exchange) -> Iterator[Event]:
    """The editor read or wrote a file for the agent: a `file_effect`."""
    yield from session.fall_silent()
    params, action, text = exchange.params, "read", dict_of(exchange.result).get("content")
    if exchange.method == "fs/write_text_file":
        action, text = "write", params.get("content")
    path = text_of(params.get("path"))
    call = None
    if path:
        call = session.calls.working_on(path)
    meta: dict[str, Json] = {
        "action": action,
        "by": "editor",
        "success": exchange.error is None,
        "duration_ms": exchange.took_ms,
        "line": int_of(params.get("line")),
        "limit": int_of(params.get("limit")),
    }
    if call is not None:
        meta["corr"] = call.source_id
    values = {"content.path": path, "content.text": text, "content.error": exchange.refusal}
    yield session.about(call, session.step("file_effect", exchange.at_ns, meta, values))


def ran(session: Session, exchange: Exchange) -> Iterator[Event]:
    """The editor ran a command for the agent: `process` steps for its start, its end and what ended it."""
    params, state = exchange.params, dict_of(exchange.result)
    terminal = text_of(params.get("terminalId")) or text_of(state.get("terminalId")) or ""
    action = exchange.method.removeprefix("terminal/")
    if action == "output":  # polled while it runs: the last word is recorded with the release
        session.terminals.setdefault(terminal, {}).update(state)
        return
    yield from session.fall_silent()
    meta = {
        "action": _ACTIONS.get(action, action),
        "by": "editor",
        "terminal": terminal or None,
        "success": exchange.error is None,
        "duration_ms": exchange.took_ms,
        "exit_code": int_of(state.get("exitCode")),
        "signal": text_of(state.get("signal")),
    }
    values: dict[str, Json] = {"content.error": exchange.refusal}
    if action == "create":
        names = [dict_of(item).get("name") for item in list_of(params.get("env"))]
        values |= {"content.command": params.get("command"), "content.args": params.get("args")}
        values |= {"content.env_names": names or None, "personal.cwd": params.get("cwd")}
    elif action == "release":
        values["content.output"] = session.terminals.pop(terminal, {}).get("output")
    yield session.step("process", exchange.at_ns, meta, values)
