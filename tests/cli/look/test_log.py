"""The log on the command line."""

import re
from pathlib import Path

import pytest

from tallystick.display.text import width_of
from tests.cli.conftest import Tally, TallyJson

TIME = re.compile(r"\d\d:\d\d:\d\d ")


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if TIME.match(line)]


def test_time_never_runs_backwards_and_the_newest_act_is_last(tally: Tally, full: Path) -> None:
    shown = tally("log", "--limit", "500").stdout
    clocks = [row[:8] for row in rows(shown)]
    assert clocks == sorted(clocks)
    assert rows(tally("log").stdout)[-20:] == rows(shown)[-20:]


def test_a_prompt_is_a_heading_and_a_call_is_one_line(tally: Tally, full: Path) -> None:
    shown = rows(tally("log", "--session", "a42b3437", "--limit", "500").stdout)
    calls = [row for row in shown if "git push --force" in row]
    assert len(calls) == 1
    assert "› Write the change down in CHANGELOG.md." in next(row for row in shown if ":51 " in row)
    assert not any("model_call" in row for row in shown)


def test_a_sub_agent_is_one_line_at_its_first_step_with_its_totals(tally: Tally, full: Path) -> None:
    shown = tally("log", "--limit", "500").stdout
    assert len(re.findall(r"▸ sub-agent general-purpose: 21 steps, 2 calls", shown)) == 1


def test_every_step_newest_first_with_verbose(tally: Tally, full: Path) -> None:
    lines = tally("log", "-v").stdout.splitlines()
    assert len(lines) == 50
    assert lines[0].startswith("2026-11-21 22:40:38  ")
    assert lines == sorted(lines, key=lambda line: line[:19], reverse=True)


def test_a_failed_call_shows_how_under_the_prompt_that_it_was_for(tally: Tally, full: Path) -> None:
    shown = rows(tally("log", "--failed", "--tool", "Bash").stdout)
    calls = [row for row in shown if "›" not in row]
    assert len(calls) == 3
    assert sum(" denied " in row for row in calls) == 2
    assert sum(" failed " in row for row in calls) == 1
    assert all(" → " in row for row in calls)
    assert "›" in shown[0]


def test_sessions_of_one_project(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    assert rows(tally("log", "--project", "project").stdout)
    assert {step["agent"] for step in tally_json("log", "--project", "/home/dev/project", "--limit", "500")["steps"]}
    unknown = tally("log", "--project", "projekt")
    assert unknown.exit_code != 0
    assert "did you mean project?" in unknown.stderr


def test_until_includes_its_day(tally_json: TallyJson, full: Path) -> None:
    assert tally_json("log", "--agent", "claude-code", "--until", "2026-11-21")["steps"]
    assert not tally_json("log", "--agent", "claude-code", "--until", "2026-11-20")["steps"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(tally: Tally, full: Path, width: int) -> None:
    shown = tally("log", "--limit", "500", env={"COLUMNS": str(width)}).stdout
    assert max(map(width_of, shown.splitlines())) <= width


def test_json_has_the_members_and_the_outcome(tally_json: TallyJson, full: Path) -> None:
    found = tally_json("log", "--type", "model_call", "--limit", "1")
    (step,) = found["steps"]
    assert found["has_more"]
    assert step["type"] == "model_call"
    assert step["tokens"]["output"] == 72
    assert step["outcome"] == "280 in, 72 out, 6,912 cached"


def test_a_session_and_a_prompt_of_it(tally_json: TallyJson, tally: Tally, full: Path) -> None:
    steps = tally_json("log", "--session", "a42b3437", "--request", "51")["steps"]
    assert {step["request"] for step in steps} == {51}
    assert tally("log", "--request", "51").exit_code == 64


def test_what_was_recorded_meanwhile_is_shown(tally: Tally, user: Path) -> None:
    from tallystick.recording.recorder import Recorder

    with Recorder(user / ".tally") as recorder:
        session = recorder.session("demo", "one")
        assert "hello there" not in tally("log").stdout
        session.prompt("hello there")
        assert "hello there" in tally("log").stdout


def test_a_step_whose_journal_is_damaged_is_still_listed(tally: Tally, full: Path) -> None:
    tally("log")  # so that the index knows the files of this copy
    (path,) = [
        path
        for path in (full / ".tally" / "journals").rglob("*.jsonl")
        if b"receipts-currency" in path.read_bytes()[:900]
    ]
    path.write_bytes(b"x" * path.stat().st_size)
    result = tally("log", "--session", "receipts-currency", "--limit", "2")
    assert result.exit_code == 0
    assert "cannot be read at the place that the index names" in result.stdout
    assert "steps cannot be read at the place that the index names" in result.stderr


def test_the_graph_draws_what_follows_from_what(tally: Tally, full: Path) -> None:
    lines = tally("log", "--graph", "--session", "7c1f0a9e", "--limit", "100").stdout.splitlines()
    nodes = [line for line in lines if "●" in line]
    assert len(nodes) == 62
    assert "├─╯" in lines
    assert "├─╮" in lines
    denied = next(number for number, line in enumerate(lines) if "DENIED by security" in line)
    drawn = [line.partition("  ")[0].removeprefix("│ │ ") for line in lines[denied : denied + 8]]
    assert drawn == ["●", "├─╮", "│ ●", "│ ●", "│ ●", "│ ●", "├─╯", "●"]


def test_a_sub_agent_hangs_on_the_call_that_began_it(tally: Tally, full: Path) -> None:
    lines = tally("log", "--graph", "--agent", "claude-code", "--limit", "200").stdout.splitlines()
    start = next(number for number, line in enumerate(lines) if "session_start" in line and "child" in line)
    assert any("Agent" in line and "tool_call" in line for line in lines[start : start + 4])


def test_lanes_are_numbers_in_json(tally_json: TallyJson, full: Path) -> None:
    steps = tally_json("log", "--graph", "--session", "7c1f0a9e", "--limit", "20")["steps"]
    place = {step["hash"]: number for number, step in enumerate(steps)}
    assert steps[0]["graph"] == {"lane": 0, "joins": [], "parents": [0], "open": [0]}
    assert any(len(step["graph"]["parents"]) == 2 for step in steps)
    for number, step in enumerate(steps):
        assert len(step["parents"]) == len(step["graph"]["parents"])
        assert all(place[parent] > number for parent in step["parents"])


def test_a_graph_of_nothing_says_so(tally: Tally, full: Path) -> None:
    assert tally("log", "--graph", "--agent", "nobody").stdout == "no steps\n"
