"""What an answer of a place is worth."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.model.verdict import Level
from tallystick.recording.store_identity import read_store
from tallystick.trust.anchor_answers import Answer, ask
from tallystick.trust.anchors import Target, anchor, keys_of, place_of
from tests.support.sealed import record
from tools.redteam.remotes import bare, push

NOW = "2026-11-22T00:00:00.000000Z"
YEAR_2100 = 4_102_444_800


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    record(home, 2)
    return home


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return bare(tmp_path / "remote.git", is_guarded=True)


def asked(home: Home, now: float | None = None) -> Answer:
    (answer,) = ask(home, keys_of(home), now=now)
    return answer


def ref(home: Home) -> str:
    return f"refs/heads/tallystick/{read_store(home).store_id}"


def test_an_old_head_that_is_put_there_again_is_no_newer(home: Home, remote: Path) -> None:
    """Whoever may push could else make an anchor look fresh for ever."""
    old = home.note.read_bytes()
    anchor(home, Target(kind="git", target=str(remote)), clock=lambda: NOW)
    record(home, 3)
    anchor(home, Target(kind="git", target=str(remote)), clock=lambda: NOW)
    before = asked(home)
    newest = home.folder.joinpath("trust", "heads", f"{before.heads[-1].size}.note").read_bytes()
    for again in (old, newest):
        push(remote, ref(home), again, at=f"{YEAR_2100} +0000")
    after = asked(home)
    assert len(after.heads) == len(before.heads) + 2
    assert (after.newest_at, after.alarms) == (before.newest_at, ())


def test_a_date_that_is_still_to_come_is_not_believed(home: Home, remote: Path) -> None:
    anchor(home, Target(kind="git", target=str(remote)), clock=lambda: NOW)
    push(remote, ref(home), home.note.read_bytes(), at=f"{YEAR_2100} +0000")
    assert str(asked(home).newest_at).startswith("2100")
    answer = asked(home, now=datetime.now().timestamp())
    assert answer.newest_at is None
    assert "still to come" in answer.notes[0]


def test_each_head_that_a_place_was_given_has_to_be_there(home: Home, remote: Path) -> None:
    target = Target(kind="git", target=str(remote))
    anchor(home, target, clock=lambda: NOW)
    shutil.rmtree(remote)
    bare(remote, is_guarded=True)
    for count in (3, 4):
        record(home, count)
        anchor(home, target, clock=lambda: NOW)
    (alarm,) = asked(home).alarms  # the same one, however many heads come after
    assert "does not have it: an anchor went missing" in alarm


def test_another_ref_of_one_repository_is_another_place(home: Home, remote: Path) -> None:
    for name in ("refs/heads/a", "refs/heads/b"):
        anchor(home, Target(kind="git", target=str(remote), ref=name), clock=lambda: NOW)
    answers = ask(home, keys_of(home), further=(Target(kind="git", target=str(remote)),))
    assert [(answer.target.ref, len(answer.heads), answer.alarms) for answer in answers] == [
        ("refs/heads/a", 1, ()),
        ("refs/heads/b", 1, ()),
    ]


def test_a_place_that_somebody_knows_of_is_asked_though_the_ledger_does_not_name_it(home: Home, remote: Path) -> None:
    elsewhere = Target(kind="git", target=str(remote))
    (answer,) = ask(home, keys_of(home), further=(elsewhere,))
    assert "which was to be there" in answer.alarms[0]
    place_of(home, elsewhere).put(home.note.read_bytes())
    (answer,) = ask(home, keys_of(home), further=(elsewhere,))
    assert ([head.level for head in answer.heads], answer.alarms) == ([Level.A4], ())
    anchor(home, elsewhere, clock=lambda: NOW)
    assert len(ask(home, keys_of(home), further=(elsewhere,))) == 1  # named twice, asked once
