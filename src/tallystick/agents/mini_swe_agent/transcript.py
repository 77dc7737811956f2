"""mini-swe-agent's trajectories: one JSON document a run, with every message and every answer of the model.

A run has no id of its own, and its file may be written over by the next run: it is named by the first answer's id, which
the provider gave, else by its file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.calls import CallIds, result_id
from tallystick.agents.kit.columns import (
    arguments_of,
    counted,
    known,
    micros,
    moment,
    number,
    without_environment,
    word,
)
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import dict_of, events_of_object, int_of, list_of, note_of, text_of, values_of
from tallystick.agents.kit.trail import Trail
from tallystick.agents.recognition import count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, Opening, Step

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
    return members + 3 * is_named + 3 * settings


def reader(file: SourceFile) -> Reader:
    """A reader for one trajectory."""
    return _Reader(file.path)


class _Reader:
    def __init__(self, path: str) -> None:
        *folders, name = path.replace("\\", "/").split("/")
        stem = name.removesuffix(".json").removesuffix(".traj")
        self._session = stem
        if folders and folders[-1]:
            self._session = f"{folders[-1]}/{stem}"
        self._trail = Trail()
        self._calls = CallIds()
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
            yield self._prompt(source_id, message)
        elif role == "exit":
            yield Loss(kind="exit", detail="how the run ended: the last step of the session says it")
        else:
            yield self._said("system", source_id, message, note_of(role))

    def _prompt(self, source_id: str, message: dict[str, Json]) -> Step:
        """The task is the request; later words in the user's place are the program's."""
        if self._has_task:
            return self._said("user", source_id, message, {"origin": "injected"})
        self._has_task = True
        return msgspec.structs.replace(self._said("user", source_id, message, {}), opens_request=True)

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
        at = self._at(source_id, message)
        yield self._trail.along(at.part("usage").model_call(meta))
        if thinking := word(message.get("reasoning_content")) or word(message.get("reasoning")):
            yield self._trail.along(at.part(0).step("assistant", {}, {"content.thinking": thinking}))
        if message.get("content"):
            yield self._said("assistant", f"{source_id}/1", message, {})
        self._open = []
        calls = list_of(message.get("tool_calls"))
        for place, call in enumerate(calls):
            yield self._call(at.part(place + 2), dict_of(call))
        if not calls:
            for place, action in enumerate(list_of(extra.get("actions"))):
                yield self._action(at.part(place + 2), action)

    def _action(self, at: Point, action: Json) -> Step:
        """A command that was found in the words of the model."""
        self._open.append(str(at.source_id))
        args = action
        if not isinstance(action, dict):
            args = {"command": action}
        return self._trail.along(at.step("tool_call", {"tool": "bash"}, {"content.args": args}))

    def _call(self, at: Point, call: dict[str, Json]) -> Step:
        function, call_id = dict_of(call.get("function")), word(call.get("id"))
        source_id = self._calls.new(call_id, str(at.source_id))
        self._open.append(source_id)
        meta = {"tool": function.get("name"), "corr": call_id}
        values = {"content.args": arguments_of(call, function.get("arguments"))}
        return self._trail.along(at.named(source_id).step("tool_call", meta, values))

    def _result(self, source_id: str, message: dict[str, Json]) -> Step:
        call_id = word(message.get("tool_call_id"))
        call = self._calls.of(call_id)
        if call is None:
            call = next(iter(self._open), None)
        self._open = [other for other in self._open if other != call]
        extra = dict_of(message.get("extra"))
        code, exception = int_of(extra.get("returncode")), word(extra.get("exception_info"))
        output, raw = take_out(message.get("content"))
        meta: dict[str, Json] = {"corr": call_id}
        if code is not None:
            meta |= {"exit_code": code, "success": code == 0}
        values = {"content.output": output, "content.error": exception}
        at = self._at(source_id, message).named(result_id(call, source_id))
        return self._trail.along(at.step("tool_result", meta, values, raw), answers=call)

    # Steps -----------------------------------------------------------------------------------------------------------

    def _said(self, kind: str, source_id: str, message: dict[str, Json], meta: dict[str, Any]) -> Step:
        content, raw = take_out(message.get("content"))
        return self._trail.along(self._at(source_id, message).step(kind, meta, values_of(content), raw))

    def _at(self, source_id: str, message: dict[str, Json]) -> Point:
        return Point(self._session, source_id, moment(number(dict_of(message.get("extra")).get("timestamp"))))

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
    found = counted(counts) or {}
    cached = found.get("cache_read", 0) + found.get("cache_write", 0)
    if found.get("input", 0) >= cached > 0:
        found["input"] -= cached
    return counted(found)
