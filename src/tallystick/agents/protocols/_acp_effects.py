"""What an editor does for an agent: it answers a question, reads or writes a file, runs a command.

Owns the steps of these requests once they are answered. Must not know how requests and answers are paired.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents.kit.reading import dict_of, int_of, list_of, text_of
from tallystick.agents.protocols._acp_calls import Call
from tallystick.agents.protocols._acp_session import Session
from tallystick.model.decision import Decision
from tallystick.model.step import Event, Json

_ACTIONS = {"create": "start", "wait_for_exit": "exit"}


def took_ms(asked_ns: int, at_ns: int) -> int:
    """Whole milliseconds between a question and its answer."""
    return max(0, (at_ns - asked_ns) // 1_000_000)


def permitted(
    session: Session,
    call: Call | None,
    params: dict[str, Json],
    answer: dict[str, Json] | None,
    times: tuple[int, int],
    policy: Decision | None,
) -> Event:
    """A question and its answer: what was shown, what was offered, what was chosen and how long it took.

    Args:
        answer: None if there was none. times: when it was asked and answered, ns. policy: the decision, if it was ours.
    """
    shown, options = dict_of(params.get("toolCall")), list_of(params.get("options"))
    chosen = _chosen(options, answer)
    meta = {
        "corr": call.source_id if call is not None else text_of(shown.get("toolCallId")),
        "tool": call.name if call is not None else text_of(shown.get("kind")),
        "decision": _decision(chosen, answer),
        "option": text_of(dict_of(dict_of(answer).get("outcome")).get("optionId")),
        "option_kind": text_of(dict_of(chosen).get("kind")),
        "decided_by": "policy" if policy is not None else ("user" if answer is not None else None),
        "rules": list(policy.rules) if policy is not None and policy.rules else None,
        "policy": policy.policy if policy is not None else None,
        "duration_ms": took_ms(*times),
    }
    reason = None
    if policy is not None:
        reason = policy.reason or None
    values = {"content.options": options, "content.shown": shown, "content.reason": reason}
    number = ""
    if call is not None and call.questions > 1:
        number = f"/{call.questions}"
    source_id = None
    if call is not None:
        source_id = f"{call.source_id}/permission{number}"
    return session.step("permission", times[1], meta, values, source_id=source_id, call=call)


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


def touched(
    session: Session, method: str, params: dict[str, Json], result: Json, error: Json, times: tuple[int, int]
) -> Iterator[Event]:
    """The editor read or wrote a file for the agent: a `file_effect`."""
    yield from session.fall_silent()
    writes = method == "fs/write_text_file"
    path = text_of(params.get("path"))
    call = None
    if path:
        call = session.calls.working_on(path)
    meta = {
        "action": "write" if writes else "read",
        "by": "editor",
        "corr": call.source_id if call is not None else None,
        "success": error is None,
        "duration_ms": took_ms(*times),
        "line": int_of(params.get("line")),
        "limit": int_of(params.get("limit")),
    }
    if writes:
        text = params.get("content")
    else:
        text = dict_of(result).get("content")
    values = {"content.path": path, "content.text": text, "content.error": text_of(dict_of(error).get("message"))}
    yield session.step("file_effect", times[1], meta, values, call=call)


def ran(
    session: Session, method: str, params: dict[str, Json], result: Json, error: Json, times: tuple[int, int]
) -> Iterator[Event]:
    """The editor ran a command for the agent: `process` steps for its start, its end and what ended it."""
    terminal = text_of(params.get("terminalId")) or text_of(dict_of(result).get("terminalId")) or ""
    action = method.removeprefix("terminal/")
    if action == "output":  # polled while it runs: the last word is recorded with the release
        session.terminals.setdefault(terminal, {}).update(dict_of(result))
        return
    yield from session.fall_silent()
    state = dict_of(result)
    meta = {
        "action": _ACTIONS.get(action, action),
        "by": "editor",
        "terminal": terminal or None,
        "success": error is None,
        "duration_ms": took_ms(*times),
        "exit_code": int_of(state.get("exitCode")),
        "signal": text_of(state.get("signal")),
    }
    values: dict[str, Json] = {"content.error": text_of(dict_of(error).get("message"))}
    if action == "create":
        names = [dict_of(item).get("name") for item in list_of(params.get("env"))]
        values |= {"content.command": params.get("command"), "content.args": params.get("args")}
        values |= {"content.env_names": names or None, "personal.cwd": params.get("cwd")}
    elif action == "release":
        values["content.output"] = session.terminals.pop(terminal, {}).get("output")
    yield session.step("process", times[1], meta, values)
