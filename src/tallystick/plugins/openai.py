"""Model calls of the `openai` library, recorded: chat completions and responses, plain and streamed, sync and async.

    client = record_openai(OpenAI(), session)

Owns what is in that API's requests and answers. Must not know how calls are recorded. The library itself is not
imported: a client of it is handed in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from tallystick.model.step import Json
from tallystick.plugins._clients import Answer, Asked, recorded, settings_of, tools_of, without_secrets
from tallystick.recording.messages import parsed, plain_text, said_of, tool_call, tool_result, words
from tallystick.recording.model_inputs import Said
from tallystick.recording.session import Session
from tallystick.recording.spans import ModelCall

Client = TypeVar("Client")
_CHAT, _RESPONSES = "/chat/completions", "/responses"
_SETTINGS = frozenset(
    {
        "audio",
        "frequency_penalty",
        "function_call",
        "include",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_output_tokens",
        "max_tokens",
        "max_tool_calls",
        "modalities",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "reasoning",
        "reasoning_effort",
        "response_format",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "top_logprobs",
        "top_p",
        "truncation",
        "verbosity",
        "web_search_options",
        "background",
    }
)
_TOLD = frozenset(
    {
        "messages",
        "model",
        "tools",
        "functions",
        "input",
        "instructions",
        "previous_response_id",
        "conversation",
        "prompt",
    }
)


def record_openai(client: Client, session: Session | None = None) -> Client:
    """A copy of an OpenAI client whose model calls are recorded, with all that each was given.

    Keys, headers and the environment are never recorded. A fault of the recorder never reaches the program.

    Args:
        client: `OpenAI`, `AsyncOpenAI` or one of their kind; it is left as it is.
        session: where to record; None: the current session of each call, and nothing outside of any.

    Raises:
        TypeError: it is no such client.
    """
    return recorded(client, session, _OpenAI())


class _OpenAI:
    """Chat completions and responses (platform.openai.com/docs/api-reference)."""

    def asked(self, path: str, body: dict[str, Json]) -> Asked | None:
        """What a request asks."""
        messages: list[Said]
        if path.endswith(_CHAT):
            messages, continues, hidden = list(said_of(body.get("messages") or ())), None, False
        elif path.endswith(_RESPONSES):
            messages, hidden = _given(body)
            continues = body.get("previous_response_id")
        else:
            return None
        tools = tools_of([*(body.get("tools") or ()), *(body.get("functions") or ())])
        return Asked(
            model=body.get("model"),
            given=[*tools, *messages],
            settings=without_secrets(settings_of(body, _SETTINGS, _TOLD)),
            continues=continues,
            is_hidden=hidden,
        )

    def answered(self, path: str, call: ModelCall, answer: dict[str, Json]) -> None:
        """Put into `call` what an answer says."""
        call.id, call.model = answer.get("id"), answer.get("model") or call.model
        call.tokens = tokens(answer.get("usage") or {})
        if answer.get("service_tier") is not None:
            call.meta["service_tier"] = answer["service_tier"]
        (_answered_chat if path.endswith(_CHAT) else _answered_response)(call, answer)

    def streamed(self, path: str) -> Answer:
        """An empty answer."""
        if path.endswith(_CHAT):
            return _Chunks()
        return _Events()


def tokens(usage: Mapping[str, Json]) -> dict[str, int]:
    """Token counts in which nothing is counted twice: the API counts cached tokens as input, too.

    `input` is what no cache gave; `reasoning` is a part of `output`.
    """
    given, output = (usage.get("prompt_tokens", usage.get("input_tokens")), usage.get("completion_tokens"))
    of_input = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    of_output = usage.get("completion_tokens_details") or usage.get("output_tokens_details") or {}
    read, written = of_input.get("cached_tokens"), of_input.get("cache_write_tokens")
    counts = {
        "input": None if given is None else max(given - (read or 0) - (written or 0), 0),
        "output": usage.get("output_tokens") if output is None else output,
        "cache_read": read,
        "cache_write": written,
        "reasoning": of_output.get("reasoning_tokens"),
    }
    return {name: count for name, count in counts.items() if type(count) is int and count >= 0}


# Chat completions ----------------------------------------------------------------------------------------------------


def _answered_chat(call: ModelCall, answer: dict[str, Json]) -> None:
    choices = answer.get("choices") or ()
    for choice in choices:
        for said in said_of([{**(choice.get("message") or {}), "role": "assistant"}]):
            call.adds(said)
    if choices:
        call.stop_reason = choices[0].get("finish_reason")
    else:
        call.stop_reason = None


class _Chunks:
    """A chat completion that comes in chunks."""

    def __init__(self) -> None:
        self._answer: dict[str, Json] = {}
        self._choices: dict[int, dict[str, Json]] = {}

    def add(self, event: dict[str, Json]) -> None:
        """Take a chunk."""
        self._answer |= {
            key: event[key] for key in ("id", "model", "usage", "service_tier") if event.get(key) is not None
        }
        for piece in event.get("choices") or ():
            choice = self._choices.setdefault(piece.get("index", 0), {"message": {}, "calls": {}})
            if piece.get("finish_reason") is not None:
                choice["finish_reason"] = piece["finish_reason"]
            _extend(choice, piece.get("delta") or {})

    def whole(self) -> dict[str, Json]:
        """The completion so far."""
        choices = []
        for _, choice in sorted(self._choices.items()):
            calls = [call for _, call in sorted(choice["calls"].items())]
            choices.append(
                {"message": {**choice["message"], "tool_calls": calls}, "finish_reason": choice.get("finish_reason")}
            )
        return {**self._answer, "choices": choices}


def _extend(choice: dict[str, Json], delta: dict[str, Json]) -> None:
    """Add to a choice what a chunk says of it."""
    message = choice["message"]
    for name in ("content", "refusal", "reasoning_content", "reasoning"):
        if isinstance(delta.get(name), str):
            message[name] = message.get(name, "") + delta[name]
    for piece in delta.get("tool_calls") or ():
        call = choice["calls"].setdefault(piece.get("index", len(choice["calls"])), {"id": None, "function": {}})
        call["id"] = piece.get("id") or call["id"]
        for name, value in (piece.get("function") or piece.get("custom") or {}).items():
            if isinstance(value, str):
                member = "arguments"
                if name != "input":
                    member = name
                call["function"][member] = call["function"].get(member, "") + value


# Responses -----------------------------------------------------------------------------------------------------------


def _given(body: dict[str, Json]) -> tuple[list[Said], bool]:
    """What a response is made from, and whether the model is given more than that."""
    said: list[Said] = []
    if isinstance(body.get("instructions"), str):
        said.append(Said(type="system", values={"content.text": body["instructions"]}, is_lasting=False))
    items = body.get("input")
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    else:
        items = items or []
    for item in items:
        said += _item(item)
    is_hidden = body.get("conversation") is not None or body.get("prompt") is not None
    return said, is_hidden or any(item.get("type") == "item_reference" for item in items)


def _item(item: dict[str, Json]) -> Iterator[Said]:
    """One item of an input or an output."""
    kind, item_id = item.get("type", "message"), item.get("id")
    if kind == "message":
        yield from _message(item, item_id)
    elif kind in ("function_call", "custom_tool_call"):
        yield tool_call(
            item.get("call_id") or item_id, item.get("name"), parsed(item.get("arguments", item.get("input")))
        )
    elif kind in ("function_call_output", "custom_tool_call_output"):
        yield tool_result(item.get("call_id"), plain_text(item.get("output")))
    elif kind == "reasoning":
        yield _reasoning(item, item_id)
    elif kind != "item_reference":
        shown = {key: value for key, value in item.items() if value is not None and key not in ("id", "status")}
        yield Said(
            type="assistant", values={"content.block": without_secrets(shown)}, meta={"block": kind}, source_id=item_id
        )


def _message(item: dict[str, Json], item_id: str | None) -> Iterator[Said]:
    content = item.get("content")
    if isinstance(content, list):
        parts = content
    else:
        parts = []
    refusals = [part["refusal"] for part in parts if part.get("type") == "refusal"]
    if item.get("role") == "assistant" and (shown := words("\n".join(refusals) or content)):
        yield Said(type="assistant", values=_texts_alone(shown), source_id=item_id)
    elif item.get("role") != "assistant":
        yield from said_of([{"role": item.get("role"), "content": content}])


def _texts_alone(shown: dict[str, Json]) -> dict[str, Json]:
    if "content.text" in shown:
        return {"content.text": shown["content.text"]}
    return shown


def _reasoning(item: dict[str, Json], item_id: str | None) -> Said:
    parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
    text = "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    if text:
        return Said(type="assistant", values={"content.thinking": text}, source_id=item_id)
    return Said(type="assistant", values={}, meta={"redacted": True}, source_id=item_id)


def _answered_response(call: ModelCall, answer: dict[str, Json]) -> None:
    for item in answer.get("output") or ():
        for said in _item(item):
            call.adds(said)
    details = answer.get("incomplete_details") or {}
    call.stop_reason = details.get("reason") or answer.get("status")
    error = answer.get("error")
    if isinstance(error, dict):
        call.error = f"{error.get('code')}: {error.get('message')}"


class _Events:
    """A response that comes in events. The last one has all of it; until then, the items that were done."""

    def __init__(self) -> None:
        self._answer: dict[str, Json] = {}
        self._done: list[Json] = []
        self._texts: dict[str, str] = {}

    def add(self, event: dict[str, Json]) -> None:
        """Take an event."""
        kind = event.get("type")
        if isinstance(event.get("response"), dict):
            self._answer = event["response"]
        elif kind == "response.output_item.done":
            item = event.get("item") or {}
            self._done.append(item)
            self._texts.pop(item.get("id", ""), None)
        elif kind == "response.output_text.delta":
            name = event.get("item_id", "")
            self._texts[name] = self._texts.get(name, "") + event.get("delta", "")
        elif kind == "error":
            self._answer["error"] = {"code": event.get("code"), "message": event.get("message")}

    def whole(self) -> dict[str, Json]:
        """The response so far."""
        if self._answer.get("output"):
            return self._answer
        begun = [
            {"type": "message", "role": "assistant", "id": name, "content": text} for name, text in self._texts.items()
        ]
        return {**self._answer, "output": [*self._done, *begun]}
