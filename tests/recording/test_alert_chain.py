"""Alerts from decisions, each sealed after the one before it."""

from __future__ import annotations

import pytest

from tallystick.graph.alerts import AlertFilter
from tallystick.graph.graph import remove_graph
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.recording.alert_chain import AlertChain, known_head, milliseconds_of, noted_heads
from tallystick.recording.session_writer import SessionWriter
from tallystick.seal.alert_chain import GENESIS
from tallystick.trust.alerts import read_alerts
from tallystick.trust.verify import verify_store
from tallystick.trust.verify_log import verify_log
from tallystick.workspace.indexing import open_index
from tests.support.alerting import bring_alerts_up_to_date, rebuild_with_alerts, refuse, store_with, table
from tests.support.shown import shown


def test_a_refused_call_gives_a_sealed_step_and_a_row(home: Home) -> None:
    store_with(home, [1])
    (sid,) = [sid for sid, _ in home.sessions()]
    step = next(step for step in read_session(home, sid) if step.type == "alert")
    with open_index(home) as index:
        (entry,) = read_alerts(index, AlertFilter())
        row = index.graph.row(
            "SELECT s.n, r.original_user_prompt FROM alerts a JOIN agent_events e ON e.event_id = a.entity_id"
            " JOIN steps s ON s.id = e.event_id JOIN requests r ON r.request_id = a.request_id"
        )
    assert (entry.session, entry.n, entry.action, entry.severity) == (sid, step.n, "block", "high")
    assert (entry.rule, entry.message, entry.path) == ("tally.store", "No.", "/home/dev/.tally/ledger.jsonl")
    assert row == (step.meta["parent"], "Do it.")
    assert entry.prev_hash == GENESIS
    assert entry.entry_hash == shown(step.values["content.chain"])["entry_hash"]


def test_the_store_with_alerts_verifies(home: Home) -> None:
    store_with(home, range(3))
    assert verify_store(home).exit_code == 0


def test_the_next_recorder_goes_on_where_the_last_one_ended(home: Home) -> None:
    store_with(home, [1])
    head = known_head(home)
    assert head != GENESIS
    store_with(home, [2])
    with open_index(home) as index:
        newest, oldest = read_alerts(index, AlertFilter())
    assert (oldest.entry_hash, newest.prev_hash) == (head, head)


def test_where_the_chain_ends_is_known_without_an_index(home: Home) -> None:
    """Someone waits for an answer while an alert is sealed: no journal is read, and nothing is indexed."""
    store_with(home, [1, 2])
    head = known_head(home)
    remove_graph(home.graph)
    for _, journal in home.sessions():
        journal.rename(journal.with_suffix(".away"))
    assert known_head(home) == head
    assert not home.graph.exists()


def test_an_index_that_knows_less_than_the_ledger_is_not_believed(home: Home) -> None:
    store_with(home, [1])
    bring_alerts_up_to_date(home)
    before = known_head(home)
    store_with(home, [2])
    (newest,) = noted_heads(home)[-1:]
    assert known_head(home) == newest.hash != before


def test_an_alert_that_is_told_again_is_sealed_once(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        chain = AlertChain(session_writer)
        assert refuse(session_writer, chain, 1) is not None
        head = chain.head
        assert refuse(session_writer, chain, 1) is None
        assert chain.head == head
    assert bring_alerts_up_to_date(home) == 1


def test_two_recorders_that_sealed_after_the_same_alert_are_no_tampering(home: Home) -> None:
    with SessionWriter(home) as one:
        refuse(one, AlertChain(one), 1, session="one")
    with SessionWriter(home) as two:
        rival = AlertChain(two)  # it does not know of the first
        refuse(two, rival, 2, session="two")
    bring_alerts_up_to_date(home)
    verdict = verify_log(home)
    assert verdict.is_intact
    assert verdict.compared is not None
    assert len(verdict.compared.moved) == 1
    before = table(home)
    rebuild_with_alerts(home)
    assert table(home) == before


def test_words_that_secrets_were_taken_from_are_hashed_as_they_are_sealed(home: Home) -> None:
    key = "AKIA" + "QX7NZ2LMPD4RTK3W"
    secret = "ghp_" + "9fKq2LmZx7Rt4Vb8Nc1Yd6Wp3Hs5Jg0TuEaB"
    with SessionWriter(home) as session_writer:
        refuse(
            session_writer, AlertChain(session_writer), 1, text=f"It would send {secret} away.", path=f"/tmp/{key}/x"
        )
    bring_alerts_up_to_date(home)
    assert secret not in repr(table(home))
    verdict = verify_log(home)
    assert verdict.is_intact
    assert verdict.compared is not None
    assert verdict.compared.moved == ()


@pytest.mark.parametrize("hostile", ["\x1b]0;x\x07", "a\0b", "\ud800", "\x10tally:nan", "x" * 10_000_000, "<redacted>"])
def test_hostile_words_are_sealed_hashed_and_kept_alike(home: Home, hostile: str) -> None:
    with SessionWriter(home) as session_writer:
        refuse(session_writer, AlertChain(session_writer), 1, text=hostile)
    bring_alerts_up_to_date(home)
    verdict = verify_log(home)
    assert verdict.is_intact
    assert verdict.compared is not None
    assert verdict.compared.moved == ()


def test_the_first_time_that_says_one_counts() -> None:
    assert milliseconds_of(None, "soon", "2026-01-02T03:04:05.006Z", "2027-01-01T00:00:00Z") == 1_767_323_045_006
    assert milliseconds_of("1970-01-01T00:00:01") == 1000
    assert milliseconds_of(None, "\x1b[31m") == 0


def test_the_ledger_notes_where_the_chain_ends(home: Home) -> None:
    store_with(home, [1, 2])
    store_with(home, [3])
    (sid,) = [sid for sid, _ in home.sessions()]
    steps = [step for step in read_session(home, sid) if step.type == "alert"]
    assert [(head.session, head.n, head.hash) for head in noted_heads(home)] == [
        (sid, step.n, shown(step.values["content.chain"])["entry_hash"]) for step in steps[1:]
    ]
    assert verify_store(home).exit_code == 0


def test_an_index_that_lags_is_brought_up_to_date_before_the_next_alert(home: Home) -> None:
    bring_alerts_up_to_date(home)
    with SessionWriter(home) as session_writer:
        chain = AlertChain(session_writer)
        for number in (1, 2):
            refuse(session_writer, chain, number, session=f"s{number}")
    assert known_head(home) == chain.head  # nothing was projected in between


def test_without_an_index_the_ledger_knows_the_head(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        chain = AlertChain(session_writer)
        refuse(session_writer, chain, 1)
    home.graph.unlink(missing_ok=True)
    home.graph.mkdir()
    assert known_head(home) == chain.head


def test_a_store_without_alerts_begins_at_the_beginning(home: Home) -> None:
    assert known_head(home) == GENESIS
