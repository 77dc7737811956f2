"""The response items of Codex: what was said to the model, what it answered, what its tools returned.

Owns one handler for each kind of item. Must not know the events beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from tallystick.agents.codex import words
from tallystick.agents.codex.line import Line, known
from tallystick.agents.codex.outcomes import Outcome, arguments, from_output
from tallystick.agents.codex.thread import Thread
from tallystick.agents.kit.conversation import speaker
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.model.step import Event, Json, Loss, SessionKind, Step

_ENCRYPTED = ("compaction", "compaction_summary", "context_compaction")
"""Items that are nothing but ciphertext."""


def item(thread: Thread, line: Line) -> Iterator[Event]:
    """The events that a response item is."""
    handle = _HANDLERS.get(line.name)
    if handle is not None:
        yield from handle(thread, line)
    elif line.name in _ENCRYPTED:
        yield Loss(kind="encrypted_content", detail=line.at)
    else:
        yield unknown(line.name, line.at)


def compacted(thread: Thread, line: Line) -> Iterator[Event]:
    """The history is replaced: what is left of it is the beginning of the continuation."""
    yield from thread.compact(line, line.text("message"))
    for number, kept in enumerate(list_of(line.payload.get("replacement_history"))):
        yield from _retained(thread, line, dict_of(kept), f"{line.at}/{number}")


def _retained(thread: Thread, line: Line, kept: dict[str, Json], sid: str) -> Iterator[Event]:
    """Known words, which no one says again."""
    if kept.get("type") != "message":
        kind = "retained_item"
        if isinstance(kept.get("encrypted_content"), str):
            kind = "encrypted_content"
        yield Loss(kind=kind, detail=sid)
        return
    type_, role = _speaker(kept)
    values, raw = words.said(kept.get("content"))
    meta: dict[str, Json] = {}
    if type_ == "system":
        meta = {"role": role}
    elif type_ == "user":
        meta = {"origin": words.origin(kept, child=False) or "summary"}
    yield from thread.responses.told(thread.at(line, sid).step(type_, {**meta, "retained": True}, values, raw))


def _message(thread: Thread, line: Line) -> Iterator[Event]:
    yield from _ciphertexts(line)
    values, raw = words.said(line.payload.get("content"))
    type_, role = _speaker(line.payload)
    if type_ == "assistant":
        purpose = None
        if line.notes.get("compaction_output") is True:
            purpose = "compaction"
        meta = known(phase=line.text("phase"), purpose=purpose)
        step = thread.at(line, line.id).step(type_, meta, values, raw)
        yield from thread.responses.produced(thread.at(line, line.id), step)
    elif type_ == "system":
        yield from thread.responses.told(thread.at(line, line.id).step(type_, known(role=role), values, raw))
    else:
        yield from _prompt(thread, line, thread.at(line, line.id).step(type_, {}, values, raw))


def _prompt(thread: Thread, line: Line, step: Step) -> Iterator[Event]:
    origin = words.origin(line.payload, child=thread.kind is SessionKind.CHILD)
    yield from thread.responses.flush()
    if origin is None:
        thread.prompted()
    meta = {**step.meta, **known(origin=origin, run=thread.responses.run)}
    yield from thread.responses.told(msgspec.structs.replace(step, meta=meta, opens_request=origin is None))


def mail(thread: Thread, line: Line) -> Iterator[Event]:
    """A message from one agent to another: a task from the parent, or news from a sub-agent."""
    yield from _ciphertexts(line)
    values, raw = words.said(line.payload.get("content"))
    author, recipient = line.text("author"), line.text("recipient")
    origin = "notification"
    if author and recipient and recipient.startswith(f"{author}/"):
        origin = "parent"
    meta = known(origin=origin, run=thread.responses.run)
    if author:
        values["content.label"] = author
    yield from thread.responses.told(thread.at(line, line.id).step("user", meta, values, raw))


def _reasoning(thread: Thread, line: Line) -> Iterator[Event]:
    if line.payload.get("encrypted_content"):
        yield Loss(kind="encrypted_content", detail=line.at)
    values = words.thought(line.payload)
    step = None
    if values:
        step = thread.at(line, line.id).step("assistant", {}, values)
    yield from thread.responses.produced(thread.at(line, line.id), step)


def _declared(thread: Thread, line: Line) -> Iterator[Event]:
    """Tools that the model is told of in the middle of a session."""
    values = {"content.tools": line.payload.get("tools")}
    yield from thread.responses.told(thread.at(line, line.id).step("system", {"subtype": "tools"}, values))


def _call(thread: Thread, line: Line) -> Iterator[Event]:
    tool, args = _asked(line)
    if line.name == "local_shell_call" and dict_of(args).pop("env", None):
        yield Loss(kind="environment", detail=line.at)
    thread.called[line.call] = tool
    if tool == "exec" and line.name == "custom_tool_call":
        thread.script = line.call
    meta = known(tool=tool, corr=line.call, namespace=line.text("namespace"))
    step = thread.at(line, line.call).step("tool_call", meta, {"content.args": args})
    yield from thread.responses.produced(thread.at(line, line.id), step)
    if isinstance(line.payload.get("result"), str):  # a picture: the provider drew it, and answers in the call
        url = f"data:image/png;base64,{line.payload['result']}"
        yield from _answer(thread, line, [{"image_url": url}])


def _asked(line: Line) -> tuple[str | None, Json]:
    """The tool and the arguments of a call."""
    if line.name in ("local_shell_call", "web_search_call"):
        return line.name.removesuffix("_call"), line.payload.get("action")
    if line.name == "image_generation_call":
        return "image_generation", line.payload.get("revised_prompt")
    if line.name == "tool_search_call":
        return "tool_search", arguments(line.payload.get("arguments"))
    if "input" in line.payload:
        return line.text("name"), line.payload["input"]
    return line.text("name"), arguments(line.payload.get("arguments"))


def _result(thread: Thread, line: Line) -> Iterator[Event]:
    yield from _answer(thread, line, line.payload.get("output", line.payload.get("tools")))


def _answer(thread: Thread, line: Line, output: Json) -> Iterator[Event]:
    call = line.call
    outcome = thread.outcomes.pop(call, Outcome()).over(from_output(output))
    thread.answered.add(call)
    if thread.script == call:
        thread.script = None
    if isinstance(output, dict):
        output = output.get("content", output)
    given, raw = take_out(output)
    meta = {"tool": thread.called.get(call), "corr": call, **outcome.meta()}
    values = {"content.output": given, **outcome.values()}
    step = thread.at(line, f"{call}/result").step("tool_result", meta, values, raw)
    yield from thread.responses.answered(step, call)


def _speaker(payload: dict[str, Json]) -> tuple[str, str | None]:
    """The step type of a message, and the role it is written with."""
    role = text_of(payload.get("role"))
    return speaker(role), role


def _ciphertexts(line: Line) -> Iterator[Loss]:
    for block in list_of(line.payload.get("content")):
        if words.is_encrypted(block):
            yield Loss(kind="encrypted_content", detail=line.at)


_HANDLERS: dict[str, Callable[[Thread, Line], Iterator[Event]]] = {
    "message": _message,
    "agent_message": mail,
    "reasoning": _reasoning,
    "additional_tools": _declared,
    "function_call": _call,
    "custom_tool_call": _call,
    "local_shell_call": _call,
    "web_search_call": _call,
    "tool_search_call": _call,
    "image_generation_call": _call,
    "function_call_output": _result,
    "custom_tool_call_output": _result,
    "tool_search_output": _result,
}
