"""What was noticed stands until it is over, is shown once, and is known to the next recorder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from tallystick.live.silences import Silence, Silences, read_silences, standing
from tallystick.policy.alert import KILLED, UNHEARD, UNHOOKED

NOW = datetime.now(UTC)


def said(run: Path) -> list[str]:
    return [one.said for one in standing(read_silences(run), datetime.now(UTC))]


def test_it_is_news_once_and_again_when_it_was_over(tmp_path: Path) -> None:
    silences = Silences(tmp_path)
    assert silences.note(UNHOOKED, "gone", about="codex")
    assert not silences.note(UNHOOKED, "more are gone", about="codex")
    assert silences.note(UNHOOKED, "gone", about="qwen")
    assert silences.open(UNHOOKED) == ("codex", "qwen")
    silences.over(UNHOOKED, "codex")
    assert (silences.open(UNHOOKED), said(tmp_path)) == (("qwen",), ["gone"])
    assert silences.note(UNHOOKED, "gone", about="codex")


def test_what_happens_again_is_news_again(tmp_path: Path) -> None:
    silences = Silences(tmp_path)
    assert [silences.note(KILLED, "killed") for _ in range(2)] == [True, False]
    hours_ago = (NOW - timedelta(hours=2)).isoformat()
    old = [msgspec.structs.replace(one, found=hours_ago, shown=True) for one in read_silences(tmp_path)]
    (tmp_path / "silences.json").write_bytes(msgspec.json.encode(old))
    assert Silences(tmp_path).note(KILLED, "killed")
    assert [one.said for one in Silences(tmp_path).show()] == ["killed"]


def test_the_next_recorder_knows_it(tmp_path: Path) -> None:
    Silences(tmp_path).note(UNHEARD, "works", about="codex")
    again = Silences(tmp_path)
    assert not again.note(UNHEARD, "works elsewhere", about="codex")
    assert said(tmp_path) == ["works"]


def test_what_happened_stands_for_a_day_and_what_lasts_until_it_is_over(tmp_path: Path) -> None:
    long_ago = (NOW - timedelta(days=2)).isoformat()
    known = [
        Silence(rule=KILLED, said="killed", found=long_ago),
        Silence(rule=UNHOOKED, said="gone", found=long_ago, about="codex"),
        Silence(rule=UNHEARD, said="works", found="nonsense", about="codex"),
    ]
    assert [one.said for one in standing(known, NOW)] == ["gone", "works"]


def test_each_is_shown_once(tmp_path: Path) -> None:
    silences = Silences(tmp_path)
    silences.note(KILLED, "killed")
    assert [one.said for one in silences.show()] == ["killed"]
    silences.note(UNHOOKED, "gone", about="codex")
    assert [one.said for one in Silences(tmp_path).show()] == ["gone"]
    assert (Silences(tmp_path).show(), said(tmp_path)) == ((), ["killed", "gone"])


@pytest.mark.parametrize("bad", [b"", b"{}", b'[{"rule": 1}]', b"\xff"])
def test_a_damaged_file_is_as_none(tmp_path: Path, bad: bytes) -> None:
    (tmp_path / "silences.json").write_bytes(bad)
    assert read_silences(tmp_path) == ()
    assert Silences(tmp_path).note(KILLED, "killed")


def test_it_does_not_grow_without_end(tmp_path: Path) -> None:
    silences = Silences(tmp_path)
    for number in range(70):
        silences.note(KILLED, f"killed {number}")
    assert len(read_silences(tmp_path)) == 64
    old = [msgspec.structs.replace(one, found="2026-01-01T00:00:00.000000Z") for one in read_silences(tmp_path)]
    (tmp_path / "silences.json").write_bytes(msgspec.json.encode(old))
    Silences(tmp_path).note(KILLED, "new")
    assert [one.said for one in read_silences(tmp_path)] == ["new"]


def test_a_place_that_cannot_be_written_is_borne(tmp_path: Path) -> None:
    silences = Silences(tmp_path / "file" / "run")
    (tmp_path / "file").touch()
    assert silences.note(KILLED, "killed")
    assert not silences.note(KILLED, "killed")
