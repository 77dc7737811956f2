"""What a program says that its session runs under."""

import json
import subprocess
from pathlib import Path

import pytest

from tallystick.errors import UsageError
from tallystick.journal.home import Home
from tallystick.model.recorded import Recorded
from tallystick.recording.recorder import Recorder
from tallystick.recording.run_config.declared import LangoInputs, RunsUnder
from tallystick.recording.session import Session
from tallystick.sessions.fingerprint import Hook
from tallystick.workspace.settings import set_setting
from tests.support.shown import shown

FILTER = Hook(name="security_filter", priority=10)
COLD = RunsUnder(inputs={"settings": {"temperature": 0.2, "key": "hunter2hunter2"}})
WARM = RunsUnder(inputs={"settings": {"temperature": 0.9, "key": "hunter2hunter2"}})
LANGO = LangoInputs(auto_enabled={"knowledge": True, "memory": True, "retrieval": True})


def told(session: Session) -> list[Recorded]:
    return [step for step in session if step.type in ("checkpoint", "config_change")]


def test_a_session_begins_with_a_checkpoint_of_what_it_runs_under(home: Home) -> None:
    with Recorder(home.folder) as recorder, recorder.session("mine", configuration=COLD, model="m") as session:
        (mark,) = told(session)
        text = session.path.read_text()
    assert mark.meta["trigger"] == "session_start"
    assert mark.meta["position"] == 0
    assert sorted(mark.meta["config_sections"]) == ["agent", "settings"]
    assert [item["name"] for item in shown(mark.values["content.configuration"])["settings"]] == ["key", "temperature"]
    assert "hunter2" not in text


def test_it_says_where_the_repository_of_the_folder_stood(home: Home, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", tmp_path / "work"], check=True)
    with (
        Recorder(home.folder) as recorder,
        recorder.session("mine", cwd=str(tmp_path / "work"), configuration=COLD) as session,
    ):
        session.runs_under(RunsUnder(inputs=COLD.inputs, hooks=(FILTER,)))
        first, *_, later = told(session)
    assert first.values["content.git"] == {"ref": "refs/heads/main"}
    assert "content.git" not in later.values


def test_a_session_that_says_nothing_gets_no_step(home: Home) -> None:
    with Recorder(home.folder) as recorder, recorder.session("mine") as session:
        assert told(session) == []


def test_two_sessions_under_the_same_have_the_same_fingerprint(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        prints = []
        for under in (COLD, COLD, WARM):
            with recorder.session("mine", configuration=under) as session:
                prints.append(told(session)[0].meta["config_fingerprint"])
    assert prints[0] == prints[1] != prints[2]


def test_what_is_told_again_is_no_step(home: Home) -> None:
    with Recorder(home.folder) as recorder, recorder.session("mine", configuration=COLD) as session:
        session.runs_under(COLD)
        assert len(told(session)) == 1


def test_a_change_is_a_step(home: Home) -> None:
    with Recorder(home.folder) as recorder, recorder.session("mine", configuration=COLD) as session:
        session.prompt("hi")
        session.runs_under(WARM)
        mark, change = told(session)
    assert change.type == "config_change"
    assert change.meta["config_before"] == mark.meta["config_fingerprint"]
    assert change.values["content.text"] == "settings: temperature changed"


def test_langos_own_words_are_there_too(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        with recorder.session("lango", "s", configuration=RunsUnder(lango=LANGO)) as session:
            (mark,) = told(session)
        assert mark.values["content.metadata"] == {
            "config_fingerprint": "584f89c0f9adff1fb1085cf822d108b9e47fd1315f36aef4bc7ff47f682a7c8e",
            "hook_registry": "[]",
        }
        assert mark.meta["config_fingerprint"] != mark.values["content.metadata"]["config_fingerprint"]


def test_hooks_that_register_late_are_told_by_a_later_checkpoint(home: Home) -> None:
    with Recorder(home.folder) as recorder, recorder.session("lango", configuration=RunsUnder(lango=LANGO)) as session:
        session.prompt("hi")
        session.runs_under(RunsUnder(lango=LANGO, hooks=(FILTER,)))
        first, later = told(session)
    assert first.values["content.hook_registry"] == []
    assert json.loads(shown(later.values["content.metadata"])["hook_registry"]) == [
        {"name": "security_filter", "priority": 10}
    ]
    assert later.values["content.hook_registry"] == [
        {"name": "security_filter", "priority": 10, "phase": "pre", "enabled": True}
    ]
    assert later.meta["trigger"] == "session_start"
    assert later.meta["config_fingerprint"] == first.meta["config_fingerprint"]


def test_no_keys_and_no_map_of_keys_differ_here_too(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        prints = set()
        for explicit in (None, ()):
            under = RunsUnder(lango=LangoInputs(explicit=explicit))
            with recorder.session("lango", configuration=under) as session:
                prints.add(told(session)[0].meta["config_fingerprint"])
    assert len(prints) == 2


def test_a_section_must_be_a_word(home: Home) -> None:
    with Recorder(home.folder) as recorder, recorder.session("mine") as session, pytest.raises(UsageError):
        session.runs_under(RunsUnder(inputs={"My Settings": {"a": 1}}))


def test_where_checkpoints_are_off_the_session_and_its_changes_are_recorded_all_the_same(home: Home) -> None:
    set_setting(home, "checkpoints.enabled", "off")
    with Recorder(home.folder) as recorder, recorder.session("mine", configuration=COLD) as session:
        session.prompt("hi")
        assert told(session) == []
        session.runs_under(WARM)
        session.runs_under(WARM)
        session.runs_under(COLD)
        assert [step.type for step in told(session)] == ["config_change", "config_change"]


def test_hooks_that_come_with_a_change_are_told_after_it(home: Home) -> None:
    with Recorder(home.folder) as recorder, recorder.session("mine", configuration=COLD) as session:
        session.runs_under(RunsUnder(inputs=WARM.inputs, hooks=(FILTER,)))
        _, change, mark = told(session)
    assert (change.type, mark.type) == ("config_change", "checkpoint")
    assert [hook["name"] for hook in shown(mark.values["content.hook_registry"])] == ["security_filter"]
