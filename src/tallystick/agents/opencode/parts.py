"""One message of opencode with its parts, as steps.

Owns what each type of part becomes. A message of the assistant may hold several model calls: each begins with a
`step-start` part and ends with a `step-finish` part, which has its tokens. Must not know sessions.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.kit.columns import counted, micros, moment_ms, number, word
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import dict_of, int_of, list_of, text_of
from tallystick.model.request import ASKS, RequestKind
from tallystick.model.step import Event, Json, Loss, Step


class Part(msgspec.Struct, frozen=True):
    """A row of `part`."""

    id: str
    created: Json
    data: dict[str, Json]
    call: str = ""
    """The source id of the call that a tool part is: the provider's id, unless the session has it already."""

    @property
    def type(self) -> str | None:
        """What kind of part it is."""
        return text_of(self.data.get("type"))


class Message(msgspec.Struct, frozen=True):
    """A row of `message` and its parts."""

    id: str
    created: Json
    data: dict[str, Json]
    parts: list[Part] = []

    @property
    def role(self) -> str | None:
        """Who said it: user or assistant."""
        return text_of(self.data.get("role"))

    @property
    def time(self) -> str | None:
        """When it was created, RFC 3339."""
        return moment_ms(self.created)

    @property
    def compaction(self) -> Part | None:
        """The part that asks for a compaction, in a message of the user."""
        return next((part for part in self.parts if part.type == "compaction"), None)

    @property
    def is_summary(self) -> bool:
        """Whether it is the finished summary of a compaction."""
        return self.data.get("summary") is True and bool(self.data.get("finish")) and not self.data.get("error")


class Place(msgspec.Struct, frozen=True):
    """What the session says about a message of it."""

    session: str
    is_child: bool = False
    is_first: bool = False
    sees_all: bool = True


# Prompts ------------------------------------------------------------------------------------------------------------


def prompt_steps(message: Message, place: Place) -> Iterator[Event]:
    """What a message of the user becomes: what was typed, then what opencode added to it."""
    typed = [part for part in message.parts if part.type == "text" and not part.data.get("synthetic")]
    others = [part for part in message.parts if part.type in ("file", "agent", "subtask")]
    if typed or others:
        yield _prompt(message, place, typed, others)
    for part in message.parts:
        if part.type == "text" and part not in typed:
            meta = {"origin": "injected", "ignored": part.data.get("ignored")}
            values = {"content.text": part.data.get("text")}
            yield Point(place.session, part.id, moment_ms(part.created)).step("user", meta, values)
        elif part not in typed and part not in others and part.type != "compaction":
            yield unknown(part.type, f"part {part.id}")
    if not message.parts:
        yield Loss(kind="empty_message", detail=f"message {message.id} has no parts")


def _prompt(message: Message, place: Place, typed: list[Part], others: list[Part]) -> Step:
    parts, raw = take_out([_attachment(part.data) for part in others])
    origin = None
    if place.is_child and place.is_first:
        origin = "parent"
    asks = RequestKind.COMMAND if origin is None and not typed and _is_command(others) else None
    meta = {
        "origin": origin,
        ASKS: asks,
        "agent_role": message.data.get("agent"),
        **_model(dict_of(message.data.get("model"))),
    }
    values = {
        "content.text": "\n".join(text_of(part.data.get("text")) or "" for part in typed),
        "content.parts": parts or None,
        "content.system": message.data.get("system"),
    }
    step = Point(place.session, message.id, message.time).step("user", meta, values, raw)
    return msgspec.structs.replace(step, opens_request=origin is None)


def _is_command(others: list[Part]) -> bool:
    """Whether a command of the user's asks for a sub-agent's work: no one typed its words."""
    return any(part.type == "subtask" for part in others)


def _attachment(part: dict[str, Json]) -> dict[str, Json]:
    """A file part in the shape in which bytes are recognised: opencode keeps them in a data URL."""
    url, mime = text_of(part.get("url")), text_of(part.get("mime"))
    if url is None or mime is None or not url.startswith("data:"):
        return part
    rest = {key: value for key, value in part.items() if key not in ("url", "mime")}
    return {**rest, "mimeType": mime, "data": url.partition(",")[2]}


def changes_step(message: Message, session: str) -> Step | None:
    """What the files were changed to from a prompt to the next, as far as opencode says."""
    summary = dict_of(message.data.get("summary"))
    diffs = list_of(summary.get("diffs"))
    if not diffs:
        return None
    paths = [path for diff in diffs if (path := text_of(dict_of(diff).get("file"))) is not None]
    values = {"content.diffs": diffs, "content.paths": paths, "content.title": summary.get("title")}
    return Point(session, f"{message.id}/changes").step("file_effect", {"scope": "request"}, values)


# Model calls --------------------------------------------------------------------------------------------------------


def call_steps(message: Message, place: Place, at: int, *, later: str | None = None) -> Iterator[Event]:
    """The `at`-th model call of a message, then what it produced, the results of its calls, and what followed.

    Args:
        later: another session, in which what it produced belongs: the summary of a compaction.
    """
    parts = model_calls(message)[at]
    yield _model_call(message, place, parts, at)
    session, origin = place.session, None
    if later:
        session, origin = later, "summary"
    for part in parts:
        if _is_only_begun(part):
            yield Loss(kind="begun_part", detail=f"part {part.id}")
        elif part.type in ("text", "reasoning"):
            name = "content.thinking"
            if part.type == "text":
                name = "content.text"
            time = dict_of(part.data.get("time"))
            ts = moment_ms(time.get("start")) or moment_ms(part.created)
            yield Point(session, part.id, ts).step("assistant", {"origin": origin}, {name: part.data.get("text")})
        elif part.type == "tool":
            yield _tool_call(part, session)
    for part in parts:
        if part.type == "tool":
            yield from _tool_result(part, session)
        elif part.type not in ("text", "reasoning", "step-start", "step-finish"):
            yield from _other(part, session)


def _is_only_begun(part: Part) -> bool:
    """Whether the model still writes it, so that nothing of it is known: opencode makes the row first."""
    if part.type == "tool":
        state = dict_of(part.data.get("state"))
        return state.get("status") == "pending" and not state.get("input")
    if part.type in ("text", "reasoning"):
        return not part.data.get("text") and dict_of(part.data.get("time")).get("end") is None
    return False


def model_calls(message: Message) -> list[list[Part]]:
    """The parts of a message, cut where a model call begins; at least one, if it is empty."""
    calls: list[list[Part]] = [[]]
    for part in message.parts:
        if part.type == "step-start" and any(item.type == "step-start" for item in calls[-1]):
            calls.append([])
        calls[-1].append(part)
    return calls


def _model_call(message: Message, place: Place, parts: list[Part], at: int) -> Step:
    finish = next((part.data for part in parts if part.type == "step-finish"), None)
    start = next((part for part in parts if part.type == "step-start"), None)
    is_last = at == len(model_calls(message)) - 1
    if finish is not None:
        said = finish
    elif at == 0 and is_last:
        said = message.data
    else:
        said = {}
    error: dict[str, Json] = {}
    if is_last:
        error = dict_of(message.data.get("error"))
    took = None
    if is_last and not at:
        took = _duration(dict_of(message.data.get("time")), "created", "completed")
    meta = {
        **_model(message.data),
        "agent_role": message.data.get("agent"),
        "mode": message.data.get("mode"),
        "tokens": _tokens(dict_of(said.get("tokens"))),
        "cost_microusd": micros(said.get("cost")),
        "stop_reason": said.get("reason") or said.get("finish"),
        "duration_ms": took,
        "error": error.get("name"),
    }
    values = {
        "content.error": dict_of(error.get("data")).get("message") or error.get("data"),
    }
    point = Point(place.session, f"{message.id}/usage", message.time)
    if start is not None:
        values["content.snapshot"] = start.data.get("snapshot")
    if at:
        point = point.part(at)
    if at and start is not None:
        point = msgspec.structs.replace(point, ts=moment_ms(start.created))
    return point.model_call(meta, values, is_shown=place.sees_all)


def _model(data: dict[str, Json]) -> dict[str, Json]:
    return {"model": data.get("modelID"), "provider": data.get("providerID")}


def _tokens(tokens: dict[str, Json]) -> dict[str, int] | None:
    """Newer versions count reasoning beside the output, as their total shows; here it is a part of the output."""
    cache = dict_of(tokens.get("cache"))
    found = {
        "input": int_of(tokens.get("input")),
        "output": int_of(tokens.get("output")),
        "reasoning": int_of(tokens.get("reasoning")),
        "cache_read": int_of(cache.get("read")),
        "cache_write": int_of(cache.get("write")),
    }
    counts = counted(found)
    if counts is not None and "output" in counts and int_of(tokens.get("total")) == sum(counts.values()):
        counts["output"] += counts.get("reasoning", 0)
    return counts


def _duration(time: dict[str, Json], start: str, end: str) -> int | None:
    first, last = number(time.get(start)), number(time.get(end))
    if first is not None and last is not None and 0 <= last - first < 1e12:
        return round(last - first)
    return None


# Tools --------------------------------------------------------------------------------------------------------------


def spawned(part: Part) -> str | None:
    """The session of the sub-agent that a call started."""
    return word(dict_of(dict_of(part.data.get("state")).get("metadata")).get("sessionId"))


def _tool_call(part: Part, session: str) -> Step:
    state = dict_of(part.data.get("state"))
    ts = moment_ms(dict_of(state.get("time")).get("start")) or moment_ms(part.created)
    meta = {"tool": part.data.get("tool"), "corr": part.data.get("callID") or part.call or None}
    return Point(session, part.call, ts).step("tool_call", meta, {"content.args": state.get("input")})


def _tool_result(part: Part, session: str) -> Iterator[Event]:
    state = dict_of(part.data.get("state"))
    status, time = state.get("status"), dict_of(state.get("time"))
    if status not in ("completed", "error"):
        return
    metadata = dict_of(state.get("metadata"))
    code = int_of(metadata.get("exit"))
    meta = {
        "tool": part.data.get("tool"),
        "corr": part.data.get("callID") or part.call or None,
        "success": status == "completed" and code in (None, 0),
        "exit_code": code,
        "duration_ms": _duration(time, "start", "end"),
        "cleared": bool(time.get("compacted")) or None,
    }
    attached, raw = take_out([_attachment(dict_of(item)) for item in list_of(state.get("attachments"))])
    values = {
        "content.output": state.get("output"),
        "content.error": state.get("error"),
        "content.title": state.get("title") or None,
        "content.result": {key: value for key, value in metadata.items() if value != state.get("output")} or None,
        "content.parts": attached or None,
    }
    yield Point(session, f"{part.call}/result", moment_ms(time.get("end"))).step("tool_result", meta, values, raw)


def _other(part: Part, session: str) -> Iterator[Event]:
    at = Point(session, part.id, moment_ms(part.created))
    if part.type == "patch":
        values = {"content.paths": part.data.get("files"), "content.snapshot": part.data.get("hash")}
        yield at.step("file_effect", {"scope": "model_call"}, values)
    elif part.type == "retry":
        error = dict_of(part.data.get("error"))
        values = {"content.error": dict_of(error.get("data")).get("message") or error or None}
        yield at.step("warning", {"reason": "retry", "attempt": part.data.get("attempt")}, values)
    elif part.type == "snapshot":
        yield Loss(kind="snapshot", detail=f"part {part.id}")
    else:
        yield unknown(part.type, f"part {part.id}")


def compaction_step(part: Part, session: str, ts: str | None, *, is_done: bool) -> Step:
    """The compaction that a part asked for."""
    trigger = "manual"
    if part.data.get("auto"):
        trigger = "auto"
    meta = {
        "trigger": trigger,
        "success": is_done,
        "kept_from": part.data.get("tail_start_id"),
    }
    return Point(session, part.id, ts).step("compaction", meta)


def answered_call(step: Step) -> str | None:
    """The source id of the call that a step is the result of."""
    if step.type == "tool_result":
        return str(step.source_id).removesuffix("/result")
    return None
