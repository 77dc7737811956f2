from __future__ import annotations

import pytest

from tallystick.capture import watch_storm
from tallystick.capture.watch_effects import Paired
from tallystick.capture.watch_storm import MOST_EFFECTS, Storm
from tallystick.model.effect import EffectKind


def made(*paths: str) -> list[Paired]:
    return [Paired(kind=EffectKind.CREATE, path=path) for path in paths]


def test_a_batch_is_told_up_to_a_limit() -> None:
    assert not Storm().is_one(MOST_EFFECTS, 0.0)
    assert Storm().is_one(MOST_EFFECTS + 1, 0.0)


def test_many_batches_within_a_minute_are_a_storm_too() -> None:
    storm = Storm()
    assert [storm.is_one(MOST_EFFECTS, at) for at in (0.0, 1.0, 2.0, 3.0, 4.0)] == [False] * 4 + [True]
    assert not storm.is_one(0, 5.0)
    assert not storm.is_one(MOST_EFFECTS, 60.0)


def test_counts_are_gathered_for_a_while_and_told_once() -> None:
    storm = Storm()
    assert storm.told(0.0, at_once=True) == []
    assert storm.is_one(MOST_EFFECTS + 1, 0.0)
    storm.count(made("/w/a/1", "/w/a/2", "/top"))
    assert storm.told(0.5) == []
    storm.count([Paired(kind=EffectKind.DELETE, path="/w/b/1")])
    assert storm.due == 1.0
    (gap,) = storm.told(1.0)
    assert (gap.reason, gap.events, gap.kinds) == ("too-many-effects", 4, {"create": 3, "delete": 1})
    assert gap.folders == {"/w/a": 2, "/": 1, "/w/b": 1}
    assert storm.told(9.0, at_once=True) == []


def test_what_is_counted_is_told_at_once_in_the_end() -> None:
    storm = Storm()
    storm.is_one(MOST_EFFECTS + 1, 0.0)
    storm.count(made("/w/a"))
    assert [gap.events for gap in storm.told(0.0, at_once=True)] == [1]


def test_however_many_folders_there_are_only_the_fullest_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_storm, "_MOST_FOLDERS_TOLD", 2)
    monkeypatch.setattr(watch_storm, "_MOST_FOLDERS_COUNTED", 3)
    storm = Storm()
    storm.is_one(MOST_EFFECTS + 1, 0.0)
    storm.count(made("/a/1", "/b/1", "/b/2", "/c/1", "/c/2", "/d/1", "/d/2", "/d/3"))
    (gap,) = storm.told(0.0, at_once=True)
    assert (gap.events, gap.folders) == (8, {"/b": 2, "/c": 2})
