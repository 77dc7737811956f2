"""The spool: what hooks have kept is taken in once, whatever became of the hook; what is no delivery is set aside."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tallystick import hook_alone
from tallystick.capture import recorder
from tallystick.capture.place import Place
from tallystick.errors import FormatError
from tallystick.journal.home import Home
from tallystick.model.decision import Effect
from tallystick.service.spool import deliveries, late_answers, take_back, waiting
from tests.service.faults import before, gaps, wait_for, wait_for_calls
from tests.support import recorders


def kept(folder: Path, name: str, number: int = 1, *, cut: int = 0) -> Path:
    data = json.dumps(before("claude-code", number)).encode()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    line = b"TALLY1 %d claude-code - 0.1.0 %d 7.%d -\n" % (len(data), time.time_ns(), number)
    (folder / name).write_bytes(line + data[: len(data) - cut])
    return folder / name


def test_it_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    names = ["2-1.spool", "1-9.alone.spool", "3-1.on_error-deny.spool"]
    for name in names:
        kept(tmp_path, name)
    assert [path.name for path in waiting(tmp_path)] == ["1-9.alone.spool", "2-1.spool", "3-1.on_error-deny.spool"]


@pytest.mark.parametrize("effect", [Effect.ALLOW, Effect.ASK, Effect.DENY])
def test_what_the_agent_was_told_stands_in_the_name(tmp_path: Path, effect: Effect) -> None:
    found = take_back(kept(tmp_path, f"1-1.on_error-{effect.value}.spool")).decided
    assert found is not None
    assert found.effect is effect
    assert take_back(kept(tmp_path, "1-1.alone.spool")).decided is None


def test_what_a_killed_hook_left_is_taken_in_once_it_writes_no_more(tmp_path: Path) -> None:
    part = kept(tmp_path, "1-1.part")
    assert waiting(tmp_path) == []
    os.utime(part, (1, 1))
    assert waiting(tmp_path) == [part]
    assert take_back(part).agent == "claude-code"


def test_a_call_that_was_answered_by_the_setting_after_it_was_taken_is_counted_once(tmp_path: Path) -> None:
    """Its hook says so beside it; one that a full interpreter decided on alone is not such a call."""
    spooled = kept(tmp_path, "1-1.spool")
    hook_alone.mark(spooled, "on_error-ask")
    assert [path.name for path in tmp_path.iterdir()] == ["1-1.on_error-ask.spool"]
    for decided in ("alone", "on_error-ask"):
        hook_alone.mark(spooled, decided)
    assert [late_answers(tmp_path), late_answers(tmp_path), late_answers(tmp_path / "none")] == [1, 0, 0]


def test_half_a_delivery_and_what_is_no_file_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "2-1.spool")
    for path in (kept(tmp_path, "1-1.spool", cut=5), tmp_path / "2-1.spool"):
        with pytest.raises(FormatError):
            take_back(path)


def test_what_is_no_delivery_is_told_of_once_though_the_reader_stops_there(tmp_path: Path) -> None:
    kept(tmp_path / "spool", "1-1.spool", cut=5)
    for _, found in deliveries(tmp_path / "spool", tmp_path / "torn"):
        assert isinstance(found, FormatError)
        break
    assert list(deliveries(tmp_path / "spool", tmp_path / "torn")) == []
    assert [path.name for path in (tmp_path / "torn").iterdir()] == ["1-1.spool"]


def test_a_recorder_takes_in_what_is_whole_and_sets_the_rest_aside(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    folder = Place(home.folder).spool
    kept(folder, "1-1.spool", 1)
    kept(folder, "2-1.spool", 2, cut=5)
    (folder / "3-1.spool").write_bytes(b"\0" * 5000)
    os.mkfifo(folder / "4-1.spool")
    os.utime(kept(folder, "5-1.part", 5), (1, 1))
    kept(folder, "6-1.on_error-ask.spool", 6)
    try:
        recorders.start(home.folder)
        wait_for_calls(home, 1, 5, 6)
        assert (recorder.status(home.folder) or {})["undecided_last_hour"] == 1
        wait_for(lambda: gaps(home) == ["bad-spool"] * 3)
        wait_for(lambda: list(folder.iterdir()) == [])
        aside = {"2-1.spool", "3-1.spool", "4-1.spool"}
        assert aside <= {path.name for path in Place(home.folder).torn.iterdir()}
    finally:
        recorder.stop(home.folder)


def test_a_link_is_no_delivery_and_what_it_names_is_left_alone(tmp_path: Path) -> None:
    elsewhere = kept(tmp_path / "elsewhere", "target")
    spool = tmp_path / "spool"
    spool.mkdir()
    (spool / "1-1.spool").symlink_to(elsewhere)
    [(_, found)] = deliveries(spool, tmp_path / "torn")
    assert isinstance(found, FormatError)
    assert "is a symbolic link" in str(found)
    assert (waiting(spool), elsewhere.exists()) == ([], True)


def test_one_that_another_takes_meanwhile_keeps_back_none_of_the_others(tmp_path: Path) -> None:
    _, second, _ = (kept(tmp_path, f"{number}-1.spool", number) for number in (1, 2, 3))
    found = []
    for path, _ in deliveries(tmp_path, tmp_path / "torn"):
        found.append(path.name)
        second.unlink(missing_ok=True)
    assert found == ["1-1.spool", "3-1.spool"]
