from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.agents.amp import transcript as amp
from tallystick.agents.kit.laws import broken_laws
from tallystick.model.step import Event, Loss, Opening, Step
from tests.agents.conftest import ReadEvents

ROOT = Path(__file__).parents[3]
MADE = sorted((Path(__file__).parent / "made").glob("*.json"))
PUBLIC = sorted((ROOT.parent / "shared" / "data" / "public").rglob("amp-*.json"))


@pytest.mark.parametrize("path", [*MADE, *PUBLIC], ids=lambda path: path.name)
def test_it_keeps_to_the_laws_of_readers(path: Path) -> None:
    assert broken_laws(amp, str(path), path.read_bytes()) == []


@pytest.fixture
def events(read_events: ReadEvents) -> list[Event]:
    (path,) = MADE
    return read_events(amp, path)


def steps(events: list[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def test_a_thread_gives_these_steps(events: list[Event]) -> None:
    assert [(step.type, step.source_id) for step in steps(events)] == [
        ("user", "#0/0"),
        ("model_call", "#1/usage"),
        ("assistant", "#1/0"),
        ("tool_call", "toolu_1"),
        ("tool_result", "toolu_1/result"),
        ("assistant", "#3/0"),
    ]
    assert steps(events)[1].meta == {
        "model": "some-model",
        "tokens": {"input": 900, "output": 40, "cache_read": 100, "cache_write": 10},
    }
    assert steps(events)[4].meta["success"] is True
    assert steps(events)[4].values["content.output"] == {"output": "", "exitCode": 0}


def test_a_thread_opens_with_its_folder_and_time(events: list[Event]) -> None:
    (opening,) = [event for event in events if isinstance(event, Opening)]
    assert (opening.session, opening.ts) == ("T-5f0e", "2026-11-20T10:00:00.000000Z")
    assert opening.values["personal.cwd"] == "/home/dev/project"


def test_a_thread_without_messages_is_counted(read_events: ReadEvents, tmp_path: Path) -> None:
    path = tmp_path / "T-1.json"
    path.write_text('{"id": "T-1", "created": 1}')
    assert [event.kind for event in read_events(amp, path) if isinstance(event, Loss)] == ["no_messages"]
    path.write_text("[]")
    assert [event.kind for event in read_events(amp, path) if isinstance(event, Loss)] == ["bad_document"]
