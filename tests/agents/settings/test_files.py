from __future__ import annotations

from tallystick.agents.settings import Rule, files


def test_the_rules_on_files_stand_here_and_nothing_that_looks() -> None:
    assert {value.id.split(".")[0] for value in vars(files).values() if isinstance(value, Rule)} == {
        "files",
        "hook",
        "hooks",
    }
