"""Windsurf's transcripts of Cascade: one JSONL file a conversation, which its transcript hook writes.

Owns its lines: each is an act that has ended, with what it was about under its own name. Source: a published transcript and
the vendor's reference of hooks; Windsurf was never run here. Nothing in them has an id, a time or a model.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.conversation import Conversation, Outcome
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.reading import dict_of, events_of_object, int_of, text_of
from tallystick.agents.recognition import count_members, in_place, objects
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss

NAME = "windsurf"
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
_OUTPUTS = ("content", "output", "exit_code", "total_results", "user_rejected", "acknowledgement_type", "error")
"""Members of an act that say what came of it; the others say what was asked for."""
_STATES = {"done": True, "error": False}


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match its transcripts."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a transcript: by its place, and by lines that hold what they are about under their own type."""
    acts = [line for line in objects(head)[:5] if _is_act(line)]
    place = in_place("/.windsurf/transcripts/" in path and bool(acts))
    return max((count_members(line, "type", "status", str(line["type"])) for line in acts), default=0) + place


def _is_act(line: dict[str, Json]) -> bool:
    kind = text_of(line.get("type"))
    return kind is not None and "." not in kind and isinstance(line.get(kind), dict) and "status" in line


def reader(file: SourceFile) -> Reader:
    """A reader for one transcript."""
    return _Reader(posixpath.basename(file.path).removesuffix(".jsonl") or NAME)


class _Reader:
    def __init__(self, session: str) -> None:
        self._talk = Conversation(NAME, session)
        self._lines = 0

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        number = self._lines
        self._lines += 1
        if not number:
            yield self._talk.opening({}, {})
        yield from events_of_object(
            data,
            offset,
            lambda line: self._line(line, f"#{number}"),
            Loss(kind="unknown_line", detail=f"byte {offset}"),
        )

    def finish(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def _line(self, line: dict[str, Json], source_id: str) -> Iterator[Event]:
        kind = text_of(line.get("type"))
        if kind is not None:
            act = dict_of(line.get(kind))
        else:
            act = {}
        if kind == "user_input":
            yield self._talk.said(self._talk.at(source_id), "user", act.get("user_response"))
        elif kind == "planner_response":
            yield self._talk.said(self._talk.at(source_id), "assistant", act.get("response"))
        elif kind is not None and _is_act(line):
            yield from self._act(source_id, kind, act, line.get("status"))
        else:
            yield unknown(line.get("type"), f"line {source_id}")

    def _act(self, source_id: str, tool: str, act: dict[str, Json], status: Json) -> Iterator[Event]:
        """One line is a call and what came of it."""
        args = {name: value for name, value in act.items() if name not in _OUTPUTS}
        yield self._talk.call(self._talk.at(source_id), tool, args)
        exit_code = int_of(act.get("exit_code"))
        success, refusal = _STATES.get(text_of(status) or ""), None
        if exit_code is not None:
            success = exit_code == 0
        if act.get("user_rejected") is True:
            success, refusal = False, "refused"
        output = {name: act[name] for name in _OUTPUTS if name in act and name != "exit_code"}
        outcome = Outcome(success=success, meta={"exit_code": exit_code, "status": refusal})
        yield self._talk.result(self._talk.at(source_id), output or None, outcome=outcome)
