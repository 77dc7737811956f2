"""What passes between an editor and an agent, in the store: where a compaction leaves it."""

from __future__ import annotations

import json
import time

import pytest

from tallystick.agents.protocols.acp import Acp
from tallystick.capture.relay import Line, Way
from tallystick.ingest.acp_record import Tap
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.moments import epoch_time
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Ref, SessionKind, Step
from tallystick.recording.session_writer import SessionWriter

AGENT = "some-agent"


class Talking:
    """An editor and an agent that talk past a Tap."""

    def __init__(self, session_writer: SessionWriter) -> None:
        self.session_writer = session_writer
        self.tap = Tap(session_writer, Acp(AGENT), lambda _: None)
        self._say(Way.TO_CHILD, {"id": 1, "method": "session/new", "params": {"cwd": "/p", "mcpServers": []}})
        self._say(Way.FROM_CHILD, {"id": 1, "result": {"sessionId": "s"}})

    def _say(self, way: Way, message: dict[str, Json]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        self.tap.observe(Line(way=way, data=data, size=len(data), at_ns=time.time_ns()))

    def update(self, kind: str, **members: Json) -> None:
        update = {"sessionUpdate": kind, **members}
        self._say(Way.FROM_CHILD, {"method": "session/update", "params": {"sessionId": "s", "update": update}})

    def compact(self, name: str = "k", summary: str = "in short") -> None:
        self.update("compaction_update", compactionId=name, status="completed", summary=summary)

    def prompt(self, text: str) -> None:
        block = {"type": "text", "text": text}
        params = {"sessionId": "s", "prompt": [block]}
        self._say(Way.TO_CHILD, {"id": text, "method": "session/prompt", "params": params})

    def steps(self, session: str) -> list[Recorded]:
        record = self.session_writer.writer.find(AGENT, session)
        assert record is not None, session
        record.flush_sightings()
        return list(read_session(self.session_writer.home, record.sid))

    def types(self, session: str) -> list[str]:
        return [step.type for step in self.steps(session)]


@pytest.fixture
def talking(session_writer: SessionWriter) -> Talking:
    return Talking(session_writer)


def test_each_compaction_goes_on_in_the_next_session(talking: Talking) -> None:
    for text in ("one", "two", "three"):
        talking.prompt(text)
        talking.compact()
    talking.prompt("four")
    assert [talking.types(name)[-2:] for name in ("s", "s~1", "s~2")] == [["compaction", "session_end"]] * 3
    first, summary, prompt = talking.steps("s~3")
    (compaction,) = [step for step in talking.steps("s~2") if step.type == "compaction"]
    assert (first.meta["kind"], first.parents) == ("continuation", (f"{compaction.session}#{compaction.hash}",))
    assert (summary.member("origin"), summary.text("content.text")) == ("summary", "in short")
    assert prompt.text("content.text") == "four"


def test_what_came_to_nothing_ends_nothing(talking: Talking) -> None:
    talking.update("compaction_update", compactionId="k", status="failed", error="no")
    talking.prompt("go on")
    assert talking.types("s")[-2:] == ["compaction", "user"]
    assert talking.session_writer.writer.find(AGENT, "s~1") is None


def transcript(ago_s: float = 0.0) -> list[Step | Opening]:
    """What the agent's own history says of the same compaction, so many seconds after it."""
    ts = epoch_time(time.time() + ago_s)
    return [
        Step(session="s", type="compaction", source_id="u1", ts=ts, meta={"trigger": "auto"}),
        Step(session="s", type="session_end", source_id="u1/end", ts=ts, meta={"reason": "compaction"}),
        Opening(session="s~1", agent=AGENT, kind=SessionKind.CONTINUATION, parent=Ref("u1", "s"), ts=ts),
        Step(
            session="s~1",
            type="user",
            source_id="u2",
            ts=ts,
            meta={"origin": "summary"},
            values={"content.text": "in short"},
        ),
    ]


def counted(talking: Talking) -> dict[str, int]:
    """How many entries tell of each event, second witnesses apart."""
    kinds = [step.type for name in ("s", "s~1") for step in talking.steps(name) if "corroborates" not in step.meta]
    return {kind: kinds.count(kind) for kind in ("compaction", "user")}


def test_the_agents_history_tells_of_the_same_compaction_later(talking: Talking) -> None:
    talking.compact()
    talking.session_writer.take(AGENT, transcript())
    assert counted(talking) == {"compaction": 1, "user": 1}
    assert talking.session_writer.writer.current(AGENT, "s") == "s~1"
    assert talking.types("s")[-1] == talking.types("s~1")[-1].replace("sighting", "session_end") == "session_end"


def test_or_it_has_told_of_it_before(talking: Talking) -> None:
    talking.session_writer.take(AGENT, transcript())
    talking.compact()
    talking.prompt("go on")
    assert counted(talking) == {"compaction": 1, "user": 2}
    assert talking.session_writer.writer.current(AGENT, "s") == "s~1"


def test_what_another_process_has_recorded_of_it_is_gone_on_with(talking: Talking, home: Home) -> None:
    talking.prompt("before")
    with SessionWriter(home) as other:
        other.take(AGENT, transcript())
    talking.prompt("after")
    assert [step.text("content.text") for step in talking.steps("s") if step.type == "user"] == ["before"]
    assert [step.text("content.text") for step in talking.steps("s~1") if step.type == "user"] == ["in short", "after"]
    assert talking.types("s")[-1] == "session_end"


def test_a_compaction_long_after_that_of_the_history_is_another_one(talking: Talking) -> None:
    talking.session_writer.take(AGENT, transcript(-3600.0))
    talking.compact()
    assert talking.session_writer.writer.current(AGENT, "s") == "s~2"


def test_the_second_compaction_of_one_name_is_another_one_too(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        talking = Talking(session_writer)
        talking.compact("k", "first")
        talking.compact("k", "second")
        assert session_writer.writer.current(AGENT, "s") == "s~2"
        assert [step.text("content.text") for step in talking.steps("s~1") if step.type == "compaction"] == ["second"]
