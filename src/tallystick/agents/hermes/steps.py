"""One message of Hermes as steps.

Owns what a row of `messages` becomes: prompts and whose they are, model calls with what they produced, results and
whether they succeeded. Must not know sessions or contexts.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.hermes.context import flat_text
from tallystick.agents.hermes.rows import MessageRow
from tallystick.agents.kit.columns import arguments_of, moment, number, parsed, word
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.point import Point, after
from tallystick.agents.kit.reading import dict_of, int_of, list_of, note_of, text_of
from tallystick.model.step import Json, Loss, Step

_NOTICES = ("[IMPORTANT: Background process", "[Background process", "[ASYNC DELEGATION")
_NOTES = ("[System: ", "[SYSTEM: ", "[System note: ", "[IMPORTANT: ", "[Note: ")
_SCHEDULED = ("cron", "webhook")
"""Surfaces whose prompts no one types."""


class Speaker(msgspec.Struct, frozen=True):
    """What the session says about its messages."""

    session: str
    """The session as it is recorded: with `~k` after the k-th compaction in place."""
    surface: str | None = None
    model: str | None = None
    """If all main-loop calls of the session were made to one model."""
    is_child: bool = False
    is_first: bool = False
    is_summary: bool = False
    sees_all: bool = True
    """Whether the recorded path to a model call is all that it was given."""


class CallIds:
    """Source ids of calls: the call's own id, unless a provider counts from zero again in one session."""

    def __init__(self) -> None:
        self._newest: dict[str, str] = {}

    def new(self, call_id: str, message: MessageRow) -> str:
        """The source id of a call that is met now."""
        name = call_id
        if call_id in self._newest:
            name = f"{call_id}@{message.id}"
        self._newest[call_id] = name
        return name

    def of(self, call_id: str) -> str:
        """The source id of the newest call with this id."""
        return self._newest.get(call_id, call_id)


def message_steps(message: MessageRow, speaker: Speaker, calls: CallIds) -> Iterator[Step | Loss]:
    """The steps that a message is, in order, and what of it is not recorded."""
    if message.role == "assistant":
        yield from _assistant(message, speaker, calls)
    elif message.role == "tool":
        yield _result(message, speaker, calls)
    elif message.role == "user":
        yield _prompt(message, speaker)
    else:
        yield _at(message, speaker, message.id).step("system", note_of(message.role), *_said(message))
    for column in message.hidden:
        yield Loss(kind=column, detail=f"message {message.id}: reasoning in the provider's own encoding")
    if message.bad_calls is not None:
        yield Loss(kind="bad_json", detail=f"message {message.id}, tool_calls: {message.bad_calls}", fault=True)


def _prompt(message: MessageRow, speaker: Speaker) -> Step:
    origin = _origin(message, speaker)
    meta = {"origin": origin, "observed": message.is_observed or None}
    step = _at(message, speaker, message.id).step("user", meta, *_said(message))
    return msgspec.structs.replace(step, opens_request=origin is None)


def _origin(message: MessageRow, speaker: Speaker) -> str | None:
    """Where a prompt that no human gave comes from."""
    text = flat_text(message.content)
    if speaker.is_summary:
        return "summary"
    if speaker.is_child and speaker.is_first:
        return "parent"
    if text.startswith(_NOTICES):
        return "notification"
    is_note = text.startswith(_NOTES) and text.rstrip().endswith("]")
    if message.is_observed or is_note or speaker.surface in _SCHEDULED:
        return "injected"
    return None


def _assistant(message: MessageRow, speaker: Speaker, calls: CallIds) -> Iterator[Step | Loss]:
    if speaker.is_summary:
        yield _at(message, speaker, message.id).step("assistant", {"origin": "summary"}, *_said(message))
        return
    meta = {"model": speaker.model, "stop_reason": message.finish_reason, "message_tokens": message.token_count}
    yield _at(message, speaker, f"{message.id}/usage").model_call(meta, is_shown=speaker.sees_all)
    blocks: list[tuple[dict[str, Json], dict[str, bytes]]] = []
    if message.thinking is not None:
        blocks.append(({"content.thinking": message.thinking}, {}))
    if message.content not in (None, "") or message.sent is not None:
        blocks.append(_said(message))
    for place, (values, raw) in enumerate(blocks):
        yield _at(message, speaker, f"{message.id}/{place}").step("assistant", {}, values, raw)
    for place, item in enumerate(list_of(message.calls)):
        call_id = word(dict_of(item).get("id")) or word(dict_of(item).get("call_id"))
        if call_id:
            source_id = calls.new(call_id, message)
        else:
            source_id = f"{message.id}/{len(blocks) + place}"
        yield _call(message, speaker, item, call_id, source_id)
    if message.calls is not None and not isinstance(message.calls, list):
        yield Loss(kind="unknown_calls", detail=f"message {message.id}: tool_calls is no list", fault=True)


def _call(message: MessageRow, speaker: Speaker, item: Json, call_id: str | None, source_id: str) -> Step:
    function = dict_of(dict_of(item).get("function")) or dict_of(item)
    args = arguments_of(item, function.get("arguments"))
    meta = {"tool": function.get("name"), "corr": call_id}
    return _at(message, speaker, source_id).step("tool_call", meta, {"content.args": args})


def _result(message: MessageRow, speaker: Speaker, calls: CallIds) -> Step:
    if message.call_id:
        source_id = f"{calls.of(message.call_id)}/result"
    else:
        source_id = message.id
    said = outcome(message.content, message.effect)
    error = said.pop("error", None)
    meta = {"tool": message.tool, "corr": message.call_id, "effect": message.effect, **said}
    output, parts = take_out(message.content)
    values = {"content.output": output, "content.error": error}
    return _at(message, speaker, source_id).step("tool_result", meta, values, parts)


def answered(message: MessageRow, calls: CallIds) -> str | None:
    """The source id of the call that a message is the result of."""
    if message.role == "tool" and message.call_id:
        return calls.of(message.call_id)
    return None


def outcome(content: Json, effect: str | None = None) -> dict[str, Json]:
    """What a result says of its success: most tools answer with JSON that has `exit_code`, `success` or `error`.

    Args:
        effect: what Hermes says of the call's effect, if anything: `none` where it was not carried out.
    """
    found = dict_of(parsed(content))
    code, error, success = int_of(found.get("exit_code")), found.get("error"), found.get("success")
    said: dict[str, Json] = {"exit_code": code}
    if text_of(error):
        said["error"] = error
    if isinstance(success, bool):
        said["success"] = success
    elif code is not None:
        said["success"] = code == 0
    elif effect == "none" or text_of(error):
        said["success"] = False
    return said


def _said(message: MessageRow) -> tuple[dict[str, Json], dict[str, bytes]]:
    """Content as values: its text, its parts where there are others, and what was sent where that is not the same."""
    values: dict[str, Json] = {"content.sent": message.sent}
    if isinstance(message.content, str) or message.content is None:
        return {"content.text": message.content, **values}, {}
    parts, raw = take_out(message.content)
    texts = [text for part in list_of(message.content) if (text := text_of(dict_of(part).get("text"))) is not None]
    return {"content.text": "\n".join(texts) or None, "content.parts": parts, **values}, raw


def _at(message: MessageRow, speaker: Speaker, source_id: str) -> Point:
    common = {"rewound": message.is_rewound or None, "platform_message": message.platform_message}
    return Point(speaker.session, source_id, moment(message.time), common=common)


def delegated_goals(step: Step) -> list[str]:
    """The goals that a call hands to sub-agents; empty for other calls."""
    if step.type != "tool_call" or step.meta.get("tool") != "delegate_task":
        return []
    args = dict_of(step.values.get("content.args"))
    goals = [args.get("goal"), *(dict_of(task).get("goal") for task in list_of(args.get("tasks")))]
    return [goal for goal in goals if isinstance(goal, str) and goal]


def delegation_of(step: Step) -> str | None:
    """The delegation that a result announces."""
    if step.type != "tool_result" or step.meta.get("tool") != "delegate_task":
        return None
    return word(dict_of(parsed(step.values.get("content.output"))).get("delegation_id"))


def delegation_steps(row: dict[str, Json], session: str, call: str | None) -> Iterator[Step | Loss]:
    """The start and the end of a background delegation, from a row of `async_delegations`."""
    source_id = word(row.get("delegation_id"))
    if source_id is None:
        yield Loss(kind="bad_row", detail="a delegation without an id", fault=True)
        return
    about: dict[str, Json] = {"delegation": source_id}
    start = Point(session, source_id, moment(number(row.get("dispatched_at"))))
    yield after(start.step("subagent_start", about, {"content.task": _cell(row.get("task_json"))}), call or None)
    if row.get("completed_at") is not None:
        meta = {**about, "state": row.get("state"), "delivery": row.get("delivery_state")}
        values = {"content.result": _cell(row.get("result_json")), "content.event": _cell(row.get("event_json"))}
        end = Point(session, f"{source_id}/end", moment(number(row.get("completed_at"))))
        yield after(end.step("subagent_end", meta, values), source_id)


def _cell(value: Json) -> Json:
    """What a cell of JSON text says; text that is none, as it is."""
    return parsed(value) or value
