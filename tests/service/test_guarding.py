"""Looking after a store: heads go out when they are due, each alarm is told once, and nothing raises."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.recording.store_identity import read_store
from tallystick.service.guarding import Clocks, Guarding
from tallystick.trust.anchors import Target, anchor, targets
from tests.support.sealed import record
from tools.redteam.remotes import bare

OLD = "2026-01-01T00:00:00.000000Z"


class Place:
    """A store, a place off this machine, and what is told of them."""

    def __init__(self, base: Path) -> None:
        self.home, self.remote = Home(base / "store"), base / "remote.git"
        self.told: list[str] = []
        record(self.home, 2)
        bare(self.remote, is_guarded=True)
        self.guarding = Guarding(self.home, self.told.append, clocks=Clocks(lambda: OLD, lambda: 4_000_000_000.0))

    def ref(self) -> Path:
        return self.remote / "refs" / "heads" / "tallystick" / read_store(self.home).store_id

    def count(self) -> int:
        (target,) = targets(self.home)
        return target.count


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    anchor(made.home, Target(kind="git", target=str(made.remote)), clock=lambda: OLD)
    return made


def test_a_new_head_goes_to_where_heads_are_kept(place: Place) -> None:
    record(place.home, 4)
    place.guarding.work()
    assert place.count() == 2
    assert (place.guarding._due > 0, place.told, place.guarding.problem) == (True, [], None)


def test_a_store_in_which_nothing_happened_is_not_anchored_again_and_again(place: Place) -> None:
    for _ in range(3):
        place.guarding.work()
    assert place.count() == 1


def test_a_place_that_is_away_is_a_problem_and_tried_again(place: Place) -> None:
    record(place.home, 4)
    away = place.remote.rename(place.remote.with_name("away"))
    place.guarding.work()
    assert place.guarding.problem
    away.rename(place.remote)
    place.guarding.work()
    assert (str(place.guarding.problem), place.count()) == ("None", 2)


def test_an_alarm_is_told_once(place: Place) -> None:
    record(place.home, 4)
    ledger = place.home.ledger.read_bytes()
    place.guarding.work()
    place.ref().unlink()
    record(place.home, 9)
    for _ in range(3):
        record(place.home, 2)
        place.guarding.work()
    assert len(place.told) == len(set(place.told))
    assert place.home.ledger.read_bytes().startswith(ledger)


def test_whatever_is_wrong_with_the_store_ends_nothing(place: Place) -> None:
    place.home.ledger.write_bytes(b"nonsense\n")
    place.guarding.work()
    place.home.ledger.unlink()
    place.guarding.work()


def test_without_a_place_nothing_leaves_the_machine(tmp_path: Path) -> None:
    made = Place(tmp_path)
    made.guarding.work()
    assert made.told == []
    assert not (made.remote / "refs" / "heads" / "tallystick").exists()


def test_a_place_that_has_got_no_head_for_long_is_an_alarm(place: Place) -> None:
    record(place.home, 4)
    place.remote.rename(place.remote.with_name("away"))
    place.guarding.work()
    assert [said for said in place.told if "has got no head since" in said]
    place.guarding.work()
    assert len(place.told) == len(set(place.told))


def test_a_signer_that_refuses_is_an_alarm(place: Place) -> None:
    guarding = Guarding(
        place.home, place.told.append, clocks=Clocks(lambda: OLD), refused=lambda: "the signer refuses: another root"
    )
    guarding.work()
    guarding.work()
    assert place.told == ["the signer refuses: another root"]
