from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tallystick.guard import snapshots as module
from tallystick.guard.family_reader import FamilyReader
from tallystick.guard.snapshots import Snapshot, Snapshots
from tallystick.journal.durable import exchange_file
from tallystick.journal.erase import Grounds, erase
from tallystick.journal.kept_states import erasure_mark, forget_states
from tallystick.model.ids import SessionId
from tallystick.state.family_state import FamilyState
from tallystick.trust.verify import verify_store
from tests.guard.test_family_reader import follow, journals, new, some_work
from tests.support.working import AGENT, Work

FAMILY = (AGENT, "now")


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with Work(tmp_path) as work:
        yield work


def kept(work: Work) -> tuple[Snapshots, FamilyReader]:
    """The snapshots of a store with one of a family that did some work."""
    for _ in some_work(work):
        pass
    reader, snapshots = follow(new(work.home), work), Snapshots(work.home, lambda: "rules")
    assert snapshots.keep(FAMILY, reader.state, reader.positions, snapshots.mark())
    return snapshots, reader


def load(snapshots: Snapshots, work: Work) -> Snapshot | None:
    return snapshots.load(FAMILY, {start.sid: path for start, path in journals(work)})


def file(work: Work) -> Path:
    (path,) = work.home.states.glob("*.state")
    return path


def test_what_is_kept_is_loaded(work: Work) -> None:
    snapshots, reader = kept(work)
    found = load(snapshots, work)
    assert found is not None
    assert (found.state, found.positions) == (reader.state, reader.positions)
    assert stat.S_IMODE(file(work).stat().st_mode) == 0o600
    assert stat.S_IMODE(work.home.states.stat().st_mode) == 0o700
    assert snapshots.load((AGENT, "other"), {}) is None


def test_it_holds_where_journals_have_grown(work: Work) -> None:
    snapshots, reader = kept(work)
    work.call("Bash", {"command": "ls"}, is_judged=False)
    assert load(snapshots, work) is not None
    assert follow(reader, work).state == follow(new(work.home), work).state


def test_that_of_other_rules_does_not_hold(work: Work) -> None:
    kept(work)
    assert load(Snapshots(work.home, lambda: "others"), work) is None


@pytest.mark.parametrize("change", ["hash", "position", "gone", "family"])
def test_that_of_other_journals_does_not_hold(work: Work, change: str) -> None:
    snapshots, reader = kept(work)
    sid, position = next(iter(reader.positions.items()))
    others = {
        "hash": {**reader.positions, sid: msgspec.structs.replace(position, hash="ab" * 32)},
        "position": {**reader.positions, sid: msgspec.structs.replace(position, last=position.last + 1)},
        "gone": {**reader.positions, "ab" * 16: position},
        "family": reader.positions,
    }
    assert snapshots.keep(FAMILY, reader.state, others[change], "")
    if change == "family":
        file(work).rename(snapshots._path((AGENT, "other")))
        assert snapshots.load((AGENT, "other"), {start.sid: path for start, path in journals(work)}) is None
    assert load(snapshots, work) is None


@pytest.mark.parametrize("data", [b"", b"\x80", b"no snapshot", b"\x00" * 100])
def test_a_damaged_file_is_none(work: Work, data: bytes) -> None:
    snapshots, _ = kept(work)
    file(work).write_bytes(data)
    assert load(snapshots, work) is None
    cut = msgspec.msgpack.encode(Snapshot(rules="rules", erased="", family=FAMILY, positions={}, state=FamilyState()))
    file(work).write_bytes(cut[:-1])
    assert load(snapshots, work) is None


def test_an_erasure_removes_what_is_kept_and_what_was_begun_before_is_not_kept_again(work: Work) -> None:
    work.call("Bash", {"command": "curl https://example.org/"}, is_judged=False, result="a word like zebra-4711 there")
    snapshots, reader = kept(work)
    assert b"zebra-4711" in file(work).read_bytes()
    before = snapshots.mark()
    work.session_writer.seal()
    ((start, _), *_) = [one for one in journals(work) if one.start.source == "now"]
    erase(work.session_writer.archive, SessionId(start.sid), 3, frozenset(("content.output",)), Grounds("request", "x"))
    assert list(work.home.states.glob("*.state")) == []
    assert snapshots.mark() != before
    assert not snapshots.keep(FAMILY, reader.state, reader.positions, before)
    assert list(work.home.states.glob("*.state")) == []
    work.session_writer.close()
    assert verify_store(work.home).exit_code in (0, 3)


def test_what_is_erased_while_it_is_written_does_not_stay(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots, reader = kept(work)
    before, write = snapshots.mark(), exchange_file

    def slow(path: Path, chunks: list[bytes]) -> None:
        forget_states(work.home, "7")
        write(path, chunks)

    monkeypatch.setattr(module, "exchange_file", slow)
    assert not snapshots.keep(FAMILY, reader.state, reader.positions, before)
    assert list(work.home.states.glob("*.state")) == []
    assert erasure_mark(work.home) == "7"


def test_the_newest_stay(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_KEPT", 2)
    snapshots = Snapshots(work.home, lambda: "rules")
    for number in range(4):
        assert snapshots.keep((AGENT, str(number)), FamilyState(), {}, "")
        os.utime(snapshots._path((AGENT, str(number))), (number, number))
    assert snapshots.load((AGENT, "3"), {}) is not None
    assert snapshots.load((AGENT, "0"), {}) is None
    assert len(list(work.home.states.iterdir())) == 2


def test_a_disk_that_refuses_keeps_nothing(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    work.home.states.write_text("a file where the folder would be")
    assert not Snapshots(work.home, lambda: "rules").keep(FAMILY, FamilyState(), {}, "")
    assert load(Snapshots(work.home, lambda: "rules"), work) is None
