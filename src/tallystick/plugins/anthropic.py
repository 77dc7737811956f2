"""Model calls of the `anthropic` library, recorded: messages, plain and streamed, sync and async, with tools and thinking.

    client = record_anthropic(Anthropic(), session)

Owns what is in that API's requests and answers. Must not know how calls are recorded. The library itself is not
imported: a client of it is handed in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from tallystick.model.step import Json
from tallystick.plugins._clients import Answer, Asked, recorded, settings_of, tools_of, without_secrets
from tallystick.recording.messages import parsed, plain_text, tool_call, tool_result, words
from tallystick.recording.model_inputs import Said
from tallystick.recording.session import Session
from tallystick.recording.spans import ModelCall

Client = TypeVar("Client")
_SETTINGS = frozenset(
    {
        "cache_control",
        "container",
        "context_management",
        "effort",
        "inference_geo",
        "max_tokens",
        "output_config",
        "output_format",
        "service_tier",
        "speed",
        "stop_sequences",
        "stream",
        "temperature",
        "thinking",
        "tool_choice",
        "top_k",
        "top_p",
    }
)
_TOLD = frozenset(
    {
        "messages",
        "model",
        "system",
        "tools",
        "mcp_servers",
    }
)
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


def record_anthropic(client: Client, session: Session | None = None) -> Client:
    """A copy of an Anthropic client whose model calls are recorded, with all that each was given.

    Keys, headers and the environment are never recorded. A fault of the recorder never reaches the program.

    Args:
        client: `Anthropic`, `AsyncAnthropic` or one of their kind; it is left as it is.
        session: where to record; None: the current session of each call, and nothing outside of any.

    Raises:
        TypeError: it is no such client.
    """
    return recorded(client, session, _Anthropic())


class _Anthropic:
    """Messages (platform.claude.com/docs/en/api/messages)."""

    def asked(self, path: str, body: dict[str, Json]) -> Asked | None:
        """What a request asks."""
        if not path.endswith("/messages"):
            return None
        given = tools_of([*(body.get("tools") or ()), *(body.get("mcp_servers") or ())])
        if body.get("system"):
            given.append(Said(type="system", values=words(body["system"])))
        for message in body.get("messages") or ():
            given += _message(message)
        return Asked(
            model=body.get("model"), given=given, settings=without_secrets(settings_of(body, _SETTINGS, _TOLD))
        )

    def answered(self, path: str, call: ModelCall, answer: dict[str, Json]) -> None:
        """Put into `call` what an answer says."""
        call.id, call.model = answer.get("id"), answer.get("model") or call.model
        call.tokens, call.stop_reason = tokens(answer.get("usage") or {}), answer.get("stop_reason")
        for said in _message({"role": "assistant", "content": answer.get("content") or []}):
            call.adds(said)
        error = answer.get("error")
        if isinstance(error, dict):
            call.error = f"{error.get('type')}: {error.get('message')}"

    def streamed(self, path: str) -> Answer:
        """An empty answer."""
        return _Events()


def tokens(usage: Mapping[str, Json]) -> dict[str, int]:
    """Token counts. The API counts apart what a cache gave; `reasoning` is a part of `output`."""
    counts = {
        "input": usage.get("input_tokens"),
        "output": usage.get("output_tokens"),
        "cache_read": usage.get("cache_read_input_tokens"),
        "cache_write": usage.get("cache_creation_input_tokens"),
        "reasoning": (usage.get("output_tokens_details") or {}).get("thinking_tokens"),
    }
    return {name: count for name, count in counts.items() if type(count) is int and count >= 0}


def _message(message: dict[str, Json]) -> Iterator[Said]:
    """What is in a message, block by block; the words of a user together."""
    role, content = message.get("role"), message.get("content")
    if isinstance(content, list):
        blocks = content
    else:
        blocks = [{"type": "text", "text": content}]
    if role == "assistant":
        for block in blocks:
            yield _from_model(block)
        return
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        yield _result(block)
    if shown := words([block for block in blocks if block.get("type") != "tool_result"]):
        kind = "user"
        if role == "system":
            kind = "system"
        yield Said(type=kind, values=shown, meta={"origin": "injected"} if results else {})


def _result(block: dict[str, Json]) -> Said:
    said = tool_result(block.get("tool_use_id"), plain_text(block.get("content")))
    return Said(
        type=said.type,
        values=said.values,
        meta={**said.meta, "success": block.get("is_error") is not True},
        source_id=said.source_id,
    )


def _from_model(block: dict[str, Json]) -> Said:
    kind = block.get("type")
    if kind == "text":
        return Said(type="assistant", values={"content.text": block.get("text")})
    if kind in ("thinking", "redacted_thinking"):
        text = block.get("thinking")
        return Said(
            type="assistant",
            values={"content.thinking": text} if text else {},
            meta={} if text else {"redacted": True},
        )
    if kind in _CALLS:
        return tool_call(block.get("id"), block.get("name"), block.get("input"))
    shown = {key: value for key, value in block.items() if value is not None and key != "cache_control"}
    return Said(type="assistant", values={"content.block": shown}, meta={"block": kind})


class _Events:
    """A message that comes in events."""

    def __init__(self) -> None:
        self._message: dict[str, Json] = {}
        self._blocks: dict[int, dict[str, Json]] = {}
        self._inputs: dict[int, str] = {}

    def add(self, event: dict[str, Json]) -> None:
        """Take an event."""
        kind, index = event.get("type"), event.get("index", 0)
        if kind == "message_start":
            self._message = dict(event.get("message") or {})
        elif kind == "content_block_start":
            self._blocks[index] = dict(event.get("content_block") or {})
        elif kind == "content_block_delta":
            self._extend(index, event.get("delta") or {})
        elif kind == "message_delta":
            self._message |= {key: value for key, value in (event.get("delta") or {}).items() if value is not None}
            known = {key: value for key, value in (event.get("usage") or {}).items() if value is not None}
            self._message["usage"] = {**(self._message.get("usage") or {}), **known}
        elif kind == "error":
            self._message["error"] = event.get("error")

    def _extend(self, index: int, delta: dict[str, Json]) -> None:
        block = self._blocks.setdefault(index, {})
        for name in ("text", "thinking"):
            if isinstance(delta.get(name), str):
                block[name] = (block.get(name) or "") + delta[name]
        if isinstance(delta.get("partial_json"), str):
            self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]

    def whole(self) -> dict[str, Json]:
        """The message so far."""
        blocks = []
        for index, block in sorted(self._blocks.items()):
            written = self._inputs.get(index)
            if written:
                blocks.append({**block, "input": parsed(written)})
            else:
                blocks.append(block)
        return {**self._message, "content": blocks}
