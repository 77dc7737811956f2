"""A store that is not there: who knows of it, and what is said then."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tallystick.errors import NotFoundError
from tallystick.journal.home import Home, is_store
from tallystick.model.verdict import Verdict
from tallystick.recording.store_identity import read_store
from tallystick.seal.keys import SigningKey, did_key
from tallystick.signer.pins import Pin, write_pin
from tallystick.trust.anchors import Target, anchor
from tallystick.trust.external_evidence import outlook
from tallystick.trust.missing_store import Memory, verdict_on_missing
from tallystick.trust.verify_named import verify
from tests.support.cases import each
from tests.support.sealed import record
from tools.redteam.remotes import bare

NOW = "2026-11-22T00:00:00.000000Z"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    record(home, 2)
    return home


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(kind="git", target=str(bare(tmp_path / "remote.git", is_guarded=True)))


def deleted(home: Home, *, folder: bool = True) -> str:
    """Take the store away, or all that is in its folder; its id."""
    store = read_store(home).store_id
    shutil.rmtree(home.folder)
    if not folder:
        home.folder.mkdir()
    return store


def said(verdict: Verdict) -> str:
    assert (verdict.exit_code, verdict.completeness) == (2, "missing")
    assert verdict.first_bad is not None
    return verdict.first_bad.why


@each("folder", [True, False])
def test_a_head_that_was_saved_says_that_there_was_a_store(tmp_path: Path, folder: bool) -> None:
    home = Home(tmp_path / f"store-{folder}")
    record(home, 2)
    head = home.note.read_bytes()
    store = deleted(home, folder=folder)
    assert not is_store(home.folder)
    assert f"ledger entries of store {store} was saved earlier" in said(verify(home=home.folder, remembered=head))
    assert "was saved earlier" in said(verify(home.folder, remembered=head))
    assert "was saved earlier" in said(verify("3f9a", home=home.folder, remembered=head))


def test_a_place_with_heads_says_of_which_stores_and_how_far_they_went(
    home: Home, target: Target, tmp_path: Path
) -> None:
    anchor(home, target, clock=lambda: NOW)
    other = Home(tmp_path / "other")
    record(other, 3)
    anchor(other, target, clock=lambda: NOW)
    store = deleted(home)
    why = [one.why for one in verify(home=home.folder, anchored=[target]).defects]
    assert len(why) == 2
    assert any(f"of store {store}: its ledger is gone" in one for one in why)
    own = Target(kind="git", target=target.target, ref=f"refs/heads/tallystick/{store}")
    assert f"of store {store}" in said(verify(home=home.folder, anchored=[own]))


def test_only_heads_by_the_key_that_counts_are_told(home: Home, target: Target) -> None:
    anchor(home, target, clock=lambda: NOW)
    head = home.note.read_bytes()
    deleted(home)
    another = did_key(SigningKey(b"\x07" * 32).public)
    why = said(verify(home=home.folder, anchored=[target], remembered=head, pinned=another))
    assert "has no head of this store, which was to be there" in why


def test_what_the_administrator_wrote_down_is_asked(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tallystick.signer.pins.check_guarded", lambda path: None)
    key = did_key(SigningKey(b"\x07" * 32).public)
    pin = Pin(
        store=read_store(home).store_id, key=key, socket="/run/s", signer=1, owner=2, home=str(home.folder.absolute())
    )
    write_pin(pin, tmp_path / "etc")
    deleted(home)
    found = verdict_on_missing(home, Memory(around=outlook(home, pins=tmp_path / "etc")))
    assert found is not None
    assert f"the ledger of store {pin.store} was in this folder" in said(found)


def test_where_no_one_knows_of_a_store_there_is_none(home: Home, tmp_path: Path) -> None:
    deleted(home)
    for remembered in (None, b"no head"):
        with pytest.raises(NotFoundError, match="no store"):
            verify(home=home.folder, remembered=remembered)
    with pytest.raises(NotFoundError, match="no store"):
        verify(home=home.folder, anchored=[Target(kind="git", target=str(tmp_path / "nowhere.git"))])
    with pytest.raises(NotFoundError, match="no store"):
        verify(home=home.folder, anchored=[Target(kind="nats", target="nats://127.0.0.1:1")])
