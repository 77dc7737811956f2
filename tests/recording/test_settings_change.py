"""That a setting came to mean something else."""

from __future__ import annotations

import os

import pytest

from tallystick.journal.home import Home
from tallystick.recording.settings_change import SettingsWatch, changes, settings_now
from tallystick.workspace.settings import set_setting


def write(home: Home, text: str) -> None:
    before = home.config.stat().st_mtime_ns if home.config.exists() else 0
    home.config.write_text(text)
    os.utime(home.config, ns=(before + 1_000_000, before + 1_000_000))


def test_a_change_is_a_step_of_the_recorder_s_own_session(home: Home) -> None:
    before = settings_now(home)
    set_setting(home, "checkpoints.max_per_session", "7")
    set_setting(home, "policy.trusted", "/a, /b")
    first, second = changes(home, before, settings_now(home))
    assert (first.session, first.type, first.meta["key"]) == (
        "recorder",
        "config_change",
        "checkpoints.max_per_session",
    )
    assert (first.values["content.before"], first.values["content.after"]) == (100, 7)
    assert (second.values["content.before"], second.values["content.after"]) == ([], ["/a", "/b"])
    assert first.source_id != second.source_id


def test_what_was_written_by_hand_is_noticed_once(home: Home) -> None:
    watch = SettingsWatch(home)
    assert watch.changed() == []
    write(home, "[checkpoints]\nenabled = 'off'\n")
    assert [step.meta["key"] for step in watch.changed()] == ["checkpoints.enabled"]
    assert watch.changed() == []
    write(home, "# a comment\n[checkpoints]\nenabled = 'off'\n")
    assert watch.changed() == []


@pytest.mark.parametrize("damage", ["[checkpoints\n", "[checkpoints]\nenabled = 17\n", "\xff"])
def test_of_a_damaged_file_nothing_is_said_until_it_is_mended(home: Home, damage: str) -> None:
    watch = SettingsWatch(home)
    write(home, damage)
    assert watch.changed() == []
    write(home, "[checkpoints]\nretention_days = 7\n")
    assert [step.values["content.after"] for step in watch.changed()] == [7]


def test_a_file_that_went_away_means_the_defaults_again(home: Home) -> None:
    write(home, "[checkpoints]\nretention_days = 7\n")
    watch = SettingsWatch(home)
    home.config.unlink()
    assert [step.values["content.after"] for step in watch.changed()] == [30]
