"""The response items of Codex: what was said to the model, what it answered, what its tools returned.

Owns one handler for each kind of item, their content blocks, and telling a prompt that someone typed from one that Codex
wrote for the model. Must not know the events beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from tallystick.agents.codex.line import Line, known
from tallystick.agents.codex.outcomes import Outcome, arguments, from_output
from tallystick.agents.codex.thread import Thread
from tallystick.agents.kit.answers import answer_in
from tallystick.agents.kit.conversation import speaker
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.agents.kit.spelling import names
from tallystick.model.step import Event, Json, Loss, SessionKind, Step

_TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
_OPENINGS = tuple(names("codex", "openings").items())
_ASKS = tuple(names("codex", "asks").items())
"""How prompts begin that no one typed, for versions that do not say where a prompt comes from."""


def said(content: Json, name: str = "content.text") -> tuple[dict[str, Json], dict[str, bytes]]:
    """The values and raw values of a message: its text, and its blocks too if not all of them are text."""
    if isinstance(content, str):
        return {name: content}, {}
    blocks = list_of(content)
    texts = [text for block in blocks if (text := _text(block)) is not None]
    values: dict[str, Json] = {}
    if texts:
        values = {name: "\n".join(texts)}
    others = [block for block in blocks if _text(block) is None and not is_encrypted(block)]
    if not others:
        return values, {}
    values["content.blocks"], raw = take_out(others)
    return values, raw


def _text(block: Json) -> str | None:
    found = dict_of(block)
    if found.get("type") in _TEXTS:
        return text_of(found.get("text"))
    if found.get("type") == "encrypted_content" and not is_encrypted(block):
        return text_of(found.get("encrypted_content"))
    return None


def is_encrypted(block: Json) -> bool:
    """Whether a block is ciphertext. Some providers send plain words in it; ciphertext has no spaces."""
    found = dict_of(block)
    return found.get("type") == "encrypted_content" and " " not in str(found.get("encrypted_content"))


def thought(payload: dict[str, Json]) -> dict[str, Json]:
    """The values of a reasoning item: the thinking, or the summary of it that the provider gives."""
    whole, _ = said(payload.get("content"), "content.thinking")
    brief, _ = said(payload.get("summary"), "content.thinking")
    if not whole:
        return brief
    if brief:
        return {**whole, "content.summary": brief["content.thinking"]}
    return whole


def origin_of(payload: dict[str, Json], *, child: bool) -> str | None:
    """Where a user message comes from: `injected`, `summary`… or None, if someone typed it.

    No one types into a sub-agent: what would be a prompt in another session is its parent's task there.
    """
    passed = dict_of(payload.get("internal_chat_message_metadata_passthrough"))
    kinds = [text for kind in list_of(passed.get("content_item_kinds")) if (text := text_of(kind)) is not None]
    if set(kinds) - {"unknown"}:
        found = _of_kinds(kinds)
    else:
        found = _of_text(payload)
    if found is None and child:
        return "parent"
    return found


def _of_kinds(kinds: list[str]) -> str | None:
    if any(kind.startswith("user.") for kind in kinds):
        return None
    if "compaction.summary" in kinds:
        return "summary"
    if any("notification" in kind for kind in kinds):
        return "notification"
    return "injected"


def _of_text(payload: dict[str, Json]) -> str | None:
    values, _ = said(payload.get("content"))
    start = (text_of(values.get("content.text")) or "").lstrip()[:64]
    return next((where for opening, where in _OPENINGS if start.startswith(opening)), None)


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
        if isinstance(kept.get("encrypted_content"), str):
            yield Loss(kind="encrypted_content", detail=sid)
        else:
            yield Loss(kind="retained_item", detail=sid)
        return
    type_, role = _speaker(kept)
    values, raw = said(kept.get("content"))
    meta: dict[str, Json] = {}
    if type_ == "system":
        meta = {"role": role}
    elif type_ == "user":
        meta = {"origin": origin_of(kept, child=False) or "summary"}
    yield from thread.responses.told(thread.at(line, sid).step(type_, {**meta, "retained": True}, values, raw))


def _message(thread: Thread, line: Line) -> Iterator[Event]:
    yield from _ciphertexts(line)
    values, raw = said(line.payload.get("content"))
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
    origin = origin_of(line.payload, child=thread.kind is SessionKind.CHILD)
    yield from thread.responses.flush()
    if origin is None:
        thread.prompted()
    start = (text_of(step.values.get("content.text")) or "").lstrip()
    asks = next((kind for opening, kind in _ASKS if start.startswith(opening)), None)
    meta = {**step.meta, **known(origin=origin, asks=asks, run=thread.responses.run)}
    opens = origin is None or asks is not None
    yield from thread.responses.told(msgspec.structs.replace(step, meta=meta, opens_request=opens))


def mail(thread: Thread, line: Line) -> Iterator[Event]:
    """A message from one agent to another: a task from the parent, or news from a sub-agent."""
    yield from _ciphertexts(line)
    values, raw = said(line.payload.get("content"))
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
    values = thought(line.payload)
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
    for answer in answer_in("codex", step):
        yield from thread.responses.told(answer)


def _speaker(payload: dict[str, Json]) -> tuple[str, str | None]:
    """The step type of a message, and the role it is written with."""
    role = text_of(payload.get("role"))
    return speaker(role), role


def _ciphertexts(line: Line) -> Iterator[Loss]:
    for block in list_of(line.payload.get("content")):
        if is_encrypted(block):
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
