"""Alerts of the recorder's own: what lasts is one alert, until it is over and comes again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.capture.receipts import Unrecorded
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.live.alerts import LiveAlerts
from tallystick.live.delivery import Counts
from tallystick.live.own_alerts import OwnAlerts
from tallystick.policy.alert import UNHEARD, UNHOOKED
from tallystick.recording.own_session import Gaps
from tallystick.recording.session_writer import SessionWriter


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[SessionWriter]:
    with SessionWriter(Home(tmp_path / "store")) as opened:
        yield opened


@pytest.fixture
def alerts(writer: SessionWriter) -> OwnAlerts:
    return OwnAlerts(writer, LiveAlerts(writer, None), Gaps(writer), Counts())


def recorded(writer: SessionWriter) -> list[str]:
    """Each alert and gap, as its rule or its reason."""
    steps = [step for sid, _ in writer.home.sessions() for step in read_session(writer.home, sid)]
    return [str(step.meta.get("rule") or step.meta["reason"]) for step in steps if step.type in ("alert", "gap")]


def test_what_lasts_is_reported_once_until_it_was_over(writer: SessionWriter, alerts: OwnAlerts) -> None:
    for _ in range(2):
        alerts.unhooked("codex", "gone")
        alerts.unheard("codex", "/f")
        alerts.stranger(7)
    assert recorded(writer) == [UNHOOKED, UNHEARD, "tally.tampering"]
    alerts.silences.over(UNHOOKED, "codex")
    alerts.unhooked("codex", "gone")
    assert recorded(writer)[3:] == [UNHOOKED]


def test_deliveries_that_are_in_no_record_are_a_gap_and_an_alert(writer: SessionWriter, alerts: OwnAlerts) -> None:
    alerts.unrecorded(Unrecorded({"7.1795293860746000000.r": "codex", "x": "codex"}))
    assert recorded(writer) == ["unrecorded", "tally.unrecorded"]
    assert [one.said for one in alerts.silences.show()] == ["2 deliveries of hooks are in no record"]
