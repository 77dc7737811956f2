"""SWE-agent's trajectories: one JSON document a run.

`history` is what the model was shown and said; `trajectory` repeats its actions with what the history leaves out: the
state after each, how long it took, and the last observation. Nothing has an id or a time: steps are named by their place
in the history, a run by its file and the folder of its batch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.calls import CallIds
from tallystick.agents.kit.columns import arguments_of, known, micros, number, parsed, without_environment, word
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import dict_of, events_of_object, int_of, list_of, note_of, text_of, values_of
from tallystick.agents.kit.trail import Trail
from tallystick.agents.recognition import count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, Opening, Step

NAME = "swe-agent"
SHAPE = Shape.DOCUMENT
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
_COUNTS = {"input": "tokens_sent", "output": "tokens_received"}
_NEAR = 20
_TOLD = ("exit_status", "submission", "model_stats", "swe_agent_version")


def locate() -> tuple[str, ...]:
    """Globs below the home folder: where a checkout of SWE-agent in the home folder writes."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a trajectory: by its ending and its two lists."""
    if not path.endswith(".traj"):
        return 0
    first = first_object(head)
    return count_members(first, "history") + count_members(first, "trajectory", also=("environment", "info"))


def reader(file: SourceFile) -> Reader:
    """A reader for one trajectory."""
    return _Reader(session_name(file.path))


def session_name(path: str) -> str:
    """The name of a run: its file's, after that of the folder of its batch, for a batch runs many tasks."""
    *folders, file = path.replace("\\", "/").split("/")
    stem = file.removesuffix(".traj")
    while folders and folders[-1] == stem:
        folders.pop()
    if folders and folders[-1]:
        return f"{folders[-1]}/{stem}"
    return stem


class _Turn(msgspec.Struct, frozen=True):
    """An entry of the trajectory."""

    action: Json = None
    response: Json = None
    thought: Json = None
    observation: Json = None
    duration_ms: int | None = None
    values: dict[str, Json] = {}
    """What the history does not say."""


class _Call(msgspec.Struct, frozen=True):
    """A tool call without a result yet."""

    source_id: str
    id: str | None
    turn: _Turn
    role: Json


class _Reader:
    def __init__(self, session: str) -> None:
        self._session = session
        self._trail = Trail()
        self._turns: deque[_Turn] = deque()
        self._unmatched: list[_Turn] = []
        self._known_calls = CallIds()
        self._calls: list[_Call] = []
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
        config = dict_of(parsed(document.get("replay_config"))) or dict_of(document.get("replay_config"))
        self._model = dict_of(dict_of(config.get("agent")).get("model")).get("name")
        info = dict_of(document.get("info"))
        yield self._opening(document, config, info)
        if without_environment(config) != config:
            yield Loss(kind="environment", detail="environment variables are never recorded")
        turns = list_of(document.get("trajectory"))
        for turn in turns:
            yield from self._take_turn(turn)
        history = list_of(document.get("history")) or _history_of(turns)
        for place, message in enumerate(history):
            yield from self._message(f"#{place}", dict_of(message))
        yield from self._observed()
        for turn in (*self._unmatched, *self._turns):
            yield Loss(kind="unmatched_turn", detail=f"action {str(turn.action)[:60]!r} is not in the history")
        yield from self._end(info)

    def _opening(self, document: dict[str, Json], config: dict[str, Json], info: dict[str, Json]) -> Opening:
        meta: dict[str, Json] = {
            "agent_version": info.get("swe_agent_version"),
            "model": self._model,
            "environment": document.get("environment"),
        }
        values = known({"content.config": without_environment(config) or None})
        return Opening(session=self._session, agent=NAME, meta=known(meta), values=values)

    def _take_turn(self, item: Json) -> Iterator[Event]:
        turn = dict_of(item)
        if not turn:
            yield Loss(kind="bad_turn", detail="an entry of the trajectory that is no object", fault=True)
            return
        if turn.get("query"):
            yield Loss(kind="query", detail="messages given to a model call: the history has them")
        state = turn.get("state")
        seconds, took = number(turn.get("execution_time")), None
        if seconds is not None and 0 <= seconds < 1e9:
            took = round(seconds * 1000)
        self._turns.append(
            _Turn(
                action=turn.get("action"),
                response=turn.get("response"),
                thought=turn.get("thought"),
                observation=turn.get("observation"),
                duration_ms=took,
                values={
                    "content.state": parsed(state) or state or None,
                    "content.info": turn.get("extra_info") or None,
                },
            )
        )

    # Messages --------------------------------------------------------------------------------------------------------

    def _message(self, source_id: str, message: dict[str, Json]) -> Iterator[Event]:
        role, is_demo = message.get("role"), message.get("is_demo") is True
        if not message:
            yield Loss(kind="bad_message", detail=f"message {source_id} is no object", fault=True)
        elif role == "assistant" and not is_demo:
            yield from self._observed()
            yield from self._answer(source_id, message)
        elif self._calls and role in ("user", "tool") and not is_demo:
            yield from self._observation(message)
        elif role in ("user", "tool") or is_demo:
            yield self._prompt(source_id, message, is_task=not is_demo and not self._has_task)
        else:
            yield self._said("system", source_id, message, note_of(role))

    def _prompt(self, source_id: str, message: dict[str, Json], *, is_task: bool) -> Step:
        """The task is the request; later words in the user's place are SWE-agent's, and so is a demonstration."""
        if not is_task:
            return self._said("user", source_id, message, {"origin": "injected"})
        self._has_task = True
        return msgspec.structs.replace(self._said("user", source_id, message, {}), opens_request=True)

    def _answer(self, source_id: str, message: dict[str, Json]) -> Iterator[Event]:
        turn, content = self._turn_of(message.get("action")), message.get("content")
        values: dict[str, Json] = {}
        if turn.response != content:
            values = {"content.response": turn.response}
        at = self._at(source_id, message.get("agent"))
        yield self._trail.along(at.part("usage").model_call({"model": self._model}, values))
        if thinking := [text for block in list_of(message.get("thinking_blocks")) if (text := _thought(block))]:
            yield self._trail.along(at.part(0).step("assistant", {}, {"content.thinking": "\n".join(thinking)}))
        if content:
            yield self._said("assistant", f"{source_id}/1", message, {})
        calls = list_of(message.get("tool_calls"))
        for place, call in enumerate(calls):
            yield self._tool_call(f"{source_id}/{place + 2}", dict_of(call), message, turn)
        if not calls and word(message.get("action")):
            self._calls.append(_Call(f"{source_id}/2", None, turn, message.get("agent")))
            values = {"content.args": {"command": message["action"]}}
            yield self._trail.along(at.part(2).step("tool_call", {"tool": "shell"}, values))

    def _turn_of(self, action: Json) -> _Turn:
        """The next entry of the trajectory with this action, if one is near: refused answers have none there."""
        for place, turn in enumerate(islice(self._turns, _NEAR)):
            if turn.action == action:
                self._unmatched += (self._turns.popleft() for _ in range(place))
                return self._turns.popleft()
        return _Turn()

    def _tool_call(self, fallback: str, call: dict[str, Json], message: dict[str, Json], turn: _Turn) -> Step:
        function, call_id = dict_of(call.get("function")), word(call.get("id"))
        source_id = self._known_calls.new(call_id, fallback)
        self._calls.append(_Call(source_id, call_id, turn, message.get("agent")))
        args = arguments_of(call, function.get("arguments"))
        values = {"content.args": args, "content.command": message.get("action")}
        meta = {"tool": function.get("name"), "corr": call_id}
        return self._trail.along(self._at(source_id, message.get("agent")).step("tool_call", meta, values))

    def _observation(self, message: dict[str, Json]) -> Iterator[Event]:
        """What the calls before it gave: one message for all of them, or for those that it names."""
        named = [text_of(call_id) for call_id in list_of(message.get("tool_call_ids"))]
        answered = [call for call in self._calls if call.id in named] or self._calls
        self._calls = [call for call in self._calls if call not in answered]
        output, raw = take_out(message.get("content"))
        first = answered[0]
        yield self._result(first, {"content.output": output}, raw)
        for call in answered[1:]:
            yield self._result(call, {}, {}, same_as=first.source_id)

    def _observed(self) -> Iterator[Event]:
        """Calls that no message answers: the trajectory has what came of the last one."""
        calls, self._calls = self._calls, []
        for call in calls[:1]:
            if call.turn.observation is not None:
                yield self._result(call, {"content.output": call.turn.observation}, {})

    def _result(
        self, call: _Call, values: dict[str, Json], raw: dict[str, bytes], *, same_as: str | None = None
    ) -> Step:
        turn = _Turn()
        if same_as is None:
            turn = call.turn
        seen, whole = str(values.get("content.output")).strip(), text_of(turn.observation)
        extra: dict[str, Json] = {}
        if whole is not None and whole.strip() not in seen:
            extra = {"content.observation": whole}
        meta = {"corr": call.id, "duration_ms": turn.duration_ms, "same_as": same_as}
        step = self._at(f"{call.source_id}/result", call.role).step(
            "tool_result", meta, {**values, **extra, **turn.values}
        )
        return self._trail.along(msgspec.structs.replace(step, raw=raw), answers=call.source_id)

    # Steps -----------------------------------------------------------------------------------------------------------

    def _said(self, kind: str, source_id: str, message: dict[str, Json], meta: dict[str, Any]) -> Step:
        content, raw = take_out(message.get("content"))
        values = values_of(content)
        thought = text_of(message.get("thought"))
        if thought is not None and thought.strip() not in str(content):
            values["content.thought"] = thought
        return self._trail.along(self._at(source_id, message.get("agent")).step(kind, meta, values, raw))

    def _at(self, source_id: str, role: Json) -> Point:
        return Point(self._session, source_id, common={"agent_role": role})

    def _end(self, info: dict[str, Json]) -> Iterator[Event]:
        """What the run cost and how it ended."""
        stats = dict_of(info.get("model_stats"))
        counts = {kind: int_of(stats.get(name)) for kind, name in _COUNTS.items()}
        tokens = {kind: count for kind, count in counts.items() if count}
        cost = micros(stats.get("instance_cost"))
        if tokens or cost or int_of(stats.get("api_calls")):
            meta = {"tokens": tokens or None, "cost_microusd": cost, "calls": int_of(stats.get("api_calls"))}
            yield self._at("usage", None).step("usage", {"model": self._model, **meta})
        if info:
            rest = {key: value for key, value in info.items() if key not in _TOLD and value is not None}
            values = {"content.submission": info.get("submission"), "content.info": rest or None}
            yield self._at("end", None).step("session_end", {"reason": info.get("exit_status")}, values)


def _history_of(turns: list[Json]) -> list[Json]:
    """The history that a trajectory alone tells of: what the first call was given, then actions and observations."""
    history = []
    if turns:
        history = list(list_of(dict_of(turns[0]).get("query")))
    for turn in map(dict_of, turns):
        history.append({"role": "assistant", "content": turn.get("response"), "action": turn.get("action")})
        history.append({"role": "user", "content": turn.get("observation")})
    return history


def _thought(block: Json) -> str | None:
    return text_of(dict_of(block).get("thinking"))
