"""`tally alerts`, `tally alert` and `tally verify-log`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tallystick.cli.command import Main
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.recording.alert_chain import AlertChain, known_head
from tallystick.recording.session_writer import SessionWriter
from tests.support.alerting import bring_alerts_up_to_date, refuse, tamper

Tally = Callable[..., Result]
PROGRAM = Main(
    "tally",
    lazy={
        name: (f"tallystick.cli.decide.alerts:{name.replace('-', '_')}", name)
        for name in ("alerts", "alert", "verify-log")
    },
)
DAY = ("2026-01-02", "03:04:05")
"""When the alerts of these tests were."""
HOSTILE = "Stop \x1b]0;owned\x07 it\n\u202enow"


@pytest.fixture
def alarmed(tmp_path: Path) -> Home:
    """A store with three alerts: a warning, a question and a refusal."""
    home = Home(tmp_path / "store")
    Archive.make(home)
    bring_alerts_up_to_date(home)
    with SessionWriter(home) as session_writer:
        chain = AlertChain(session_writer)
        for number, effect in enumerate(("warn", "ask", "deny")):
            refuse(session_writer, chain, number, effect=effect, text=HOSTILE, path=f"/srv/{number}\x1b[31m")
    bring_alerts_up_to_date(home)
    return home


@pytest.fixture
def tally(alarmed: Home) -> Tally:
    """`tally(*words)`: run a command on the store."""
    runner = CliRunner(env={"HOME": str(alarmed.folder), "COLUMNS": "160", "NO_COLOR": "1", "TALLY_HOME": None})
    return lambda *words: runner.invoke(PROGRAM, ["--home", str(alarmed.folder), *map(str, words)])


def told(tally: Tally, *words: str) -> Any:
    result = tally(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["data"]


# Lists ----------------------------------------------------------------------------------------------------------------


def test_alerts_are_listed_newest_first_in_our_own_words(tally: Tally) -> None:
    result = tally("alerts")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["3", "2", "1"]
    assert [line.split()[4] for line in lines] == ["deny", "ask", "warn"]
    assert "block" not in result.stdout


def test_every_column_of_the_list_is_printed(tally: Tally, alarmed: Home) -> None:
    sid = told(tally, "alerts")["alerts"][0]["session"][:8]
    assert [line.split() for line in tally("alerts").stdout.splitlines()] == [
        ["3", *DAY, "high", "deny", f"{sid}:10", "tally.store", "/srv/2␛[31m"],
        ["2", *DAY, "medium", "ask", f"{sid}:7", "tally.store", "/srv/1␛[31m"],
        ["1", *DAY, "low", "warn", f"{sid}:4", "tally.store", "/srv/0␛[31m"],
    ]


def test_the_members_of_an_alert_are_these(tally: Tally) -> None:
    newest, middle, oldest = told(tally, "alerts")["alerts"]
    assert (newest["prev_hash"], middle["prev_hash"]) == (middle["entry_hash"], oldest["entry_hash"])
    assert oldest["prev_hash"] == "0" * 64
    linked = ("prev_hash", "entry_hash", "session", "request_id", "entity_id", "evidence")
    assert {name: value for name, value in newest.items() if name not in linked} == {
        "alert_id": 3,
        "severity": "high",
        "action": "block",
        "rule": "tally.store",
        "message": HOSTILE,
        "path": "/srv/2\x1b[31m",
        "created_at": 1_767_323_045_002,
        "entity_kind": "agent_event",
        "n": 10,
        "corr": "c2",
        "reviews": 0,
        "verdict": None,
    }
    assert json.loads(newest["evidence"]) == {
        "call": f"{newest['session']}:8",
        "rules": ["tally.store"],
        "tool": "Write",
    }
    shown = told(tally, "alert", "show", "3")
    assert (shown["alert"], shown["reviews"], shown["step"]["defect"]) == (newest, [], None)
    assert shown["lineage"]["asked"] == f"{newest['session']}:8"


def test_everything_that_is_known_of_an_alert_is_printed(tally: Tally) -> None:
    entry = told(tally, "alerts")["alerts"][0]
    sid = entry["session"][:8]
    lines = tally("alert", "show", "3").stdout.splitlines()
    assert lines[:10] == [
        "alert 3  high  deny  tally.store",
        "  Stop ␛]0;owned␇ it",
        "  \\u202enow",
        f"  when      {' '.join(DAY)}",
        "  path      /srv/2␛[31m",
        f"  step      {sid}:10",
        f"  about     agent_event {entry['entity_id']}",
        f"  evidence  {entry['evidence']}",
        f"  hash      {entry['entry_hash']}",
        "  proof     the values of the step match its hash; `tally verify-log` checks the chain",
    ]
    assert lines[10] == "what led to it"
    assert lines[11].startswith(f"Write /srv/2␛[31m  {sid}:8")
    assert lines[12].startswith("├─ decided by decision policy: Stop ␛]0;owned␇ it …")
    assert lines[13].startswith(f"└─ asked for by “Do it.”  {sid}:1")


def test_hostile_words_are_shown_and_not_obeyed(tally: Tally) -> None:
    for words in (("alerts",), ("alert", "show", "3"), ("alerts", "--json"), ("alert", "show", "3", "--json")):
        shown = tally(*words).stdout
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "\x07" not in shown


def test_filters_and_a_limit_leave_fewer(tally: Tally) -> None:
    assert len(told(tally, "alerts", "--severity", "medium")["alerts"]) == 2
    found = told(tally, "alerts", "--limit", "2")
    assert (len(found["alerts"]), found["has_more"]) == (2, True)
    assert told(tally, "alerts", "--rule", "none")["alerts"] == []
    assert "no alerts" in tally("alerts", "--since", "2030-01-01").stdout
    assert tally("alerts", "--session", "nowhere").exit_code == 1
    assert tally("alerts", "--since", "soon").exit_code == 64


def test_what_each_rule_found_is_shown_line_by_line(alarmed: Home, tally: Tally) -> None:
    found = [
        {"rule": "a.b", "action": "delete", "target": "/x\x1b[31m", "because": ["rm", "/x"]},
        {"rule": "c.d", "action": "call", "target": "Bash", "because": ["one: x", "two: y"]},
        {"rule": "e.f", "action": "call", "target": "Bash"},
        7,
    ]
    with SessionWriter(alarmed) as session_writer:
        refuse(session_writer, AlertChain(session_writer, known_head(alarmed)), 7, found=found)
    shown = tally("alert", "show", "4").output
    assert "a.b: delete /x" in shown
    assert "\x1b[31m" not in shown
    assert "c.d: call Bash: one: x; two: y" in shown
    assert "e.f: call Bash" in shown


# One alert ------------------------------------------------------------------------------------------------------------


def test_an_alert_is_shown_with_its_proof_and_what_led_to_it(tally: Tally) -> None:
    shown = tally("alert", "show", "3").stdout
    assert "alert 3  high  deny  tally.store" in shown
    assert "the values of the step match its hash" in shown
    assert "what led to it" in shown
    assert "Do it." in shown
    data = told(tally, "alert", "show", "3")
    assert data["alert"]["action"] == "block"
    assert data["step"]["step"]["meta"]["type"] == "alert"
    assert data["lineage"]["nodes"]


def test_a_row_that_no_step_stands_behind_says_so(tally: Tally, alarmed: Home) -> None:
    tamper(
        alarmed,
        "INSERT INTO alerts (severity, action, rule_id, message, created_at) VALUES ('low', 'warn', 'r', 'made up', 1)",
    )
    assert "no sealed step exists for this row" in tally("alert", "show", "4").stdout
    assert tally("alert", "ack", "4").exit_code == 1
    assert tally("alert", "show", "77").exit_code == 1


def test_what_is_said_of_an_alert_is_sealed_and_shown(tally: Tally, alarmed: Home) -> None:
    assert tally("alert", "ack", "3", "seen \x1b[31m").exit_code == 0
    assert tally("alert", "feedback", "3", "false-positive", "--note", "a fixture").exit_code == 0
    bring_alerts_up_to_date(alarmed)
    assert "false-positive" in tally("alerts").stdout.splitlines()[0]
    shown = tally("alert", "show", "3").stdout
    assert "acknowledged: seen" in shown
    assert "false-positive: a fixture" in shown
    assert "\x1b" not in shown
    assert [review["verdict"] for review in told(tally, "alert", "show", "3")["reviews"]] == [
        "acknowledged",
        "false-positive",
    ]
    assert tally("alert", "feedback", "3", "splendid").exit_code == 64


# The chain ------------------------------------------------------------------------------------------------------------


def test_an_intact_log_ends_with_0(tally: Tally) -> None:
    result = tally("verify-log")
    assert result.exit_code == 0
    assert "intact: 3 chained alerts, no tampering detected" in result.stdout
    data = told(tally, "verify-log")
    assert (data["outcome"], data["verdict"]["chained"], data["verdict"]["broken"]) == ("intact", 3, None)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE alerts SET message = 'fine' WHERE alert_id = 2", "chain broke at alert_id 2: entry_hash mismatch"),
        ("DELETE FROM alerts WHERE alert_id = 3", "chain broke at the tail after 2 valid entries: chain head/count"),
        ("DELETE FROM alerts WHERE alert_id = 1", "chain broke at alert_id 2: prev_hash does not link"),
    ],
)
def test_tampering_ends_with_2_and_names_the_first_break(
    tally: Tally, alarmed: Home, statement: str, said: str
) -> None:
    tamper(alarmed, statement)
    result = tally("verify-log")
    assert result.exit_code == 2
    assert "TAMPERING DETECTED" in result.stdout
    assert said in result.stdout
    as_json = tally("verify-log", "--json")
    assert as_json.exit_code == 2
    assert json.loads(as_json.stdout)["data"]["outcome"] == "tampered"


def test_a_tail_that_went_with_its_anchor_is_missed_by_the_file_alone_and_found_in_the_store(
    tally: Tally, alarmed: Home
) -> None:
    tamper(alarmed, "DELETE FROM alerts WHERE alert_id = 3", "DELETE FROM alert_chain_head")
    alone = tally("verify-log", "--db", alarmed.graph)
    assert alone.exit_code == 0
    assert "anyone who can write it can cut the end" in alone.stdout
    result = tally("verify-log")
    assert result.exit_code == 2
    assert "a sealed alert has no row in the table" in result.stdout


def test_what_cannot_be_checked_ends_with_1(tally: Tally, tmp_path: Path) -> None:
    path = tmp_path / "encrypted.db"
    path.write_bytes(b"\x93" * 4096)
    result = tally("verify-log", "--db", path)
    assert result.exit_code == 1
    assert "is encrypted, or no SQLite database" in result.stderr
    assert tally("verify-log", "--db", tmp_path / "none.db").exit_code == 1
