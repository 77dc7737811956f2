from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.agents.goose import transcript as goose
from tallystick.agents.kit.laws import broken_laws
from tallystick.model.step import Event, Loss, Opening, Step
from tests.agents.conftest import ReadEvents

ROOT = Path(__file__).parents[3]
MADE = sorted((Path(__file__).parent / "made").glob("*.jsonl"))
PUBLIC = sorted((ROOT.parent / "shared" / "data" / "public").rglob("goose-*.jsonl"))


@pytest.mark.parametrize("path", [*MADE, *PUBLIC], ids=lambda path: path.name)
def test_it_keeps_to_the_laws_of_readers(path: Path) -> None:
    assert broken_laws(goose, str(path), path.read_bytes()) == []


@pytest.fixture
def events(read_events: ReadEvents) -> list[Event]:
    (path,) = MADE
    return read_events(goose, path)


def steps(events: list[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def test_a_session_gives_these_steps(events: list[Event]) -> None:
    assert [(step.type, step.source_id) for step in steps(events)] == [
        ("user", "#1/0"),
        ("assistant", "#2/0"),
        ("tool_call", "r1"),
        ("tool_result", "r1/result"),
        ("tool_call", "r2"),
        ("tool_result", "r2/result"),
        ("assistant", "#6/0"),
    ]
    assert steps(events)[0].ts == "2026-11-20T10:00:00.000000Z"
    assert steps(events)[2].values["content.args"] == {"command": "ls tests"}
    assert steps(events)[3].meta["success"] is True
    assert steps(events)[5].meta["success"] is False
    assert steps(events)[5].values["content.error"] == "exit code 1"


def test_a_session_opens_with_its_header(events: list[Event]) -> None:
    (opening,) = [event for event in events if isinstance(event, Opening)]
    assert opening.values == {"content.title": "Count the tests", "personal.cwd": "/home/dev/project"}


def test_blocks_that_are_no_steps_are_counted(read_events: ReadEvents, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    kinds = ("toolConfirmationRequest", "contextLengthExceeded", "zz", "image")
    blocks = ",".join(f'{{"type":"{kind}"}}' for kind in kinds)
    path.write_text(f'{{"role":"user","content":[{blocks}]}}\n{{"role":"user","content":[]}}\n{{}}\n')
    events = read_events(goose, path)
    losses = [event.kind for event in events if isinstance(event, Loss)]
    assert losses == ["confirmation", "context_limit", "unknown_zz", "empty_message", "unknown_kind"]
    assert [step.meta.get("origin") for step in steps(events)] == ["attached"]
