"""The file of entries: what was answered for is there after every fault, and what was not is asked for again."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.errors import JournalError
from tallystick.seal.extension import Code, LogState, RefusedError, extend
from tallystick.seal.extension import parse_request as parse
from tallystick.seal.note import parse_note
from tallystick.signer import entry_file
from tallystick.signer.entry_file import EntryFile, entries_path
from tallystick.signer.vault import Vault, make_vault
from tests.support.shown_entries import STORE, asked, asked_by_hashes, ledger, root

SECRET = bytes(range(32))
SIZES = (1, 4, 6, 9)


def opened(path: Path) -> Vault:
    ticks = itertools.count()
    return Vault(path, lambda: f"2026-01-01T00:00:{next(ticks):02}.000000Z")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make_vault(tmp_path / "log", STORE, SECRET, (1000,))
    return tmp_path / "log"


def fill(path: Path) -> list[int]:
    """Sign a ledger in steps; how long the file of entries was after each."""
    signer, lengths = opened(path), [entries_path(path).stat().st_size]
    for before, size in itertools.pairwise((0, *SIZES)):
        signer.sign(asked(ledger(size), before))
        lengths.append(entries_path(path).stat().st_size)
    signer.close()
    return lengths


def test_entries_come_back_as_they_were_from_any_one_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    found = EntryFile(entries_path(path), STORE)
    for start in range(11):
        assert tuple(found.lines(start)) == ledger(9)[start:]
    monkeypatch.setattr(entry_file, "MOST_ANSWER", 1_500)
    assert found.answer(2).splitlines() == [*ledger(9)[2:4]]
    assert found.answer(9) == b""
    found.close()
    assert entries_path(path).stat().st_mode & 0o777 == 0o600


def test_they_take_less_room_than_the_ledger_even_one_by_one(tmp_path: Path) -> None:
    found = EntryFile(tmp_path / "x.entries", STORE)
    for line in ledger(60):
        found.append([line])
    assert found.length < 0.62 * sum(map(len, ledger(60)))
    found.close()


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
def test_after_a_cut_or_a_changed_byte_all_that_was_signed_is_kept_again_once_it_is_shown(
    tmp_path: Path, data: st.DataObject
) -> None:
    path = tmp_path / "log"
    for place in tmp_path.iterdir():
        place.unlink()
    make_vault(path, STORE, SECRET, ())
    fill(path)
    whole = bytearray(entries_path(path).read_bytes())
    first = whole.index(b"\n") + 1
    at = data.draw(st.integers(first, len(whole) - 1))
    if data.draw(st.booleans()):
        del whole[at:]
        whole += data.draw(st.sampled_from((b"", b"\x00" * 40, b"\x00" * 5_000)))
    else:
        whole[at] ^= data.draw(st.integers(1, 255))
    entries_path(path).write_bytes(whole)
    signer = opened(path)
    assert (signer.state.size, signer.state.root) == (9, root(ledger(9)))
    size = signer.entries.size
    with pytest.raises(RefusedError) as refused:
        signer.sign(asked(ledger(12), 12))
    assert (refused.value.code, refused.value.size) == (Code.BEHIND, size)
    with pytest.raises(RefusedError) as unlike:
        signer.sign(asked(ledger(12, 5, ledger(min(size, 8))), size))
    assert size == 9 or unlike.value.code is Code.NOT_CONSISTENT
    size = signer.entries.size
    assert parse_note(signer.sign(asked(ledger(12), size))).root == root(ledger(12)) if size < 9 else True
    signer.close()


def test_a_signer_that_only_has_hashes_takes_all_entries_that_fit_them(path: Path) -> None:
    """What a signer of before left: its file of entries is not there, and its memory is of nine leaves."""
    fill(path)
    entries_path(path).unlink()
    state = extend(LogState(STORE), parse(asked_by_hashes(ledger(9), 0)))
    signer = opened(path)
    assert (signer.state, signer.entries.size) == (state, 0)
    with pytest.raises(RefusedError) as refused:
        signer.sign(asked(ledger(4), 0))
    assert refused.value.code is Code.KEPT
    signer.close()
    again = opened(path)
    assert (again.entries.size, again.state.size) == (4, 9)
    assert parse_note(again.sign(asked(ledger(11), 4))).root == root(ledger(11))
    assert tuple(again.kept.lines()) == ledger(11)


def test_hashes_alone_move_nothing_on(path: Path) -> None:
    fill(path)
    signer = opened(path)
    with pytest.raises(RefusedError) as refused:
        signer.sign(parse(asked_by_hashes(ledger(10), 9)))
    assert (refused.value.code, signer.state.size) == (Code.OUTDATED, 9)
    assert parse_note(signer.sign(parse(asked_by_hashes(ledger(9), 9)))).size == 9


def test_power_that_fails_between_the_two_files_loses_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)

    class Power(BaseException):
        pass

    def fail(*_: object) -> None:
        raise Power

    signer = opened(path)
    with monkeypatch.context() as patch:
        patch.setattr(Vault, "_remember", fail)
        with pytest.raises(Power):
            signer.sign(asked(ledger(12), 9))
    signer.close()
    again = opened(path)
    assert (again.state.size, again.state.root) == (12, root(ledger(12)))


def test_lines_of_the_memory_that_a_loss_of_power_took_are_remembered_from_the_entries(path: Path) -> None:
    fill(path)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
    signer = opened(path)
    assert (signer.state.size, signer.state.root) == (9, root(ledger(9)))


@pytest.mark.parametrize("call", ["os.fdatasync", "tallystick.signer.entry_file.write_whole"])
def test_a_disk_that_refuses_keeps_and_signs_nothing(path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    lengths = fill(path)
    signer = opened(path)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(call, refuse)
        with pytest.raises(JournalError, match="No space"):
            signer.sign(asked(ledger(11), 9))
    assert (signer.state.size, signer.entries.size) == (9, 9)
    assert entries_path(path).stat().st_size == lengths[-1]
    assert parse_note(signer.sign(asked(ledger(11), 9))).size == 11


def test_memory_that_cannot_be_written_leaves_no_entries(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = fill(path)
    signer = opened(path)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("tallystick.signer.vault.write_whole", refuse)
        with pytest.raises(JournalError, match="No space"):
            signer.sign(asked(ledger(11), 9))
    assert entries_path(path).stat().st_size == lengths[-1]
    assert parse_note(signer.sign(asked(ledger(11), 9))).size == 11


def test_an_old_state_goes_on_from_the_head_that_its_key_signed_where_it_is_asked_to_recover(path: Path) -> None:
    fill(path)
    old = {place: place.read_bytes() for place in (path, entries_path(path))}
    signer = opened(path)
    later = signer.sign(asked(ledger(12), 9))
    signer.close()
    for place, data in old.items():
        place.write_bytes(data)
    restored = opened(path)
    for lines in (ledger(14, 3, ledger(9)), ledger(11)):
        with pytest.raises(RefusedError) as refused:
            restored.sign(msgspec.structs.replace(asked(lines, 9, later), recovers=True))
        assert refused.value.code in (Code.NOT_CONSISTENT, Code.ROLLED_BACK)
    with pytest.raises(RefusedError):
        restored.sign(asked(ledger(14), 9, later))
    assert parse_note(restored.sign(msgspec.structs.replace(asked(ledger(14), 9, later), recovers=True))).size == 14


def test_a_file_of_another_store_is_refused(path: Path) -> None:
    fill(path)
    with pytest.raises(JournalError, match="does not keep"):
        EntryFile(entries_path(path), "cd" * 16)
