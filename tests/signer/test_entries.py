"""What a signer asks of entries before it signs them: nobody can have it sign what damages the ledger for ever."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import msgspec
import pytest

from tallystick.model.step import Json
from tallystick.seal.extension import Code, RefusedError, Request
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.ledgercheck import check_ledger
from tallystick.seal.line import Slot, parse_line, seal_line
from tallystick.seal.note import parse_note, sign_note
from tallystick.signer.epochs import epochs_path, make_epochs
from tallystick.signer.vault import Vault, make_vault
from tests.support.cases import each
from tests.support.shown_entries import STORE, STORE_KEY, asked, grown, head, ledger, more, root

SECRET = bytes(range(32))
KEY = SigningKey(SECRET)
OTHER = SigningKey(b"\x23" * 32)
START = "2026-01-01T00:00:00.000000Z"
Shown = dict[str, Json]


def add(key: SigningKey) -> Shown:
    return {"type": "key_add", "key": did_key(key.public)}


def retire(key: SigningKey) -> Shown:
    return {"type": "key_retire", "key": did_key(key.public)}


GUARDED = grown(ledger(3), add(KEY), retire(STORE_KEY))
"""The ledger of a store that has this signer."""


class Lines:
    """The lines of a ledger, to be checked."""

    torn = 0

    def __init__(self, lines: tuple[bytes, ...]) -> None:
        self._lines = lines

    def __iter__(self) -> itertools.chain[bytes]:
        return itertools.chain(self._lines)


@pytest.fixture
def signer(tmp_path: Path) -> Vault:
    make_vault(tmp_path / "log", STORE, SECRET, (os.getuid(),))
    ticks = itertools.count()
    signer = Vault(tmp_path / "log", lambda: f"2026-01-01T00:00:{next(ticks):02}.000000Z")
    signer.sign(asked(GUARDED, 0))
    return signer


def refused(signer: Vault, request: Request) -> str:
    with pytest.raises(RefusedError) as error:
        signer.sign(request)
    assert error.value.code is Code.UNFIT
    return str(error.value)


def test_random_leaves_move_nothing_and_the_honest_entries_are_signed_after_them(signer: Vault) -> None:
    before = signer.state
    leaf = os.urandom(32)
    tree = signer.entries.tree.copy()
    tree.append(leaf)
    with pytest.raises(RefusedError) as error:
        signer.sign(Request(store_id=STORE, old_size=5, size=6, root=tree.root(), leaves=(leaf,)))
    assert (error.value.code, signer.state) == (Code.OUTDATED, before)
    honest = grown(GUARDED, head(9))
    note = signer.sign(asked(honest, 5))
    assert parse_note(note).root == root(honest)
    assert check_ledger(Lines(honest), note).defects == ()


@each(
    "line",
    [
        b"{}",
        b"",
        b"\xff" * 40,
        b'{"entry":{}}',
        GUARDED[-1],
        ledger(6)[-1],
        grown(ledger(5, store="cd" * 16), head(1), store="cd" * 16)[-1],
        more(GUARDED, head(9)).line[:-1].replace(b'"size":9', b'"size":8'),
        more(GUARDED, head(9)).line[:-1].replace(b'"n":5', b'"n":5.0'),
        more(GUARDED, head(9)).line[:-1] + b" ",
        b"[" * 900_000,
        more(GUARDED, head(9)).line.partition(b',"fields"')[0] + b"}",
    ],
)
def test_what_is_no_entry_that_follows_is_refused(signer: Vault, line: bytes) -> None:
    before = signer.state
    request = Request(store_id=STORE, old_size=5, size=6, root=b"\x01" * 32, entries=(line,))
    assert "entry 5 is not one" in refused(signer, request)
    assert signer.state == before


@each(
    "meta, why",
    [
        ({"type": "store_start", "key": did_key(OTHER.public)}, "store_start"),
        ({"type": "session_end"}, "knows no session_end"),
        ({"type": "thunderstorm"}, "knows no thunderstorm"),
        (head(1), "smaller"),
        ({"type": "session_head", "session": "x", "size": 3, "root": "0" * 64}, "session_head has no session"),
        (retire(KEY), "ends a key of the signer"),
        ({"type": "erasure", "session": "5e" * 16, "n": 1, "entry": "1" * 64, "names": ["what"]}, "names"),
    ],
)
def test_what_would_damage_the_ledger_is_refused(signer: Vault, meta: Shown, why: str) -> None:
    assert why in refused(signer, asked(grown(GUARDED, meta), 5))
    assert why in refused(signer, asked(grown(GUARDED, head(7), meta, head(9)), 5))
    assert (signer.state.size, signer.entries.size, signer.kept.size) == (5, 5, 5)


def test_a_seed_is_used_once(signer: Vault) -> None:
    first = grown(GUARDED, head(9))
    other = more(first, head(9))
    same = parse_line(first[-1]).seed
    assert same is not None
    prev = more(GUARDED, head(9)).hash
    line = seal_line(Slot(STORE, 6, prev), seed=bytes.fromhex(same), values={"meta": {**head(9), "recorded": START}})
    assert line.n == other.n
    assert "seed" in refused(signer, asked((*first, line.line[:-1]), 5))
    signer.sign(asked(first, 5))
    assert "seed" in refused(signer, asked((*first, line.line[:-1]), 6))


def test_an_entry_that_refers_to_what_the_signer_does_not_have_is_refused(signer: Vault) -> None:
    long = more(GUARDED, {"type": "anchor"}, target="x" * 70_000)
    assert long.blobs
    assert "does not have" in refused(signer, asked((*GUARDED, long.line[:-1]), 5))


def test_what_was_in_the_ledger_before_its_signer_is_taken_as_it_is(tmp_path: Path) -> None:
    make_vault(tmp_path / "log", STORE, SECRET, ())
    signer = Vault(tmp_path / "log", lambda: START)
    long = more(ledger(3), {"type": "anchor"}, target="x" * 70_000).line[:-1]
    past = grown((*ledger(3), long), {"type": "thunderstorm"}, add(KEY))
    assert parse_note(signer.sign(asked(past, 0))).size == len(past)
    assert "thunderstorm" in refused(signer, asked(grown(past, {"type": "thunderstorm"}), len(past)))


def test_the_signers_key_ends_only_for_one_who_shows_that_another_key_goes_on(signer: Vault) -> None:
    added = grown(GUARDED, add(OTHER))
    signer.sign(asked(added, 5))
    left = grown(added, retire(KEY), head(9))
    assert "no other key" in refused(signer, asked(left, 6))
    assert "no other key" in refused(signer, asked(left, 6, sign_note(STORE, 6, root(added), [OTHER])))
    assert "no other key" in refused(
        signer, asked(left, 6, sign_note(STORE, 8, root(left), [SigningKey(b"\x61" * 32)]))
    )
    again = grown(left, add(KEY))
    shown = sign_note(STORE, len(again), root(again), [OTHER])
    assert parse_note(signer.sign(asked(again, 6, shown))).size == len(again)


def test_nobody_fills_the_ledger_with_keys_until_an_epoch_cannot_end(signer: Vault) -> None:
    keys = [add(SigningKey(bytes([n]) * 32)) for n in range(1, 8)]
    assert "too many keys" in refused(signer, asked(grown(GUARDED, *keys), 5))
    assert parse_note(signer.sign(asked(grown(GUARDED, add(OTHER), retire(OTHER)), 5))).size == 7


def test_an_epochs_end_is_taken_once_as_the_signer_said_it_and_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "log"
    make_vault(path, STORE, SECRET, ())
    make_epochs(epochs_path(path), store=STORE, key=did_key(KEY.public), seconds=3_600, at=START)
    hours = [0]
    signer = Vault(path, lambda: f"2026-01-01T{hours[0]:02}:00:00.000000Z")
    signer.sign(asked(GUARDED, 0))
    for hour in (1, 2):
        hours[0] = hour
        signer.end_if_over()
    assert signer.epochs is not None
    first, second = ({"type": "key_add", **msgspec.to_builtins(end)} for end in signer.epochs.after(""))
    for wrong in ((second,), (first, first), ({**first, "seconds": 60},), (retire(KEY),)):
        assert refused(signer, asked(grown(GUARDED, *wrong), 5))
    true = grown(GUARDED, first, retire(KEY), second, {"type": "key_retire", "key": first["key"]}, head(9))
    note = signer.sign(asked(true, 5))
    assert check_ledger(Lines(true), note).defects == ()
    signer.close()
    again = Vault(path, lambda: f"2026-01-01T{hours[0]:02}:00:00.000000Z")
    assert refused(again, asked(grown(true, second), len(true)))
    assert parse_note(again.sign(asked(grown(true, head(9)), len(true)))).size == len(true) + 1
