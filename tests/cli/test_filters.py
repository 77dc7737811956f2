"""Times as people type them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.cli.filters import read_moment, read_seconds, zone_of
from tallystick.display.clock import shown_text
from tallystick.model.moments import is_time
from tests.cli.conftest import Tally, TallyJson
from tests.support.cases import each, each_case

NOW = datetime(2026, 11, 21, 15, 30, 45, 123456, UTC)


@each_case("typed, meant")
def test_a_time_is_read_as_it_is_meant(typed: str, meant: str) -> None:
    assert read_moment(typed, NOW) == meant


@each("typed", ["", "soon", "2026-13-01", "2026-02-31", "11/21/2026", "999999w", "-3h", "3 y", "٣h"])
def test_what_says_no_time_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match="time"):
        read_moment(typed, NOW)


@each("typed, seconds", [("90min", 5_400), ("1h", 3_600), ("7d", 604_800), ("5 s", 5), ("1", None), ("-1h", None)])
def test_a_length_of_time_is_read_as_it_is_meant(typed: str, seconds: int | None) -> None:
    assert read_seconds(typed) == seconds


@given(st.text(max_size=30))
def test_whatever_is_typed_is_a_time_of_the_record_or_refused(typed: str) -> None:
    try:
        found = read_moment(typed, NOW)
    except ValueError:
        return
    assert is_time(found)


def test_local_times_are_those_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    assert shown_text("2026-11-21T22:00:00.000000Z", zone_of(local=True)) == "2026-11-22T03:30:00.000000"
    assert zone_of(local=False) is None


PROJECT_COMMANDS = ["session list", "coverage", "cost", "cost --by session", "alerts", "search the", "log"]


@pytest.mark.parametrize("command", PROJECT_COMMANDS)
def test_a_project_that_there_is_not_is_an_error_that_names_the_known(full: Path, tally: Tally, command: str) -> None:
    result = tally(*command.split(), "--project", "projct")
    assert result.exit_code != 0
    assert "no session works in a project 'projct'" in result.stderr
    assert "did you mean project?" in result.stderr


def test_sessions_of_other_projects_are_not_counted(full: Path, tally_json: TallyJson) -> None:
    named = {row["session"] for row in tally_json("session", "list", "--project", "project")["sessions"]}
    every = {row["session"]: row["cwd"] for row in tally_json("session", "list")["sessions"]}
    assert named == {session for session, cwd in every.items() if (cwd or "").endswith("/project")}
    assert set() < named < set(every)
    covered = tally_json("coverage", "--project", "project")["sessions"]
    assert {one["session"] for one in covered} == named
    spent = tally_json("cost", "--by", "session", "--project", "project", "--limit", "100")
    assert {row["key"] for row in spent["rows"]} <= named
    steps = tally_json("sql", spent["rows"][0]["query"])
    assert len(steps["rows"]) == spent["rows"][0]["spending"]["calls"]
    hits = tally_json("search", "the", "--project", "project", "--limit", "500")["hits"]
    assert {hit["step"]["session"] for hit in hits} <= named
    assert hits
