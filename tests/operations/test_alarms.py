from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.model.step import Step
from tallystick.operations.alarms import Alarms, find_alarms, kept_alarms
from tallystick.operations.anchors import Target, anchor
from tallystick.operations.outlook import outlook
from tallystick.operations.scribe import Scribe

NOW = "2026-11-22T00:00:00.000000Z"


def record(home: Home, count: int) -> None:
    with Scribe(home) as scribe:
        for n in range(count):
            scribe.add("demo", Step(session=f"s{n}", type="user", values={"content.text": "x"}))
            scribe.seal()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "store")
    record(home, 2)
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    for name in ("receive.denyNonFastForwards", "receive.denyDeletes"):
        subprocess.run(["git", "-C", str(remote), "config", name, "true"], check=True)
    anchor(home, Target(kind="git", target=str(remote)), clock=lambda: NOW)
    return home


def test_a_store_that_is_well_has_none(home: Home) -> None:
    assert Alarms(home).new(at=NOW, with_anchors=True) == []
    assert kept_alarms(home) == []


def test_a_ledger_that_contradicts_what_is_remembered_is_one_and_is_said_once(home: Home) -> None:
    home.ledger.write_bytes(b"".join(home.ledger.read_bytes().splitlines(keepends=True)[:2]))
    around = outlook(home, with_anchors=True)
    assert around.heads == ()  # a ledger cut that far names no anchor any more
    record_again = Alarms(home)
    from tallystick.model.verdict import Level
    from tallystick.seal.ledgercheck import KnownHead

    cut = around.__class__(heads=(KnownHead(who="a friend", size=9, root=b"\x00" * 32, level=Level.A4),))
    assert find_alarms(home, cut) == ("a friend remembers 9 ledger entries, and there are fewer",)
    other = around.__class__(heads=(KnownHead(who="a friend", size=1, root=b"\x00" * 32, level=Level.A4),))
    assert find_alarms(home, other) == ("a friend remembers another root over the first 1 ledger entries",)
    assert record_again.new(at=NOW) == []


def test_evidence_of_each_is_kept(home: Home) -> None:
    remote = next(path for path in home.folder.parent.iterdir() if path.name == "remote.git")
    ref = next(
        path for path in (remote / "refs" / "heads" / "tallystick").iterdir() if not path.name.endswith("-probe")
    )
    ref.unlink()
    alarms = Alarms(home)
    (alarm,) = alarms.new(at=NOW, with_anchors=True)
    assert "went missing" in alarm
    assert alarms.new(at=NOW, with_anchors=True) == []
    assert kept_alarms(home) == [(NOW, alarm)]
    (folder,) = (home.folder / "trust" / "evidence").iterdir()  # of the one alarm
    assert (folder / "ledger.jsonl").read_bytes() == home.ledger.read_bytes()
