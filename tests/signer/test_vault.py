from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.errors import JournalError
from tallystick.seal.extension import Code, RefusedError
from tallystick.seal.keys import SigningKey
from tallystick.seal.note import parse_note, sign_note, verify_note
from tallystick.signer import vault
from tallystick.signer.entry_file import entries_path
from tallystick.signer.vault import Vault, make_vault
from tests.support.shown_entries import STORE, asked, ledger, root

SECRET = bytes(range(32))


def opened(path: Path) -> Vault:
    ticks = itertools.count()
    return Vault(path, lambda: f"2026-01-01T00:00:{next(ticks):02}.000000Z")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    make_vault(tmp_path / "log", STORE, SECRET, (1000,))
    return tmp_path / "log"


def test_it_signs_what_grows_and_remembers_it(path: Path) -> None:
    first = opened(path)
    note = parse_note(first.sign(asked(ledger(3), 0)))
    assert verify_note(note, [SigningKey(SECRET).public]) == (SigningKey(SECRET).public,)
    first.close()
    again = opened(path)
    assert (again.state.size, again.state.root, again.uids) == (3, root(ledger(3)), frozenset((1000,)))
    assert parse_note(again.sign(asked(ledger(9), 3))).size == 9


def test_it_refuses_a_rewritten_log_and_signs_the_true_one_after_it(path: Path) -> None:
    signer = opened(path)
    signer.sign(asked(ledger(3), 0))
    with pytest.raises(RefusedError):
        signer.sign(asked(ledger(5, seed=1), 3))
    assert parse_note(signer.sign(asked(ledger(5), 3))).size == 5


def test_the_same_again_is_signed_again_and_not_remembered_twice(path: Path) -> None:
    signer = opened(path)
    note = signer.sign(asked(ledger(3), 0))
    before = path.read_bytes()
    assert signer.sign(asked(ledger(3), 3)) == note
    assert path.read_bytes() == before


def test_an_old_file_that_is_put_back_signs_nothing_once_it_is_shown_what_it_signed_later(path: Path) -> None:
    signer = opened(path)
    signer.sign(asked(ledger(3), 0))
    old, kept = path.read_bytes(), entries_path(path).read_bytes()
    later = signer.sign(asked(ledger(8), 3))
    signer.close()
    path.write_bytes(old)
    entries_path(path).write_bytes(kept)
    restored = opened(path)
    with pytest.raises(RefusedError) as refused:
        restored.sign(asked(ledger(5, 5, ledger(3)), 3, known=later))
    assert refused.value.code is Code.ROLLED_BACK


def test_a_head_of_another_key_is_no_sign_of_an_old_file(path: Path) -> None:
    foreign = sign_note(STORE, 99, b"\x09" * 32, [SigningKey(b"\x07" * 32)])
    assert parse_note(opened(path).sign(asked(ledger(1), 0, known=foreign))).size == 1


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_was_cut_anywhere_remembers_only_what_was_answered_for_or_says_that_it_is_damaged(
    tmp_path: Path, data: st.DataObject
) -> None:
    path = tmp_path / "cut"
    for place in (path, entries_path(path)):
        place.unlink(missing_ok=True)
    make_vault(path, STORE, SECRET, ())
    signer = opened(path)
    sizes = [0]
    for size in (1, 4, 6):
        signer.sign(asked(ledger(size), sizes[-1]))
        sizes.append(size)
    signer.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    try:
        found = opened(path)
    except JournalError:
        return
    assert found.state.size in sizes
    assert found.state.root == root(ledger(found.state.size))
    found.close()
    opened(path).close()


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_line_in_the_middle_is_found(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "changed"
    for place in (path, entries_path(path)):
        place.unlink(missing_ok=True)
    make_vault(path, STORE, SECRET, ())
    signer = opened(path)
    for before, size in itertools.pairwise((0, 1, 2, 3)):
        signer.sign(asked(ledger(size), before))
    signer.close()
    lines = path.read_bytes().splitlines(keepends=True)
    at = data.draw(st.integers(0, sum(map(len, lines[:3])) - 1))
    whole = bytearray(b"".join(lines))
    whole[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(whole))
    with pytest.raises(JournalError):
        opened(path)


def test_a_long_memory_begins_anew_and_knows_what_it_knew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault, "_MOST_SIGNED", 4)
    signer = opened(path)
    for size in range(1, 12):
        signer.sign(asked(ledger(size), size - 1))
    assert path.read_bytes().count(b"\n") <= 4
    signer.close()
    assert opened(path).state.size == 11


def test_one_process_at_a_time_holds_it(path: Path) -> None:
    first = opened(path)
    with pytest.raises(JournalError, match="another signer"):
        opened(path)
    first.close()
    opened(path).close()


def test_a_key_is_never_replaced(path: Path) -> None:
    with pytest.raises(JournalError, match="already"):
        make_vault(path, STORE, b"\x01" * 32, ())


def test_a_disk_that_refuses_gets_nothing_signed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signer = opened(path)

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fdatasync", refuse)
    with pytest.raises(JournalError, match="No space"):
        signer.sign(asked(ledger(2), 0))
    monkeypatch.undo()
    assert signer.state.size == 0
    assert parse_note(signer.sign(asked(ledger(2), 0))).size == 2
