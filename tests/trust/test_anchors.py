from __future__ import annotations

import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from tallystick.errors import NotFoundError, UsageError
from tallystick.journal.home import Home
from tallystick.model.verdict import Level
from tallystick.seal.keys import SigningKey
from tallystick.seal.note import parse_note, sign_note
from tallystick.trust.anchor_answers import ask
from tallystick.trust.anchors import Target, anchor, find_target, is_due, keys_of, stop, targets, too_old
from tallystick.trust.verify import StoreEvidence, verify_store
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


def test_an_anchored_store_is_held_against_what_was_kept(home: Home, target: Target) -> None:
    anchor(home, target, clock=lambda: NOW)
    record(home, 3)
    anchor(home, target, clock=lambda: NOW)
    (answer,) = ask(home, keys_of(home))
    verdict = verify_store(home, evidence=StoreEvidence(known=answer.heads))
    assert verdict.exit_code == 0
    assert "anchored off this machine" in verdict.why_not_higher
    assert [head.level for head in answer.heads] == [Level.A4] * 2


def test_the_ledger_says_where_a_store_is_anchored(home: Home, target: Target) -> None:
    anchor(home, target, clock=lambda: NOW)
    (found,) = targets(home)
    assert (found.target, found.count, found.guarded) == (target.target, 1, True)
    assert find_target(home, "git", None) == found
    stop(home, found)
    assert targets(home) == ()
    with pytest.raises(NotFoundError):
        find_target(home, "git", None)


def test_a_server_that_lets_heads_go_is_used_and_does_not_count(home: Home, tmp_path: Path) -> None:
    loose = Target(kind="git", target=str(bare(tmp_path / "loose.git", is_guarded=False)))
    assert anchor(home, loose, clock=lambda: NOW).guarded is False
    (answer,) = ask(home, keys_of(home))
    assert [head.level for head in answer.heads] == [Level.A2]
    assert "does not count" in answer.notes[0]


def test_an_anchor_that_went_missing_is_an_alarm(home: Home, target: Target) -> None:
    anchor(home, target, clock=lambda: NOW)
    ref = f"refs/heads/tallystick/{parse_note(home.note.read_bytes()).store_id}"
    subprocess.run(["git", "-C", target.target, "update-ref", "-d", ref], check=True)
    (answer,) = ask(home, keys_of(home))
    assert "went missing" in answer.alarms[0]


def test_a_place_that_does_not_answer_is_a_problem_and_no_alarm(home: Home, target: Target) -> None:
    anchor(home, target, clock=lambda: NOW)
    Path(target.target).rename(Path(target.target).with_name("gone"))
    (answer,) = ask(home, keys_of(home))
    assert answer.problem is not None
    assert answer.alarms == ()


def test_a_head_by_a_key_that_does_not_count_is_an_alarm(home: Home, target: Target) -> None:
    anchor(home, target, clock=lambda: NOW)
    note = parse_note(home.note.read_bytes())
    from tallystick.trust.anchors import place_of

    place_of(home, target).put(sign_note(note.store_id, note.size + 5, b"\x01" * 32, [SigningKey(b"\x02" * 32)]))
    (answer,) = ask(home, keys_of(home))
    assert "key that does not count" in answer.alarms[0]


def test_a_head_is_due_when_time_has_passed_and_more_than_anchors_came(home: Home, target: Target) -> None:
    found = anchor(home, target, clock=lambda: NOW)
    (kept,) = targets(home)
    later = 4_000_000_000.0
    assert not is_due(home, kept, now=later, every_seconds=60)
    record(home, 5)
    assert is_due(home, kept, now=later, every_seconds=60)
    then = datetime.fromisoformat(str(kept.at)).timestamp()
    assert not is_due(home, kept, now=then + 1, every_seconds=60)
    assert is_due(home, kept, now=0.0, every_seconds=60)  # an anchoring that is yet to come is no reason to wait
    assert found.size == kept.size


def test_a_place_without_a_new_head_is_too_old_after_some_hours_if_the_ledger_has_grown(
    home: Home, target: Target
) -> None:
    anchor(home, target, clock=lambda: NOW)
    later = 4_000_000_000.0
    assert too_old(home, targets(home), now=later, most_hours=168) == ()
    record(home, 5)
    (said,) = too_old(home, targets(home), now=later, most_hours=168)
    assert said.startswith(f"{target.name} has got no head since 20")
    assert too_old(home, targets(home), now=later, most_hours=10**7) == ()


def test_a_kind_that_there_is_not_is_refused(home: Home) -> None:
    with pytest.raises(UsageError, match="unknown kind"):
        anchor(home, Target(kind="floppy", target="x"), clock=lambda: NOW)
    assert targets(home) == ()
