"""Why a call is decided as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.errors import NotFoundError
from tallystick.guard.explain import explain_command, explain_step
from tallystick.journal.home import Home
from tallystick.model.decision import Effect
from tallystick.model.step import Json, Opening, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.indexing import open_index


def record(session_writer: SessionWriter, kind: str, meta: dict[str, Json], values: dict[str, Json]) -> int:
    """Record a step of the session `s`; its number."""
    step = Step(session="s", type=kind, source=Source.HOOK, meta={"corr": "c", **meta}, values=values)
    return session_writer.add("claude-code", step).n


def test_a_recorded_call_is_judged_in_the_folder_it_was_made_in_and_by_what_was_decided_then(
    home: Home, session_writer: SessionWriter, tmp_path: Path
) -> None:
    values: dict[str, Json] = {"personal.cwd": str(tmp_path / "then")}
    session_writer.open(Opening(session="s", agent="claude-code", source=Source.HOOK, values=values))
    call = record(session_writer, "tool_call", {"tool": "Bash"}, {"content.args": {"command": "echo x > notes.md"}})
    record(session_writer, "decision", {"effect": "ask", "rules": ["mine.old"]}, {"content.text": "Who wants this?"})
    record(session_writer, "user", {}, {"content.text": "go", "personal.cwd": str(tmp_path / "later")})
    session_writer.seal()
    with open_index(home) as index:
        (sid,) = [sid for sid, _ in home.sessions()]
        found = explain_step(index, home, f"{sid}:{call}")
        assert found.call.cwd == str(tmp_path / "then")
        assert [act.target for act in found.acts if act.action == "write"] == [f"{tmp_path}/then/notes.md"]
        assert found.recorded is not None
        assert (found.recorded["rules"], found.recorded["content.text"]) == (["mine.old"], "Who wants this?")
        with pytest.raises(NotFoundError, match="is not a call of a tool"):
            explain_step(index, home, f"{sid}:{call + 1}")


def test_each_act_has_the_rules_that_speak_against_it_alone(home: Home, tmp_path: Path) -> None:
    found = explain_command(home, "ls; mkfs.ext4 /dev/sda1", tool="Bash", agent="codex", folder=str(tmp_path))
    rules = {(act.action, act.target): act.rules for act in found.acts}
    assert found.decision.effect is Effect.DENY
    assert rules["run", "ls"] == ()
    assert any("machine.disk" in spoke for spoke in rules.values())
    assert found.recorded is None


@pytest.mark.parametrize(
    ("tool", "text", "target"),
    [
        ("Write", '{"file_path": "a.txt", "content": "x"}', "a.txt"),
        ("Read", '{"file_path": "b.txt"}', "b.txt"),
        ("run_shell_command", "touch c.txt", "c.txt"),
    ],
)
def test_another_tool_takes_its_arguments_as_json_or_a_command_as_it_is(
    home: Home, tmp_path: Path, tool: str, text: str, target: str
) -> None:
    found = explain_command(home, text, tool=tool, agent="claude-code", folder=str(tmp_path))
    assert str(tmp_path / target) in {act.target for act in found.acts}
