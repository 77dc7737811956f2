from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.capture.loopback import Loopback, read_loopback, wait_for_loopback
from tallystick.capture.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "run").mkdir()
    return Place(tmp_path)


def test_what_is_written_down_is_read_back(place: Place) -> None:
    assert read_loopback(place) is None
    place.http.write_bytes(Loopback(8787, "t").encode())
    assert read_loopback(place) == wait_for_loopback(place) == Loopback(8787, "t")
    assert Loopback(8787, "t").url == "http://127.0.0.1:8787"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"port": "x", "token": "t"}', '{"port": 1}', "\x00"])
def test_what_makes_no_sense_is_as_if_it_were_not_there(place: Place, text: str) -> None:
    place.http.write_text(text)
    assert read_loopback(place) is None
    assert wait_for_loopback(place, 0.03) is None
