"""Starting the recorder from outside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.capture import recorder
from tallystick.errors import TallystickError
from tallystick.journal.home import Home


def test_a_recorder_that_breaks_when_it_starts_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(tmp_path / "store")
    home.folder.mkdir(mode=0o700)
    home.config.write_text("journal = [\n")
    monkeypatch.setattr(recorder, "_START_SECONDS", 100_000.0)
    with pytest.raises(TallystickError, match="does not answer"):
        recorder.start(home.folder)
