"""Verifying the chain of alerts: every way to change the table, with and without care for its hashes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tallystick.errors import FormatError, NotFoundError
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.recording.alert_chain import AlertChain, known_head, noted_heads
from tallystick.recording.session_writer import SessionWriter
from tallystick.seal.alert_chain import (
    ANCHOR,
    EMPTY,
    GENESIS,
    MODIFIED,
    UNCHAINED,
    UNLINKED,
    Checkpoint,
    Finding,
    checkpoint_hash,
    entry_hash,
)
from tallystick.trust.verify_log import (
    GAP,
    MOVED,
    NO_HEAD,
    NO_ROW,
    NO_STEP,
    UNHELD,
    LogVerdict,
    note_broken_log,
    verify_database,
    verify_log,
)
from tests.support.alerting import bring_alerts_up_to_date, rebuild_with_alerts, refuse, store_with, tamper

ROW = "INSERT INTO alerts (severity, action, rule_id, message, created_at, prev_hash, entry_hash) VALUES "
NULLED = "UPDATE alerts SET prev_hash = NULL, entry_hash = NULL"
NO_ANCHOR = "DELETE FROM alert_chain_head"
ANCHOR_IS_LAST = (
    "UPDATE alert_chain_head SET count = (SELECT count(*) FROM alerts),"
    " head_hash = (SELECT entry_hash FROM alerts ORDER BY alert_id DESC LIMIT 1)"
)


@pytest.fixture
def alarmed(home: Home) -> Home:
    """A store with four alerts, of two sessions."""
    store_with(home, range(1, 5), sessions=lambda number: f"session {number % 2}")
    return home


def rehash(home: Home) -> None:
    """Link all rows anew and set the anchor to match, as who knows the formula does."""
    names = ", ".join(Finding.__struct_fields__)
    with closing(sqlite3.connect(home.graph)) as database:
        head = GENESIS
        for alert_id, *members in database.execute(
            f"SELECT alert_id, {names} FROM alerts ORDER BY alert_id"
        ).fetchall():
            made = entry_hash(head, Finding(**dict(zip(Finding.__struct_fields__, members, strict=True))))
            database.execute(
                "UPDATE alerts SET prev_hash = ?, entry_hash = ? WHERE alert_id = ?", (head, made, alert_id)
            )
            head = made
        database.execute(ANCHOR_IS_LAST)
        database.commit()


def defect(verdict: LogVerdict) -> str | None:
    assert verdict.compared is not None
    return verdict.compared.defect


def test_a_store_that_nobody_touched_is_intact(alarmed: Home) -> None:
    verdict = verify_log(alarmed)
    assert verdict.is_intact
    assert (verdict.chained, verdict.legacy, verdict.broken, defect(verdict)) == (4, 0, None, None)
    assert verdict.compared is not None
    assert (verdict.compared.sealed, verdict.compared.waiting) == (4, 0)


def test_a_store_without_alerts_is_intact(home: Home) -> None:
    bring_alerts_up_to_date(home)
    assert verify_log(home).is_intact


# What the chain itself shows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statements", "alert_id", "reason"),
    [
        pytest.param(["UPDATE alerts SET message = 'fine' WHERE alert_id = 2"], 2, MODIFIED, id="edited row"),
        pytest.param(["UPDATE alerts SET severity = 'info' WHERE alert_id = 4"], 4, MODIFIED, id="lesser severity"),
        pytest.param(
            [ROW + f"('low','warn','r','m',1,'{GENESIS}','{'a' * 64}')"], 5, UNLINKED, id="inserted chained row"
        ),
        pytest.param([ROW + "('low','warn','r','m',1,NULL,NULL)"], 5, UNCHAINED, id="NULL hash after the start"),
        pytest.param(["DELETE FROM alerts WHERE alert_id = 2"], 3, UNLINKED, id="middle delete"),
        pytest.param(
            [f"UPDATE alerts SET alert_id = {new} WHERE alert_id = {old}" for old, new in ((2, 9), (3, 2), (9, 3))],
            2,
            UNLINKED,
            id="reorder",
        ),
        pytest.param(["DELETE FROM alerts WHERE alert_id = 4"], None, ANCHOR, id="tail delete"),
        pytest.param(["UPDATE alert_chain_head SET count = 3"], None, ANCHOR, id="count mismatch"),
        pytest.param([f"UPDATE alert_chain_head SET head_hash = '{GENESIS}'"], None, ANCHOR, id="head mismatch"),
        pytest.param(["DELETE FROM alerts"], None, EMPTY, id="everything deleted"),
        pytest.param([f"{NULLED} WHERE alert_id = 1"], 2, UNLINKED, id="first row made legacy"),
        pytest.param(
            ["UPDATE alerts SET message = CAST(x'ff' AS TEXT) WHERE alert_id = 1"], 1, MODIFIED, id="no UTF-8"
        ),
    ],
)
def test_a_changed_table_is_found_with_the_first_break_and_its_reason(
    alarmed: Home, statements: list[str], alert_id: int | None, reason: str
) -> None:
    tamper(alarmed, *statements)
    verdict = verify_log(alarmed)
    assert not verdict.is_intact
    assert verdict.broken is not None
    assert (verdict.broken.alert_id, verdict.broken.reason) == (alert_id, reason)
    assert not verify_database(alarmed.graph).is_intact


def test_nothing_heals_the_table_before_it_is_verified(alarmed: Home) -> None:
    tamper(alarmed, "DELETE FROM alerts WHERE alert_id = 4", NO_ANCHOR)
    bring_alerts_up_to_date(alarmed)
    assert defect(verify_log(alarmed)) == NO_ROW


# What only the journals show ------------------------------------------------------------------------------------------


def tail_and_anchor(home: Home) -> None:
    tamper(home, "DELETE FROM alerts WHERE alert_id = 4", NO_ANCHOR)


def tail_and_older_anchor(home: Home) -> None:
    tamper(home, "DELETE FROM alerts WHERE alert_id = 4", ANCHOR_IS_LAST)


def all_and_anchor(home: Home) -> None:
    tamper(home, "DELETE FROM alerts", NO_ANCHOR)


def hashes_and_anchor(home: Home) -> None:
    tamper(home, NULLED, NO_ANCHOR)


def pruned(home: Home) -> None:
    """As retention of the reference does: old rows go, the others are hashed anew after a checkpoint."""
    tamper(home, "DELETE FROM alerts WHERE alert_id < 3")
    rehash(home)


def middle_rehashed(home: Home) -> None:
    tamper(home, "DELETE FROM alerts WHERE alert_id = 2", "DELETE FROM alert_steps WHERE alert_id = 2")
    rehash(home)


@pytest.mark.parametrize(
    "change", [tail_and_anchor, tail_and_older_anchor, all_and_anchor, hashes_and_anchor, pruned, middle_rehashed]
)
def test_alerts_that_are_gone_are_missed(alarmed: Home, change: object) -> None:
    change(alarmed)  # type: ignore[operator]
    assert defect(verify_log(alarmed)) == NO_ROW


@pytest.mark.parametrize("change", [NO_ANCHOR, "DROP TABLE alert_chain_head"])
def test_an_anchor_that_is_gone_is_missed_though_all_alerts_are_there(alarmed: Home, change: str) -> None:
    tamper(alarmed, change)
    verdict = verify_log(alarmed)
    assert (verdict.broken, defect(verdict)) == (None, NO_HEAD)


def test_the_chain_alone_does_not_miss_a_tail_that_went_with_its_anchor(alarmed: Home) -> None:
    tail_and_anchor(alarmed)
    alone = verify_database(alarmed.graph)
    assert alone.is_intact
    assert any("the end cannot be checked" in hole for hole in alone.holes)


def test_an_edited_row_that_was_hashed_anew_has_no_step(alarmed: Home) -> None:
    tamper(alarmed, "UPDATE alerts SET path = '/tmp/x' WHERE alert_id = 2")
    rehash(alarmed)
    verdict = verify_log(alarmed)
    assert verdict.broken is None
    assert not verdict.is_intact
    assert verdict.compared is not None
    assert verdict.compared.unproved == (2,)
    assert len(verdict.compared.missing) == 1


def test_an_added_row_that_was_hashed_has_no_step(alarmed: Home) -> None:
    tamper(alarmed, ROW + "('low','warn','r','made up',1,NULL,NULL)")
    rehash(alarmed)
    verdict = verify_log(alarmed)
    assert (verdict.broken, defect(verdict)) == (None, NO_STEP)


def test_a_row_that_was_added_twice_has_one_step_too_few(alarmed: Home) -> None:
    names = ", ".join(Finding.__struct_fields__)
    tamper(alarmed, f"INSERT INTO alerts ({names}) SELECT {names} FROM alerts WHERE alert_id = 1")
    rehash(alarmed)
    assert defect(verify_log(alarmed)) == NO_STEP


def test_rows_in_another_order_do_not_have_the_hashes_that_are_sealed(alarmed: Home) -> None:
    tamper(
        alarmed,
        *(f"UPDATE alerts SET alert_id = {new} WHERE alert_id = {old}" for old, new in ((2, 9), (3, 2), (9, 3))),
    )
    rehash(alarmed)
    verdict = verify_log(alarmed)
    assert (verdict.broken, defect(verdict)) == (None, MOVED)


def test_a_journal_that_is_gone_leaves_rows_without_steps(alarmed: Home) -> None:
    next(path for _, path in alarmed.sessions()).unlink()
    assert defect(verify_log(alarmed)) == NO_STEP


def test_an_index_made_anew_without_a_journal_shows_that_an_alert_between_is_gone(alarmed: Home) -> None:
    _, path = next(iter(alarmed.sessions()))
    path.unlink()
    alarmed.graph.unlink()
    bring_alerts_up_to_date(alarmed)
    assert defect(verify_log(alarmed)) == GAP


def test_the_newest_alerts_do_not_vanish_with_their_journal_and_their_rows(home: Home) -> None:
    """Table and journals agree then; only the ledger knows better."""
    store_with(home, [1], sessions=lambda _: "one")
    store_with(home, [2], sessions=lambda _: "two")
    newest = noted_heads(home)[-1]
    path = home.journal(newest.session)
    assert path is not None
    path.unlink()
    rebuild_with_alerts(home)
    verdict = verify_log(home)
    assert verdict.broken is None
    assert defect(verdict) == UNHELD
    assert verdict.compared is not None
    assert verdict.compared.unheld == (f"{newest.session}:{newest.n}",)


def test_what_the_index_has_not_read_yet_is_said_and_is_no_tampering(alarmed: Home) -> None:
    with SessionWriter(alarmed) as session_writer:
        refuse(session_writer, AlertChain(session_writer, known_head(alarmed)), 9)
    verdict = verify_log(alarmed)
    assert verdict.is_intact
    assert verdict.compared is not None
    assert (verdict.chained, verdict.compared.sealed, verdict.compared.waiting) == (4, 5, 1)
    assert any("1 sealed alert not in the index yet" in hole for hole in verdict.holes)


def test_a_store_that_cannot_be_checked_is_an_error(home: Home, tmp_path: Path) -> None:
    home.graph.unlink(missing_ok=True)
    with pytest.raises(NotFoundError, match="no index"):
        verify_log(home)
    with pytest.raises(NotFoundError, match="no store"):
        verify_log(Home(tmp_path / "nowhere"))


def test_what_is_broken_is_sealed_before_the_table_is_made_anew(alarmed: Home) -> None:
    assert note_broken_log(alarmed) is None
    tamper(alarmed, "DELETE FROM alerts WHERE alert_id = 4")
    said = note_broken_log(alarmed)
    assert said is not None
    assert said.startswith(f"the chain of alerts broke at the tail: {ANCHOR}; table and journals differ: {NO_ROW}: ")
    warnings = [step for sid, _ in alarmed.sessions() for step in read_session(alarmed, sid) if step.type == "warning"]
    assert [step.text("content.text") for step in warnings] == [said]
    assert rebuild_with_alerts(alarmed) == 4
    assert verify_log(alarmed).is_intact


def test_where_there_is_no_table_nothing_is_sealed(home: Home) -> None:
    home.graph.unlink(missing_ok=True)
    assert note_broken_log(home) is None
    home.graph.write_bytes(b"nothing" * 1000)
    assert note_broken_log(home) is None
    assert list(home.sessions()) == []


# A database of the reference ------------------------------------------------------------------------------------------


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A database as the reference makes it: version 2, three chained alerts after a row from before the chain."""
    path = tmp_path / "foreign.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 2")
        database.execute(
            "CREATE TABLE alerts (alert_id INTEGER PRIMARY KEY AUTOINCREMENT, request_id INTEGER, entity_kind TEXT,"
            " entity_id INTEGER, severity TEXT, action TEXT, rule_id TEXT, message TEXT, path TEXT, evidence TEXT,"
            " created_at INTEGER, prev_hash TEXT, entry_hash TEXT)"
        )
        for table in ("alert_chain_head", "alert_retention_head"):
            database.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, head_hash TEXT, count INTEGER)")
        numbers = {"previous_alert_count", "pruned_count", "highest_pruned_alert_id", "cutoff_ms", "created_at"}
        columns = ", ".join(
            f"{name} {'INTEGER' if name in numbers else 'TEXT'}" for name in Checkpoint.__struct_fields__
        )
        database.execute(
            f"CREATE TABLE alert_retention_checkpoints (checkpoint_id INTEGER PRIMARY KEY AUTOINCREMENT, {columns})"
        )
        database.execute(ROW + "('low', 'warn', 'old', 'before the chain', 1, NULL, NULL)")
        _chain(database, GENESIS)
        database.commit()
    return path


def _chain(database: sqlite3.Connection, root: str) -> None:
    head = root
    for number in range(3):
        item = Finding(severity="high", action="block", rule_id="r", message=f"m{number}", created_at=number)
        made = entry_hash(head, item)
        database.execute(ROW + "('high', 'block', 'r', ?, ?, ?, ?)", (f"m{number}", number, head, made))
        head = made
    database.execute("INSERT OR REPLACE INTO alert_chain_head VALUES (1, ?, 3)", (head,))


def test_a_database_of_the_reference_is_walked_and_its_holes_are_said(foreign: Path) -> None:
    verdict = verify_database(foreign)
    assert verdict.is_intact
    assert (verdict.chained, verdict.legacy, verdict.compared) == (3, 1, None)
    assert any("1 row from before the chain" in hole for hole in verdict.holes)
    assert any("anyone who can write it can cut the end" in hole for hole in verdict.holes)


def test_a_changed_one_is_tampering(foreign: Path) -> None:
    with closing(sqlite3.connect(foreign)) as database:
        database.execute("UPDATE alerts SET action = 'allow' WHERE alert_id = 3")
        database.commit()
    verdict = verify_database(foreign)
    assert verdict.broken is not None
    assert (verdict.broken.alert_id, verdict.broken.reason) == (3, MODIFIED)


@pytest.mark.parametrize("is_changed", [False, True])
def test_what_it_pruned_is_the_root_of_what_it_kept(foreign: Path, is_changed: bool) -> None:
    row = Checkpoint(
        prev_checkpoint_hash=GENESIS,
        checkpoint_hash="",
        previous_alert_head="a" * 64,
        previous_alert_count=9,
        pruned_count=6,
        highest_pruned_alert_id=6,
        cutoff_ms=1,
        pruned_entries_hash="b" * 64,
        created_at=2,
    )
    digest = checkpoint_hash(row)
    values = {name: getattr(row, name) for name in Checkpoint.__struct_fields__} | {"checkpoint_hash": digest}
    with closing(sqlite3.connect(foreign)) as database:
        database.execute("DELETE FROM alerts")
        names, places = ", ".join(values), ", ".join("?" * len(values))
        database.execute(f"INSERT INTO alert_retention_checkpoints ({names}) VALUES ({places})", list(values.values()))
        database.execute("INSERT INTO alert_retention_head VALUES (1, ?, 1)", (digest,))
        _chain(database, digest)
        if is_changed:
            database.execute("UPDATE alert_retention_checkpoints SET pruned_count = 5")
        database.commit()
    verdict = verify_database(foreign)
    assert verdict.is_intact is not is_changed
    assert any("pruned: " in hole for hole in verdict.holes)


def test_without_its_anchor_the_tail_cannot_be_checked(foreign: Path) -> None:
    with closing(sqlite3.connect(foreign)) as database:
        database.execute("DROP TABLE alert_chain_head")
        database.execute("DELETE FROM alerts WHERE alert_id = 4")
        database.commit()
    verdict = verify_database(foreign)
    assert verdict.is_intact
    assert not verdict.anchored
    assert any("the end cannot be checked" in hole for hole in verdict.holes)


def test_the_file_is_never_written_and_its_write_ahead_log_is_read(foreign: Path) -> None:
    with closing(sqlite3.connect(foreign)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("DELETE FROM alerts WHERE alert_id = 4")
        writer.commit()
        before = {path.name: path.read_bytes() for path in foreign.parent.iterdir() if path.name != "foreign.db-shm"}
        verdict = verify_database(foreign)
        after = {path.name: path.read_bytes() for path in foreign.parent.iterdir() if path.name != "foreign.db-shm"}
    assert verdict.broken is not None
    assert verdict.broken.reason == ANCHOR
    assert after == before


def test_what_is_encrypted_or_no_such_database_is_named_as_such(tmp_path: Path, foreign: Path) -> None:
    path = tmp_path / "encrypted.db"
    path.write_bytes(bytes(range(256)) * 64)
    with pytest.raises(FormatError, match="is encrypted, or no SQLite database"):
        verify_database(path)
    with pytest.raises(NotFoundError):
        verify_database(tmp_path / "none.db")
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE alerts (alert_id INTEGER)")
    with pytest.raises(FormatError, match="no table `alerts` with a hash chain"):
        verify_database(other)
    with closing(sqlite3.connect(foreign)) as database:
        database.execute("PRAGMA user_version = 3")
    with pytest.raises(FormatError, match="version 3"):
        verify_database(foreign)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(foreign.read_bytes()[:4096] + b"\xff" * 8192)
    with pytest.raises(FormatError, match="cannot be read"):
        verify_database(damaged)
