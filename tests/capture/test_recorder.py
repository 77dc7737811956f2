"""Starting the recorder from outside it."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from tallystick.capture import recorder
from tallystick.capture.place import Place, listener
from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tests.support import recorders


def test_a_recorder_that_breaks_when_it_starts_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "store")
    home.folder.mkdir(mode=0o700)
    home.config.write_text("journal = [\n")
    monkeypatch.setattr(recorder, "_START_SECONDS", 100_000.0)
    with pytest.raises(TallystickError, match="does not answer"):
        recorder.start(home.folder)


@pytest.mark.parametrize("gone", [("pid",), ("lock",), ("pid", "lock")], ids="-".join)
def test_a_recorder_that_answers_is_stopped_whichever_of_its_files_are_gone(
    tmp_path: Path, gone: tuple[str, ...]
) -> None:
    store = tmp_path / "store"
    pid = recorders.start(store)
    place = Place(store)
    for name in gone:
        {"pid": place.pid, "lock": place.lock}[name].unlink()
    assert listener(place.socket) == pid
    assert recorder.stop(store)
    assert recorder.status(store) is None
    assert listener(place.socket) is None
    assert not recorder.stop(store)
    assert recorder._has_ended(pid)


def test_a_recorder_that_does_not_answer_is_named_though_its_pid_file_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    process = psutil.Process(recorders.start(store))
    Place(store).pid.unlink()
    process.suspend()
    monkeypatch.setattr(recorder, "_STOP_SECONDS", 0.1)
    with pytest.raises(TallystickError, match="does not end") as caught:
        recorder.stop(store)
    assert f"kill {process.pid}" in str(caught.value.hint)
    process.resume()
    monkeypatch.setattr(recorder, "_STOP_SECONDS", 60.0)
    assert recorder.stop(store)
