from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.agents.kit.laws import broken_laws
from tallystick.agents.windsurf import transcript as windsurf
from tallystick.model.step import Event, Loss, Opening, Step
from tests.agents.conftest import ReadEvents

ROOT = Path(__file__).parents[3]
MADE = sorted((Path(__file__).parent / "made").glob("*.jsonl"))
PUBLIC = sorted((ROOT.parent / "shared" / "data" / "public").rglob("windsurf-*.jsonl"))


@pytest.mark.parametrize("path", [*MADE, *PUBLIC], ids=lambda path: path.name)
def test_it_keeps_to_the_laws_of_readers(path: Path) -> None:
    assert broken_laws(windsurf, str(path), path.read_bytes()) == []


@pytest.fixture
def events(read_events: ReadEvents) -> list[Event]:
    (path,) = MADE
    return read_events(windsurf, path)


def steps(events: list[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def test_an_act_is_a_call_and_its_result(events: list[Event]) -> None:
    assert [step.type for step in steps(events)] == [
        "user", "assistant", "tool_call", "tool_result", "tool_call", "tool_result", "tool_call", "tool_result", "assistant",
    ]  # fmt: skip
    call, result = steps(events)[2:4]
    assert call.values["content.args"] == {"command": "wc -l notes.md", "cwd": "file:///home/dev/project"}
    assert (result.meta["success"], result.meta["exit_code"]) == (True, 0)
    assert result.values["content.output"] == {"output": "12 notes.md\n", "user_rejected": False}


def test_what_failed_or_was_refused_says_so(events: list[Event]) -> None:
    failed, refused = steps(events)[5], steps(events)[7]
    assert failed.meta == {"tool": "list_resources", "success": False}
    assert refused.meta == {"tool": "run_command", "success": False, "status": "refused"}


def test_the_session_is_named_by_its_file(events: list[Event]) -> None:
    assert [event.session for event in events if isinstance(event, Opening)] == ["4ab0"]


def test_a_line_of_another_form_is_counted(read_events: ReadEvents, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"type":"zz","status":"done"}\n[]\n')
    losses = [event.kind for event in read_events(windsurf, path) if isinstance(event, Loss)]
    assert losses == ["unknown_zz", "unknown_line"]
