from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from tallystick.errors import NotFoundError
from tallystick.journal.home import Home
from tallystick.recording.store import init_store, local_zone, open_archive


def test_a_store_is_made_once(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    with pytest.raises(NotFoundError, match="no store") as caught:
        open_archive(home)
    assert "tally init" in (caught.value.hint or "")
    assert init_store(home)
    assert not init_store(home)
    open_archive(home).close()
    open_archive(Home(tmp_path / "other"), make=True).close()


def test_the_local_zone_is_that_of_the_machine() -> None:
    assert datetime.now(local_zone()).utcoffset() == datetime.now().astimezone().utcoffset()
