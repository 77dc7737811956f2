"""Changing a setting so that the record says so."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tallystick.errors import UsageError
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.recording.own_session import RECORDER
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.settings_change import SettingsWatch
from tallystick.setup.change_setting import set_setting, unset_setting
from tallystick.trust.verify import verify_store
from tallystick.workspace.settings import SETTINGS, read_settings


def edits(home: Home) -> list[Recorded]:
    return [step for sid, _ in home.sessions() for step in read_session(home, sid) if step.type == "config_change"]


def test_each_edit_is_sealed(home: Home) -> None:
    set_setting(home, "checkpoints.retention_days", "7")
    unset_setting(home, "checkpoints.retention_days")
    first, second = edits(home)
    assert (first.meta["key"], first.values["content.before"], first.values["content.after"]) == (
        "checkpoints.retention_days",
        30,
        7,
    )
    assert (second.values["content.before"], second.values["content.after"]) == (7, 30)
    verdict = verify_store(home)
    assert (verdict.exit_code, verdict.unsealed) == (0, 0)


def test_an_edit_that_changes_nothing_is_none(home: Home) -> None:
    unset_setting(home, "checkpoints.retention_days")
    set_setting(home, "checkpoints.retention_days", "30")
    assert edits(home) == []


def test_a_bad_value_is_refused_before_anything_is_written(home: Home) -> None:
    with pytest.raises(UsageError, match="cannot be set to 'many'"):
        set_setting(home, "checkpoints.max_per_session", "many")
    with pytest.raises(UsageError, match="cannot be set to '-1'"):
        set_setting(home, "checkpoints.max_per_session", "-1")
    assert not home.config.exists()
    assert edits(home) == []


def test_an_edit_of_a_file_with_damaged_values_is_sealed(home: Home) -> None:
    home.config.write_text("[checkpoints]\nretention_days = 'x'\nwhen_full = 'never'\n")
    set_setting(home, "checkpoints.retention_days", "7")
    set_setting(home, "checkpoints.enabled", "off")
    said = [(step.meta["key"], step.values["content.before"], step.values["content.after"]) for step in edits(home)]
    assert said == [("checkpoints.retention_days", "x", 7), ("checkpoints.enabled", "on", "off")]


def test_edits_at_the_same_time_are_all_kept(home: Home) -> None:
    keys = sorted(setting.key for setting in SETTINGS if setting.key.startswith("policy.limits."))
    with ThreadPoolExecutor(len(keys)) as pool:
        list(pool.map(lambda key: set_setting(home, key, "77"), keys))
    assert sorted(entry.setting.key for entry in read_settings(home)[0] if not entry.is_default) == keys
    assert sorted(step.meta["key"] for step in edits(home)) == keys


def test_where_there_is_no_store_none_is_made(tmp_path: Path) -> None:
    home = Home(tmp_path / "none")
    set_setting(home, "checkpoints.retention_days", "7")
    assert not home.exists


def test_a_recorder_that_notices_the_edit_too_does_not_record_it_again(home: Home) -> None:
    watch = SettingsWatch(home)
    set_setting(home, "checkpoints.enabled", "off")
    with SessionWriter(home) as session_writer:
        assert [taken.outcome.value for taken in session_writer.take(RECORDER, watch.changed())] == ["known"]
    assert len(edits(home)) == 1
