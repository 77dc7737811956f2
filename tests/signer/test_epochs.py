"""A key that is erased at the end of each epoch: whatever happens on the way, one key signs and the one before it is gone."""

from __future__ import annotations

import itertools
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tallystick.errors import JournalError
from tallystick.seal.epochs import Epoch
from tallystick.seal.extension import Request
from tallystick.seal.keys import SigningKey, did_key, parse_did_key
from tallystick.seal.note import parse_note, verify_note
from tallystick.signer import epochs, vault
from tallystick.signer.epochs import EpochFile, epoch_plan, epochs_path, make_epochs
from tallystick.signer.server import Server, Signer
from tallystick.signer.vault import Vault, make_vault
from tests.support.shown_entries import STORE, ledger, root
from tests.support.shown_entries import asked as request_of

SECRET = bytes(range(32))
FIRST = did_key(SigningKey(SECRET).public)
START = "2026-01-01T00:00:00.000000Z"


def asked(size: int, old: int) -> Request:
    return request_of(ledger(size), old)


class Power(BaseException):
    """The power fails."""


class Clock:
    """Both clocks of a signer, as a test sets them."""

    def __init__(self) -> None:
        self.minutes = 0
        self.seconds = 0.0

    def __call__(self) -> str:
        return f"2026-01-01T{self.minutes // 60:02}:{self.minutes % 60:02}:00.000000Z"

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    path = tmp_path / f"{STORE}.log"
    make_vault(path, STORE, SECRET, (os.getuid(),))
    make_epochs(epochs_path(path), store=STORE, key=FIRST, seconds=3_600, at=START)
    return path


def opened(path: Path, clock: Clock) -> Vault:
    numbers = itertools.count(1)
    return Vault(path, clock, secrets=lambda _: next(numbers).to_bytes(2, "big") * 16, monotonic=clock.monotonic)


def ends(path: Path) -> list[Epoch]:
    file = EpochFile(epochs_path(path))
    found = list(file.after("-"))
    file.close()
    return found


def signer_of(found: Vault, size: int, old: int) -> str:
    note = parse_note(found.sign(asked(size, old)))
    assert verify_note(note, [found.public]) == (found.public,)
    return did_key(found.public)


def test_an_epoch_ends_in_its_time_and_its_key_is_nowhere_any_more(path: Path, clock: Clock) -> None:
    signer = opened(path, clock)
    assert signer_of(signer, 3, 0) == FIRST
    clock.minutes = 59
    signer.end_if_over()
    assert did_key(signer.public) == FIRST
    clock.minutes = 60
    assert signer_of(signer, 5, 3) != FIRST
    signer.close()
    (end,) = ends(path)
    assert end.is_by(SigningKey(SECRET).public, STORE)
    assert (end.epoch, end.size, end.root) == (1, 3, root(ledger(3)).hex())
    assert (end.began, end.ended, end.key) == (START, clock(), did_key(signer.public))
    assert not [file for file in path.parent.iterdir() if SECRET.hex().encode() in file.read_bytes()]
    assert sorted(file.name for file in path.parent.iterdir()) == [
        f"{STORE}.entries",
        f"{STORE}.epochs",
        f"{STORE}.log",
    ]


def test_the_file_of_the_old_key_is_overwritten_where_it_lies(path: Path, clock: Clock) -> None:
    signer = opened(path, clock)
    signer.sign(asked(3, 0))
    with path.open("rb") as old:
        clock.minutes = 60
        signer.end_if_over()
        assert set(old.read()) == {0}
    assert path.read_bytes()[:1] == b"{"


def test_an_epoch_in_which_nothing_happened_ends_like_any_other(path: Path, clock: Clock) -> None:
    signer = opened(path, clock)
    for hour in range(1, 5):
        clock.minutes = 60 * hour
        signer.end_if_over()
    signer.close()
    row = ends(path)
    assert [end.epoch for end in row] == [1, 2, 3, 4]
    assert [end.size for end in row] == [0] * 4
    keys = [FIRST, *(end.key for end in row)]
    assert len(set(keys)) == 5
    assert all(end.is_by(parse_did_key(key), STORE) for key, end in zip(keys, row, strict=False))
    assert all(later.began == end.ended for end, later in itertools.pairwise(row))


def test_what_was_signed_is_remembered_across_the_change(path: Path, clock: Clock) -> None:
    signer = opened(path, clock)
    signer.sign(asked(4, 0))
    clock.minutes = 61
    signer.end_if_over()
    signer.close()
    again = opened(path, clock)
    assert (again.state.size, again.state.root, again.uids) == (4, root(ledger(4)), frozenset((os.getuid(),)))
    assert parse_note(again.sign(asked(6, 4))).size == 6


def test_a_clock_that_is_set_back_ends_no_epoch_early_and_none_late(path: Path, clock: Clock) -> None:
    clock.minutes = 30
    signer = opened(path, clock)
    clock.minutes, clock.seconds = 0, 3_599.0
    signer.end_if_over()
    assert signer.epochs is not None
    assert signer.epochs.number == 1
    clock.seconds = 3_600.0
    signer.end_if_over()
    assert signer.epochs.number == 2
    assert signer.epochs.began == START  # an epoch never ends before it began


def test_a_long_file_ends_its_epoch(path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault, "_MOST_SIGNED", 4)
    signer = opened(path, clock)
    for size in range(1, 9):
        signer.sign(asked(size, size - 1))
    signer.close()
    assert [end.size for end in ends(path)] == [3, 5, 7]


CALLS = ("write", "fsync", "fdatasync", "ftruncate", "rename", "unlink")


@pytest.fixture(params=range(1, 14), ids="call-{}".format)
def dying(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """The power fails at the nth call that changes something on the disk; half of a write is done."""
    left = [request.param]

    def failing(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(*given: object) -> object:
            left[0] -= 1
            if left[0] == 0:
                if name == "write":
                    real(given[0], bytes(given[1])[: len(given[1]) // 2])  # type: ignore[arg-type, call-overload]
                raise Power
            if left[0] < 0:
                raise Power
            return real(*given)

        return call

    def arm() -> None:
        for name in CALLS:
            monkeypatch.setattr(os, name, failing(name))

    return arm


def test_wherever_the_power_fails_one_key_signs_and_no_end_is_without_its_key(
    path: Path, clock: Clock, dying: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    signer = opened(path, clock)
    signer.sign(asked(3, 0))
    clock.minutes = 60
    dying()
    try:
        signer.end_if_over()
        died = False
    except Power:
        died = True
    monkeypatch.undo()
    signer.close()
    clock.minutes = 60 if died else 0
    again = opened(path, clock)
    again.end_if_over()
    assert again.state.size == 3
    assert parse_note(again.sign(asked(5, 3))).size == 5
    again.close()
    (end,) = ends(path)
    assert end.is_by(SigningKey(SECRET).public, STORE)
    assert end.key == did_key(again.public)
    assert not path.with_name(path.name + ".next").exists()
    assert not [file for file in path.parent.iterdir() if SECRET.hex().encode() in file.read_bytes()]


@pytest.mark.parametrize("fails", range(1, 13))
def test_a_disk_that_refuses_changes_no_key_by_halves(
    path: Path, clock: Clock, fails: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    signer = opened(path, clock)
    signer.sign(asked(3, 0))
    clock.minutes = 60
    calls = itertools.count(1)

    def refusing(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(*given: object) -> object:
            if next(calls) == fails:
                raise OSError(28, "No space left on device")
            return real(*given)

        return call

    for name in CALLS:
        monkeypatch.setattr(os, name, refusing(name))
    with pytest.raises(JournalError, match="No space"):
        signer.end_if_over()
    monkeypatch.undo()
    assert parse_note(signer.sign(asked(5, 3))).size == 5
    signer.close()
    assert [end.epoch for end in ends(path)] == [1]
    assert did_key(signer.public) == ends(path)[0].key
    assert not path.with_name(path.name + ".next").exists()


@pytest.mark.parametrize("name", [f"{STORE}.log", f"{STORE}.epochs"])
def test_one_of_the_two_files_put_back_alone_signs_nothing(path: Path, clock: Clock, name: str) -> None:
    old = (path.parent / name).read_bytes()
    signer = opened(path, clock)
    clock.minutes = 60
    signer.end_if_over()
    signer.close()
    (path.parent / name).write_bytes(old)
    with pytest.raises(JournalError, match="another key than the epoch"):
        opened(path, clock)


def test_an_end_that_is_torn_was_told_to_nobody(path: Path, clock: Clock) -> None:
    with epochs_path(path).open("ab") as file:
        file.write(b'{"began":"2026')
    signer = opened(path, clock)
    clock.minutes = 60
    signer.end_if_over()
    signer.close()
    assert [end.epoch for end in ends(path)] == [1]


@pytest.mark.parametrize("broken", [b"", b"nonsense\n", b'{"at":"x","key":"k","seconds":60,"store":"s","v":1}\n{}\n'])
def test_a_damaged_file_is_refused(path: Path, clock: Clock, broken: bytes) -> None:
    epochs_path(path).write_bytes(broken)
    with pytest.raises(JournalError, match="damaged"):
        opened(path, clock)


def test_an_end_that_is_missing_is_found(path: Path, clock: Clock) -> None:
    signer = opened(path, clock)
    for hour in (1, 2, 3):
        clock.minutes = 60 * hour
        signer.end_if_over()
    signer.close()
    lines = epochs_path(path).read_bytes().splitlines(keepends=True)
    epochs_path(path).write_bytes(b"".join((*lines[:2], *lines[3:])))
    with pytest.raises(JournalError, match="not of epoch 2"):
        opened(path, clock)


def test_one_process_at_a_time_has_the_epochs(path: Path, clock: Clock) -> None:
    first = opened(path, clock)
    with pytest.raises(JournalError, match="another signer"):
        opened(path, clock)
    first.close()
    opened(path, clock).close()


@pytest.mark.parametrize("seconds", [0, 59, 31 * 86_400 + 1])
def test_an_epoch_has_bounds(tmp_path: Path, seconds: int) -> None:
    with pytest.raises(JournalError, match="too short or too long"):
        make_epochs(tmp_path / "x", store=STORE, key=FIRST, seconds=seconds, at=START)


def test_what_was_begun_is_known_beside_the_signer(path: Path, tmp_path: Path) -> None:
    assert epoch_plan(epochs_path(path)) == (FIRST, 3_600)
    assert epoch_plan(tmp_path / "none") is None
    epochs_path(path).write_bytes(b"?")
    with pytest.raises(JournalError):
        epoch_plan(epochs_path(path))


# Over the socket ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def signer(path: Path, clock: Clock) -> Iterator[Signer]:
    made = Signer(path.parent, clock)
    yield made
    made.close()


def told(signer: Signer, after: str = "-") -> list[dict[str, object]]:
    answer = signer.answer(os.getuid(), f"epochs {STORE} {after}\n".encode())
    code, _, said = answer.partition(b"\n")
    assert code == b"200"
    found: list[dict[str, object]] = json.loads(said)
    return found


def test_who_may_have_a_log_signed_is_told_its_epochs(
    signer: Signer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(epochs, "MOST_ENDS", 3)
    for hour in range(1, 6):
        clock.minutes = 60 * hour
        signer.end_epochs()
    row = told(signer)
    assert [end["epoch"] for end in row] == [1, 2, 3]
    assert [end["epoch"] for end in told(signer, str(row[1]["key"]))] == [3, 4, 5]
    assert told(signer, told(signer, str(row[2]["key"]))[-1]["key"]) == []  # type: ignore[arg-type]
    log = signer.status(os.getuid())["logs"][0]  # type: ignore[index]
    assert (log["epoch"], log["epoch_seconds"]) == (6, 3_600)
    assert signer.answer(os.getuid() + 1, f"epochs {STORE} -\n".encode()).startswith(b"403")
    assert signer.answer(os.getuid(), f"epochs {'cd' * 16} -\n".encode()).startswith(b"404")


def test_epochs_end_though_nobody_asks(signer: Signer, clock: Clock, tmp_path: Path) -> None:
    ended = threading.Event()
    end_epochs = signer.end_epochs

    def seen() -> None:
        end_epochs()
        if told(signer):
            ended.set()

    signer.end_epochs = seen  # type: ignore[method-assign]
    clock.minutes = 60
    with Server(tmp_path / "socket", signer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        assert ended.wait(120)
        server.shutdown()
        thread.join()


def test_an_epoch_that_cannot_be_ended_is_tried_again(
    signer: Signer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.minutes = 60

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdatasync", refuse)
    signer.end_epochs()
    assert told(signer) == []
    monkeypatch.undo()
    signer.end_epochs()
    assert [end["epoch"] for end in told(signer)] == [1]
