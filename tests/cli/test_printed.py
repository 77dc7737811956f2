"""What commands print is as it was. `tests.cli.printed` says how it is changed."""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec
import pytest

from tallystick.trust.tamper_signals import KeptAlarm
from tests.cli.printed import COMMANDS, fill, kept, printed
from tests.support.made_once import made_once


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder whose store holds the sample sessions, each time with the same entries. Not to be changed."""
    return made_once(tmp_path_factory, "printed", fill)


@pytest.mark.parametrize("command", COMMANDS.splitlines())
def test_a_command_prints_what_it_printed(sampled: Path, command: str) -> None:
    assert printed(sampled, command) == kept()[command], "if that is meant, run `python -m tests.cli.printed`"


def test_nothing_else_is_kept() -> None:
    assert list(kept()) == COMMANDS.splitlines()


def test_a_checkpoint_that_is_made_is_printed_with_its_tokens(sampled: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(sampled, tmp_path / "copy")
    shown = printed(copy, "checkpoint create marked --session a42b3437 --at 40").splitlines()
    assert shown[1].startswith("checkpoint ")
    assert shown[1].endswith(" marks 712d3396:40: marked")
    assert shown[2:] == ["  tokens  38 in, 994 out, 94,828 cached, 17,624 to cache", "exit 0"]


def test_evidence_of_an_alarm_is_a_line_of_the_status(sampled: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(sampled, tmp_path / "copy")
    folder = copy / ".tally" / "trust" / "evidence" / "a"
    folder.mkdir(parents=True)
    kept_alarm = KeptAlarm(alarm="a", found="2026-01-01T00:00:00Z", over="2026-01-02T00:00:00Z")
    (folder / "alarm.json").write_bytes(msgspec.json.encode(kept_alarm))
    assert "\nevidence      of 1 alarm, below trust/evidence\n" in printed(copy, "status")
