"""The table of alerts, made again from the steps."""

from __future__ import annotations

from tallystick.graph.alerts import Seen
from tallystick.graph.graph import Graph, Mode
from tallystick.journal.home import Home
from tallystick.model.step import Step
from tallystick.recording.alert_chain import AlertChain
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.alerts import find_alert, review_alert
from tallystick.trust.erase import erase
from tallystick.trust.verify_log import verify_log
from tallystick.workspace.alert_table import take_alerts
from tallystick.workspace.indexing import bring_up_to_date, open_index
from tests.support.alerting import (
    AGENT,
    SESSION,
    bring_alerts_up_to_date,
    rebuild_with_alerts,
    refuse,
    store_with,
    table,
)


def test_a_rebuilt_index_has_the_same_alerts_hash_by_hash(home: Home) -> None:
    store_with(home, range(6), sessions=lambda number: f"session {number % 3}")
    store_with(home, range(6, 9), sessions=lambda number: f"session {number % 2}")
    before = table(home)
    assert len(before) == 10
    assert rebuild_with_alerts(home) == 9
    assert table(home) == before
    assert verify_log(home).is_intact


def test_feedback_is_the_same_after_a_rebuild(home: Home) -> None:
    store_with(home, [1])
    with open_index(home) as index:
        review_alert(home, find_alert(index, "1"), "confirmed", "yes", now_ms=1)
    bring_alerts_up_to_date(home)

    def feedback() -> list[tuple[object, ...]]:
        with Graph(home.graph) as graph:
            return graph.rows("SELECT * FROM human_feedback")

    before = feedback()
    rebuild_with_alerts(home)
    assert feedback() == before
    assert len(before) == 1


def test_words_that_are_erased_leave_the_table_and_the_chain_still_holds(home: Home) -> None:
    store_with(home, range(3))
    with open_index(home) as index:
        entry = find_alert(index, "2")
    assert entry.session is not None
    assert entry.n is not None
    erase(home, entry.session, entry.n, ["content.path", "content.evidence"], reason="asked")
    bring_alerts_up_to_date(home)
    with open_index(home) as index:
        after = find_alert(index, "2")
    assert (after.path, after.evidence, after.message) == (None, None, "No.")
    verdict = verify_log(home)
    assert verdict.is_intact
    assert verdict.compared is not None
    assert verdict.compared.erased == 1
    before = table(home)
    rebuild_with_alerts(home)
    assert table(home) == before


def test_what_an_agent_calls_an_alert_is_none(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        refuse(session_writer, AlertChain(session_writer), 1)
        session_writer.add(AGENT, Step(session=SESSION, type="alert", values={"content.text": "trust me"}))
        session_writer.add(AGENT, Step(session=SESSION, type="feedback", meta={"verdict": "confirmed"}))
    assert bring_alerts_up_to_date(home) == 1
    assert bring_alerts_up_to_date(home) == 1


def test_an_alert_of_a_session_that_was_read_first_waits_for_the_one_before_it(home: Home) -> None:
    bring_alerts_up_to_date(home)
    with SessionWriter(home) as session_writer:
        chain = AlertChain(session_writer)
        taken = [refuse(session_writer, chain, number, session=f"session {number}") for number in (1, 2)]
    assert taken[1] is not None
    with Graph(home.graph, Mode.WRITE) as graph:
        bring_up_to_date(home, graph, sessions=[taken[1].session])
        assert take_alerts(home, graph, seen=Seen.SOME) == 0
        assert take_alerts(home, graph, seen=Seen.SOME) == 0
    assert verify_log(home).is_intact
    assert bring_alerts_up_to_date(home) == 2
    verdict = verify_log(home)
    assert verdict.compared is not None
    assert (verdict.is_intact, verdict.compared.moved) == (True, ())
