from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.model.verdict import Level, Require
from tallystick.seal.ledgercheck import KnownHead
from tallystick.trust.anchors import Target, anchor, targets
from tallystick.trust.external_evidence import ExternalEvidence, outlook
from tallystick.trust.tamper_signals import Alarms, By, find_alarms, keep_evidence, kept_alarms, open_alarms
from tallystick.trust.verify_named import verify
from tests.support.sealed import record
from tools.redteam.remotes import bare

NOW = "2026-11-22T00:00:00.000000Z"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    record(home, 2)
    remote = bare(tmp_path / "remote.git", is_guarded=True)
    anchor(home, Target(kind="git", target=str(remote)), clock=lambda: NOW)
    return home


def test_a_store_that_is_well_has_none(home: Home) -> None:
    assert Alarms(home).new(at=NOW, with_anchors=True) == []
    assert kept_alarms(home) == []


def test_a_ledger_that_contradicts_what_is_remembered_is_one_for_each_who_remembers(home: Home) -> None:
    heads = tuple(
        KnownHead(who=who, size=size, root=b"\x00" * 32, level=Level.A4) for who in ("a", "b") for size in (1, 2, 90)
    )
    found = find_alarms(home, ExternalEvidence(heads=heads))
    assert list(found) == [f"{who} remembers another root over the first 1 ledger entries" for who in ("a", "b")]
    assert set(found.values()) == {By.PLACES}
    more = ExternalEvidence(heads=(KnownHead(who="the signer", size=90, root=b"\x00" * 32, level=Level.A3),))
    assert find_alarms(home, more) == {"the signer remembers 90 ledger entries, and there are fewer": By.LOOK}


def lose_the_anchor(home: Home) -> None:
    (ref,) = (home.folder.parent / "remote.git" / "refs" / "heads" / "tallystick").glob("[0-9a-f]" * 32)
    ref.unlink()


def test_evidence_of_each_is_kept_and_it_is_said_once(home: Home) -> None:
    lose_the_anchor(home)
    alarms = Alarms(home)
    (alarm,) = alarms.new(at=NOW, with_anchors=True)
    assert "went missing" in alarm
    assert alarms.new(at=NOW, with_anchors=True) == []
    (kept,) = kept_alarms(home)
    assert (kept.alarm, kept.found, kept.by, kept.told, kept.over) == (alarm, NOW, By.PLACES, True, None)
    (folder,) = (home.folder / "trust" / "evidence").iterdir()  # of the one alarm
    assert (folder / "ledger.jsonl").read_bytes() == home.ledger.read_bytes()


def test_what_verification_found_is_kept_and_still_told_by_the_recorder(home: Home) -> None:
    lose_the_anchor(home)
    assert verify(home=home.folder, require=Require.A4).exit_code == 2
    (kept,) = kept_alarms(home)
    assert kept.told is False
    assert verify(home=home.folder).exit_code == 2  # no place is asked, and nobody has found that it is over
    assert Alarms(home).new(at=NOW) == [kept.alarm]
    assert Alarms(home).new(at=NOW, with_anchors=True) == []


def test_an_anchor_that_went_missing_is_not_made_good_by_the_next_head(home: Home) -> None:
    lose_the_anchor(home)
    (target,) = targets(home)
    record(home, 3)
    anchor(home, target, clock=lambda: NOW)
    assert verify(home=home.folder, require=Require.A4).exit_code == 2


def test_an_alarm_is_over_when_whoever_could_find_it_does_not(home: Home) -> None:
    remote = home.folder.parent / "remote.git"
    shutil.copytree(remote, remote.with_name("kept.git"))
    lose_the_anchor(home)
    alarms = Alarms(home)
    (alarm,) = alarms.new(at=NOW, with_anchors=True)
    shutil.rmtree(remote)
    assert alarms.new(at=NOW, with_anchors=True) == []  # who does not answer does not say that it is over
    assert open_alarms(home, outlook(home)) == (alarm,)
    remote.with_name("kept.git").rename(remote)
    assert alarms.new(at=NOW) == []
    assert open_alarms(home, outlook(home)) == (alarm,)
    assert alarms.new(at="later", with_anchors=True) == []
    assert [kept.over for kept in kept_alarms(home)] == ["later"]
    assert open_alarms(home, outlook(home)) == ()
    assert verify(home=home.folder).exit_code == 0
    lose_the_anchor(home)
    assert alarms.new(at="again", with_anchors=True) == [alarm]


def test_what_happened_to_the_recorder_is_open_until_it_is_over(home: Home) -> None:
    alarms = Alarms(home)
    assert alarms.new(at=NOW, further=("the signer refuses",)) == ["the signer refuses"]
    assert alarms.new(at=NOW, further=("the signer refuses",)) == []
    assert open_alarms(home, outlook(home)) == ("the signer refuses",)
    assert verify(home=home.folder).exit_code == 2
    assert alarms.new(at=NOW) == []
    assert verify(home=home.folder).exit_code == 0


@pytest.mark.parametrize("text", ["", "[]", '{"alarm": 7}', '{"found": "x"}', "{" * 90_000])
def test_what_is_no_evidence_is_passed_over(home: Home, text: str) -> None:
    folder = home.folder / "trust" / "evidence" / "x"
    folder.mkdir(parents=True)
    (folder / "alarm.json").write_text(text)
    assert kept_alarms(home) == []
    (folder / "alarm.json").unlink()
    os.mkfifo(folder / "alarm.json")
    assert kept_alarms(home) == []


def test_of_many_alarms_the_ledger_is_not_copied_each_time(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.trust.tamper_signals._MOST_COPIES", 2)
    Alarms(home).new(at=NOW, further=[f"alarm {n}" for n in range(4)])
    assert len(kept_alarms(home)) == 4
    assert len(list((home.folder / "trust" / "evidence").glob("*/ledger.jsonl"))) == 2


def test_evidence_is_kept_with_the_rights_of_the_stores_owner(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: mine + 1)
    around = ExternalEvidence(alarms=("something",))
    keep_evidence(home, around, at=NOW)
    assert kept_alarms(home) == []
    monkeypatch.undo()
    keep_evidence(home, around, at=NOW)
    assert [kept.alarm for kept in kept_alarms(home)] == ["something"]
