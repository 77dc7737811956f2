"""Finding alerts, and what people say of them."""

from __future__ import annotations

import msgspec
import pytest

from tallystick.errors import NotFoundError
from tallystick.graph.alerts import AlertFilter
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.recording.alert_chain import AlertChain
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.alerts import find_alert, read_alerts, review_alert, tell_alert
from tallystick.workspace.indexing import open_index
from tests.support.alerting import bring_alerts_up_to_date, refuse, store_with


def test_alerts_are_filtered(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        chain = AlertChain(session_writer)
        for number, effect in enumerate(("warn", "ask", "deny")):
            refuse(session_writer, chain, number, effect=effect, session=f"session {number}")
    bring_alerts_up_to_date(home)
    with open_index(home) as index:

        def found(**wanted: str) -> list[str]:
            return [entry.severity for entry in read_alerts(index, msgspec.convert(wanted, AlertFilter))]

        assert found() == ["high", "medium", "low"]
        assert found(severity="medium") == ["high", "medium"]
        assert found(session="session 1") == ["medium"]
        assert found(rule="tally.store") == ["high", "medium", "low"]
        assert found(rule="other") == []
        assert found(since="2026-01-02T03:04:05.002000Z") == ["high"]
        assert len(read_alerts(index, AlertFilter(limit=2))) == 2
        with pytest.raises(NotFoundError):
            found(session="nowhere")


def test_an_alert_is_told_with_its_step_and_what_led_to_the_call(home: Home) -> None:
    store_with(home, [1])
    with open_index(home) as index:
        told = tell_alert(home, index, "1", folder="/")
        assert told.shown is not None
        by_step = tell_alert(home, index, f"{told.alert.session}:{told.alert.n}", folder="/")
        with pytest.raises(NotFoundError, match="no alert 7"):
            find_alert(index, "7")
    assert by_step.alert == told.alert
    assert told.shown.defect is None
    assert told.lineage is not None
    assert any(known.title == "Do it." or "Do it." in known.title for known in told.lineage.answer.nodes)


# What people say ------------------------------------------------------------------------------------------------------


def test_what_people_say_is_sealed_and_kept_in_the_words_of_the_reference(home: Home) -> None:
    store_with(home, [1])
    with open_index(home) as index:
        entry = find_alert(index, "1")
    for at, (verdict, note) in enumerate((("acknowledged", None), ("false-positive", "a fixture"))):
        review_alert(home, entry, verdict, note, now_ms=1_767_400_000_000 + at)
    bring_alerts_up_to_date(home)
    with open_index(home) as index:
        told = tell_alert(home, index, "1", folder="/")
        rows = index.graph.rows(
            "SELECT human_verdict, label, gensee_action, rule_id, tool_use_id, note FROM human_feedback"
        )
    assert [(review.verdict, review.note) for review in told.reviews] == [
        ("acknowledged", None),
        ("false-positive", "a fixture"),
    ]
    assert told.alert.verdict == "false-positive"
    assert rows == [("allow", "false_positive", "block", "tally.store", "c1", "a fixture")]
    sid, n = told.reviews[1].session, told.reviews[1].n
    step = list(read_session(home, sid))[n]
    assert (step.type, step.meta["verdict"]) == ("feedback", "false-positive")
