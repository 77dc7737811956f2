"""mini-swe-agent's trajectories: one JSON document a run, with every message and every answer of the model.

A run has no id of its own, and its file may be written over by the next run: it is named by the first answer's id, which
the provider gave, else by its file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.columns import known, micros, moment, number, parsed, without_environment, word
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.reading import dict_of, events_of_object, int_of, list_of, text_of
from tallystick.agents.kit.trail import Trail
from tallystick.agents.recognition import count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Input, Json, Loss, Opening, Step

NAME = "mini-swe-agent"
SHAPE = Shape.DOCUMENT
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
_TOLD = ("exit_status", "submission", "model_stats", "config", "mini_version")


def locate() -> tuple[str, ...]:
    """Globs below the home folder: where the last run is kept unless another place is named."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is such a trajectory: it says so, at its end; at its beginning it has settings that only it has."""
    if not head.lstrip().startswith(b"{"):
        return 0
    settings = b'"minisweagent.' in head and path.endswith((".json", ".traj"))
    first = first_object(head)
    is_named = (text_of(first.get("trajectory_format")) or "").startswith("mini-swe-agent-")
    members = count_members(first, "info.mini_version", also=("messages",))
    return members + (3 if is_named else 0) + (3 if settings else 0)


def reader(file: SourceFile) -> Reader:
    """A reader for one trajectory."""
    return _Reader(file.path)


class _Reader:
    def __init__(self, path: str) -> None:
        *folders, name = path.replace("\\", "/").split("/")
        stem = name.removesuffix(".json").removesuffix(".traj")
        self._session = f"{folders[-1]}/{stem}" if folders and folders[-1] else stem
        self._trail = Trail()
        self._calls: dict[str, str] = {}
        self._open: list[str] = []
        self._has_task = False
        self._model: Json = None

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of the document."""
        otherwise = Loss(kind="bad_document", detail="a trajectory that is no object", fault=True)
        return events_of_object(data, offset, self._document, otherwise)

    def finish(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def _document(self, document: dict[str, Json]) -> Iterator[Event]:
        info = dict_of(document.get("info"))
        messages = [dict_of(message) for message in list_of(document.get("messages"))]
        yield self._opening(info, messages)
        if without_environment(info) != info:
            yield Loss(kind="environment", detail="environment variables are never recorded")
        for place, message in enumerate(messages):
            yield from self._message(f"#{place}", message)
        yield from self._end(info)

    def _opening(self, info: dict[str, Json], messages: list[dict[str, Json]]) -> Opening:
        config = dict_of(info.get("config"))
        environment = dict_of(config.get("environment"))
        answers = (dict_of(dict_of(message.get("extra")).get("response")).get("id") for message in messages)
        self._session = next((found for answer in answers if (found := word(answer))), self._session)
        self._model = dict_of(config.get("model")).get("model_name")
        values = {
            "personal.cwd": word(environment.get("cwd")),
            "content.config": without_environment(config) or None,
        }
        meta = known({"agent_version": info.get("mini_version"), "model": self._model})
        return Opening(session=self._session, agent=NAME, meta=meta, values=known(values))

    # Messages --------------------------------------------------------------------------------------------------------

    def _message(self, source_id: str, message: dict[str, Json]) -> Iterator[Event]:
        role = message.get("role")
        if not message:
            yield Loss(kind="bad_message", detail=f"message {source_id} is no object", fault=True)
        elif role == "assistant":
            yield from self._answer(source_id, message)
        elif role == "tool" or (role == "user" and self._open):
            yield self._result(source_id, message)
        elif role == "user":
            meta = {"origin": "injected"} if self._has_task else {}
            is_task, self._has_task = not self._has_task, True
            yield msgspec.structs.replace(self._said("user", source_id, message, meta), opens_request=is_task)
        elif role == "exit":
            yield Loss(kind="exit", detail="how the run ended: the last step of the session says it")
        else:
            yield self._said("system", source_id, message, {} if role == "system" else {"role": role})

    def _answer(self, source_id: str, message: dict[str, Json]) -> Iterator[Event]:
        extra = dict_of(message.get("extra"))
        response = dict_of(extra.get("response"))
        choice = dict_of((list_of(response.get("choices")) or [None])[0])
        meta = {
            "model": response.get("model") or self._model,
            "tokens": _tokens(dict_of(response.get("usage"))),
            "cost_microusd": micros(extra.get("cost")),
            "stop_reason": choice.get("finish_reason"),
            "response": response.get("id"),
        }
        yield self._step("model_call", f"{source_id}/usage", message, meta, {})
        if thinking := word(message.get("reasoning_content")) or word(message.get("reasoning")):
            yield self._step("assistant", f"{source_id}/0", message, {}, {"content.thinking": thinking})
        if message.get("content"):
            yield self._said("assistant", f"{source_id}/1", message, {})
        self._open = []
        calls = list_of(message.get("tool_calls"))
        for place, call in enumerate(calls):
            yield self._call(f"{source_id}/{place + 2}", dict_of(call), message)
        for place, action in enumerate([] if calls else list_of(extra.get("actions"))):
            self._open.append(f"{source_id}/{place + 2}")
            values = {"content.args": action if isinstance(action, dict) else {"command": action}}
            yield self._step("tool_call", self._open[-1], message, {"tool": "bash"}, values)

    def _call(self, fallback: str, call: dict[str, Json], message: dict[str, Json]) -> Step:
        function, call_id = dict_of(call.get("function")), word(call.get("id"))
        arguments = function.get("arguments")
        opened = parsed(arguments)
        args = opened if isinstance(opened, dict) else arguments
        source_id = call_id if call_id is not None and call_id not in self._calls else fallback
        self._calls[call_id or fallback] = source_id
        self._open.append(source_id)
        meta = {"tool": function.get("name"), "corr": call_id}
        return self._step("tool_call", source_id, message, meta, {"content.args": call if args is None else args})

    def _result(self, source_id: str, message: dict[str, Json]) -> Step:
        call_id = word(message.get("tool_call_id"))
        call = self._calls.get(call_id, call_id) if call_id is not None else self._open[0] if self._open else None
        self._open = [other for other in self._open if other != call]
        extra = dict_of(message.get("extra"))
        code, exception = int_of(extra.get("returncode")), word(extra.get("exception_info"))
        output, raw = take_out(message.get("content"))
        meta = {"corr": call_id, "exit_code": code, "success": code == 0 if code is not None else None}
        values = {"content.output": output, "content.error": exception}
        name = f"{call}/result" if call is not None else source_id
        step = self._step("tool_result", name, message, meta, values, answers=call)
        return msgspec.structs.replace(step, raw=raw)

    # Steps -----------------------------------------------------------------------------------------------------------

    def _said(self, kind: str, source_id: str, message: dict[str, Json], meta: dict[str, Any]) -> Step:
        content, raw = take_out(message.get("content"))
        name = "content.text" if isinstance(content, str) else "content.parts"
        return msgspec.structs.replace(self._step(kind, source_id, message, meta, {name: content}), raw=raw)

    def _step(
        self,
        kind: str,
        source_id: str,
        message: dict[str, Json],
        meta: dict[str, Any],
        values: dict[str, Any],
        *,
        answers: str | None = None,
    ) -> Step:
        step = Step(
            session=self._session,
            type=kind,
            source_id=source_id,
            ts=moment(number(dict_of(message.get("extra")).get("timestamp"))),
            meta=known(meta),
            values=known(values),
            input=Input.PATH if kind == "model_call" else None,
        )
        return self._trail.along(step, answers=answers)

    def _end(self, info: dict[str, Json]) -> Iterator[Step]:
        """How the run ended, if it did: the file is written after every step."""
        reason = text_of(info.get("exit_status"))
        if not reason:
            return
        stats = dict_of(info.get("model_stats"))
        rest = {key: value for key, value in info.items() if key not in _TOLD}
        meta = known({"reason": reason, "calls": int_of(stats.get("api_calls"))})
        values = known({"content.submission": word(info.get("submission")), "content.info": rest or None})
        yield Step(session=self._session, type="session_end", source_id="end", meta=meta, values=values)


def _tokens(usage: dict[str, Json]) -> dict[str, int] | None:
    """OpenAI's counts: cached tokens are part of the prompt's, reasoning is part of the completion's."""
    details = dict_of(usage.get("prompt_tokens_details"))
    counts = {
        "input": int_of(usage.get("prompt_tokens")),
        "output": int_of(usage.get("completion_tokens")),
        "cache_read": int_of(details.get("cached_tokens")),
        "cache_write": int_of(usage.get("cache_creation_input_tokens")),
        "reasoning": int_of(dict_of(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    }
    found = {kind: count for kind, count in counts.items() if count is not None}
    cached = found.get("cache_read", 0) + found.get("cache_write", 0)
    if found.get("input", 0) >= cached > 0:
        found["input"] -= cached
    return found if any(found.values()) else None
