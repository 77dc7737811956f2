from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.agents.droid import transcript as droid
from tallystick.agents.kit.laws import broken_laws
from tallystick.model.step import Event, Loss, Opening, Step
from tests.agents.conftest import ReadEvents

ROOT = Path(__file__).parents[3]
MADE = sorted((Path(__file__).parent / "made").glob("*.jsonl"))
PUBLIC = sorted((ROOT.parent / "shared" / "data" / "public").rglob("droid-*.jsonl"))


@pytest.mark.parametrize("path", [*MADE, *PUBLIC], ids=lambda path: path.name)
def test_it_keeps_to_the_laws_of_readers(path: Path) -> None:
    assert broken_laws(droid, str(path), path.read_bytes()) == []


@pytest.fixture
def events(read_events: ReadEvents) -> list[Event]:
    (path,) = MADE
    return read_events(droid, path)


def steps(events: list[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def test_a_session_gives_these_steps(events: list[Event]) -> None:
    assert [(step.type, step.source_id) for step in steps(events)] == [
        ("user", "m1/0"),
        ("assistant", "m2/0"),
        ("assistant", "m2/1"),
        ("tool_call", "call_1"),
        ("tool_result", "call_1/result"),
        ("assistant", "m4/0"),
    ]
    assert steps(events)[3].meta == {"tool": "Execute", "corr": "call_1"}
    assert steps(events)[4].meta == {"tool": "Execute", "corr": "call_1", "success": True}
    assert [event.kind for event in events if isinstance(event, Loss)] == ["todo_state"]


def test_a_session_opens_with_its_header(events: list[Event]) -> None:
    (opening,) = [event for event in events if isinstance(event, Opening)]
    assert opening.session == "7d1c0a52-0000-4000-8000-000000000001"
    assert opening.values["personal.cwd"] == "/home/dev/project"


def test_a_message_of_several_texts_is_one_request(read_events: ReadEvents, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"type":"message","id":"m","message":{"role":"user","content":[{"type":"text"},{"type":"text"}]}}\n'
    )
    assert [step.opens_request for step in steps(read_events(droid, path))] == [True, False]


def test_messages_of_one_id_stay_apart(read_events: ReadEvents, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"type":"message","id":"m","message":{"role":"user","content":"a"}}\n' * 2)
    assert [step.source_id for step in steps(read_events(droid, path))] == ["m/0", "#1/0"]
