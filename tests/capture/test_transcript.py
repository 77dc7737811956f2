from __future__ import annotations

import json
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.agents import Adapter, adapters
from tallystick.capture.transcript import Change, LineTranscript, WholeTranscript
from tallystick.errors import SourceError
from tallystick.model.step import Loss, Step
from tests.support.laws import examples

PI = adapters()["pi"]


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def line(k: int, text: str = "hi") -> bytes:
    message = {"role": "user", "content": [{"type": "text", "text": f"{text} {k}"}], "timestamp": k}
    entry = {
        "type": "message",
        "id": f"e{k}",
        "parentId": None,
        "timestamp": "2026-01-01T00:00:00Z",
        "message": message,
    }
    return json.dumps(entry).encode() + b"\n"


def make(path: Path, lines: Iterable[bytes], *, clock: Clock | None = None) -> LineTranscript:
    path.write_bytes(b"".join(lines))
    transcript = LineTranscript(path, PI, clock=clock or Clock())
    read_all(transcript)
    assert transcript.check() is None
    return transcript


def read_all(transcript: LineTranscript) -> list[str]:
    return [str(event.source_id) for piece in transcript.read() for event in piece.events if isinstance(event, Step)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_each_line_is_read_once_and_only_when_it_is_whole(path: Path) -> None:
    transcript = make(path, [line(0), line(1)[:20]])
    assert transcript.number == 1
    assert not transcript.has_more()
    with path.open("ab") as file:
        file.write(line(1)[20:] + line(2))
    assert transcript.has_more()
    assert read_all(transcript) == ["e1", "e2"]
    assert (transcript.offset, transcript.digest) == (path.stat().st_size, sha256(path.read_bytes()).hexdigest())
    assert read_all(transcript) == []


def test_reading_may_be_left_after_any_line(path: Path) -> None:
    path.write_bytes(line(0) + line(1) + line(2))
    transcript = LineTranscript(path, PI)
    pieces = transcript.read()
    assert next(pieces).number == 1
    del pieces
    assert transcript.offset == len(line(0))
    assert read_all(transcript) == ["e1", "e2"]
    assert transcript.digest == sha256(path.read_bytes()).hexdigest()


def test_a_file_that_is_not_there_yet_has_nothing_to_read(path: Path) -> None:
    transcript = LineTranscript(path, PI)
    assert (transcript.check(), transcript.size, transcript.has_more(), read_all(transcript)) == (None, 0, False, [])
    path.write_bytes(line(0))
    assert read_all(transcript) == ["e0"]


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    transcript = LineTranscript(tmp_path / "pipe", PI)
    assert read_all(transcript) == []
    assert list(transcript.finish()) == []


def test_a_file_that_may_not_be_read_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(line(0))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(SourceError, match="Permission denied"):
        read_all(LineTranscript(path, PI))


def test_a_last_line_without_end_is_read_at_the_end_if_it_is_whole(path: Path) -> None:
    transcript = make(path, [line(0), line(1)[:-1]])
    assert [event.source_id for piece in transcript.finish() for event in piece.events if isinstance(event, Step)] == [
        "e1"
    ]
    assert transcript.offset == len(line(0))


def test_half_a_last_line_is_a_loss_at_the_end(path: Path) -> None:
    transcript = make(path, [line(0), line(1)[:9]])
    losses = [event for piece in transcript.finish() for event in piece.events if isinstance(event, Loss)]
    assert [loss.kind for loss in losses] == ["half_line"]


# What is not there any more ------------------------------------------------------------------------------------------


def test_a_file_that_was_cut_is_cut_from_a_line_on(path: Path) -> None:
    transcript = make(path, map(line, range(4)))
    had = path.read_bytes()
    os.truncate(path, len(line(0)) + 5)
    damage = transcript.check()
    assert damage is not None
    assert (damage.change, damage.first, damage.last) == (Change.CUT, len(line(0)), len(had))
    assert (damage.size, damage.read) == (len(line(0)) + 5, len(had))
    assert (damage.had, damage.now) == (sha256(had).hexdigest(), sha256(path.read_bytes()).hexdigest())


def test_a_byte_changed_in_place_is_found_in_its_line(path: Path) -> None:
    transcript = make(path, map(line, range(4)))
    data = bytearray(path.read_bytes())
    data[len(line(0)) + 70] ^= 1
    path.write_bytes(data)
    damage = transcript.check()
    assert damage is not None
    assert (damage.change, damage.first, damage.last) == (
        Change.EDITED,
        len(line(0)),
        len(line(0) + line(1)),
    )


def test_a_change_under_cover_of_growth_is_found_in_time(path: Path) -> None:
    clock = Clock()
    transcript = make(path, map(line, range(4)), clock=clock)
    path.write_bytes(path.read_bytes().replace(b"hi 1", b"ho 1") + line(4))
    assert transcript.check() is None  # its last line stands
    clock.now += 11
    path.write_bytes(path.read_bytes() + line(5))
    damage = transcript.check()
    assert damage is not None
    assert (damage.first, damage.last) == (len(line(0)), len(line(0) + line(1)))


def test_a_change_under_cover_of_growth_is_found_at_the_end_at_the_latest(path: Path) -> None:
    transcript = make(path, map(line, range(4)))
    path.write_bytes(path.read_bytes().replace(b"hi 1", b"ho 1") + line(4))
    assert transcript.check() is None
    damage = transcript.check(whole=True)
    assert damage is not None
    assert damage.change is Change.EDITED


def test_a_change_of_the_last_line_is_found_at_once(path: Path) -> None:
    transcript = make(path, map(line, range(4)))
    path.write_bytes(path.read_bytes().replace(b"hi 3", b"ho 3") + line(4))
    damage = transcript.check()
    assert damage is not None
    assert (damage.first, damage.last) == (len(b"".join(map(line, range(3)))), transcript.offset)


def test_a_file_that_was_replaced_by_the_same_and_more_stands(path: Path) -> None:
    transcript = make(path, [line(0), line(1)])
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes() + line(2))
    other.rename(path)
    assert transcript.check() is None
    assert read_all(transcript) == ["e2"]


def test_a_file_that_was_touched_stands(path: Path) -> None:
    transcript = make(path, [line(0)])
    os.utime(path, (1, 1))
    assert transcript.check() is None


def test_another_file_in_its_place_is_told(path: Path) -> None:
    transcript = make(path, [line(0), line(1)])
    path.write_bytes(line(7) + line(8))
    damage = transcript.check()
    assert damage is not None
    assert (damage.change, damage.first, damage.last) == (Change.REPLACED, 0, transcript.offset)


def test_a_file_that_was_deleted_is_told_once_and_read_anew_when_it_is_back(path: Path) -> None:
    transcript = make(path, [line(0), line(1)])
    path.unlink()
    damage = transcript.check()
    assert damage is not None
    assert (damage.change, damage.last, damage.now) == (Change.DELETED, len(line(0) + line(1)), None)
    assert transcript.check() is None
    transcript.restart()
    assert transcript.check() is None
    path.write_bytes(line(0))
    assert read_all(transcript) == ["e0"]
    path.unlink()
    assert transcript.check() is not None


LINES = st.lists(st.integers(0, 3), min_size=1, max_size=8)


@settings(max_examples=examples(150), deadline=None)
@given(before=LINES, after=LINES, more=LINES)
def test_every_byte_outside_the_range_that_is_told_stands_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, before: list[int], after: list[int], more: list[int]
) -> None:
    path = tmp_path_factory.mktemp("law") / "x.jsonl"
    transcript = make(path, map(line, before))
    had = path.read_bytes()
    now = b"".join(map(line, [*after, *more]))
    path.write_bytes(now)
    damage = transcript.check(whole=True)
    assert (damage is None) == now.startswith(had)
    if damage is None:
        return
    assert 0 <= damage.first <= damage.last <= len(had)
    assert now.startswith(had[: damage.first])
    assert had[damage.last :] in now
    if damage.change is Change.CUT:
        assert had.startswith(now)
    first_difference = next(
        (at for at, (a, b) in enumerate(zip(had, now, strict=False)) if a != b), min(len(had), len(now))
    )
    assert damage.first <= first_difference


@settings(max_examples=examples(100), deadline=None)
@given(lines=LINES, data=st.data())
def test_any_flipped_bit_is_found_and_told_within_its_line(
    tmp_path_factory: pytest.TempPathFactory, lines: list[int], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("law") / "x.jsonl"
    transcript = make(path, [line(k, f"at {place}") for place, k in enumerate(lines)])
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    damage = transcript.check(whole=True)
    assert damage is not None
    assert damage.first <= at < damage.last


# Files that are written anew -----------------------------------------------------------------------------------------


@pytest.fixture
def cline() -> Adapter:
    return adapters()["cline"]


def test_a_document_is_read_when_it_has_changed_and_not_all_the_time(path: Path, cline: Adapter) -> None:
    clock = Clock()
    transcript = WholeTranscript(path, cline, clock=clock)
    assert not transcript.has_changed()
    path.write_text('{"version": 1, "messages": []}')
    assert transcript.has_changed()
    for _ in transcript.read():
        clock.now += 1  # reading takes a second
    assert (transcript.offset, transcript.digest) == (30, sha256(path.read_bytes()).hexdigest())
    assert not transcript.has_changed()
    path.write_text('{"version": 1, "messages": [ ]}')
    assert not transcript.has_changed()
    assert transcript.has_changed(now=True)
    clock.now += 60
    assert transcript.has_changed()


def test_the_log_beside_a_database_counts_as_the_database(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(b"")
    transcript = WholeTranscript(path, adapters()["opencode"], clock=Clock())
    assert transcript.has_changed()
    state = transcript._look()
    path.with_name("opencode.db-wal").write_bytes(b"x")
    assert transcript._look() != state
