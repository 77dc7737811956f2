"""Messages of a chat, as most model APIs have them: `{"role": …, "content": …}`.

Owns reading them into what `give` takes. Must not know a model API's other calls, nor which messages are recorded already.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from tallystick.model.step import Json
from tallystick.recording.jsonify import plain
from tallystick.recording.model_inputs import Said


def said_of(messages: Iterable[Json | Said]) -> Iterator[Said]:
    """What is in a conversation, one by one: a message may hold text, thinking, calls and results."""
    for message in messages:
        if isinstance(message, Said):
            yield message
        else:
            found = plain(message)
            yield from _said(found if isinstance(found, dict) else {"role": "user", "content": found})


def _said(message: dict[str, Json]) -> Iterator[Said]:
    role, content = message.get("role"), message.get("content")
    if role in ("system", "developer"):
        yield Said(type="system", values=words(content), meta={} if role == "system" else {"role": role})
    elif role in ("tool", "function"):
        yield tool_result(_id(message.get("tool_call_id")), plain_text(content), message.get("name"))
    elif role == "assistant":
        yield from _assistant(message, content)
    else:
        yield Said(type="user", values=words(content))


def _assistant(message: dict[str, Json], content: Json) -> Iterator[Said]:
    thought = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(thought, str) and thought:
        yield Said(type="assistant", values={"content.thinking": thought})
    shown = words(content if content else message.get("refusal"))
    if shown:
        yield Said(type="assistant", values=shown)
    for call in message.get("tool_calls") or ():
        if isinstance(call, dict):
            yield chat_call(call)


def chat_call(call: Mapping[str, Json]) -> Said:
    """A call as a chat message has it: `{"id", "function": {"name", "arguments"}}`, or `custom` with an `input`."""
    asked = call.get("function") or call.get("custom") or {}
    return tool_call(_id(call.get("id")), asked.get("name"), parsed(asked.get("arguments", asked.get("input"))))


def tool_call(call_id: str | None, tool: Json, args: Json) -> Said:
    """A call that a model asks for."""
    return Said(
        type="tool_call", values={"content.args": args}, meta=_known(tool=tool, corr=call_id), source_id=call_id
    )


def tool_result(call_id: str | None, output: Json, tool: Json = None) -> Said:
    """What a model is told of a call that it asked for."""
    return Said(
        type="tool_result",
        values={"content.output": output},
        meta=_known(tool=tool, corr=call_id),
        source_id=f"{call_id}/result" if call_id is not None else None,
    )


def words(content: Json) -> dict[str, Json]:
    """The field values of a message's content: its text, and the parts that are something else."""
    if content is None or content == "":
        return {}
    if isinstance(content, str):
        return {"content.text": content}
    if isinstance(content, list):
        parts = content
    else:
        parts = [content]
    texts = [text for part in parts if (text := _text(part)) is not None]
    others = [part for part in parts if _text(part) is None]
    return _known_values({"content.text": "\n".join(texts) if texts else None, "content.blocks": others or None})


def _text(part: Json) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and part.get("type") in ("text", "input_text", "output_text", None):
        text = part.get("text")
        if isinstance(text, str):
            return text
        return None
    return None


def plain_text(content: Json) -> Json:
    """The text of a content that is text only, else the content."""
    shown = words(content)
    if "content.blocks" not in shown:
        return shown.get("content.text", "")
    return content


def parsed(arguments: Json) -> Json:
    """Arguments, which most APIs write as JSON text: as they are meant, or the text if it is not JSON."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def _id(value: Json) -> str | None:
    if isinstance(value, str) and value:
        return value
    return None


def _known(**members: Json) -> dict[str, Json]:
    return {name: value for name, value in members.items() if value is not None}


def _known_values(values: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in values.items() if value is not None}
