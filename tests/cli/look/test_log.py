"""The log on the command line."""

from pathlib import Path

from tests.cli.conftest import Tally, TallyJson


def test_the_newest_step_is_on_top_one_a_line(tally: Tally, full: Path) -> None:
    lines = tally("log").stdout.splitlines()
    assert len(lines) == 50
    assert lines[0].startswith("2026-11-21 22:40:38  ")
    assert lines == sorted(lines, key=lambda line: line[:19], reverse=True)


def test_a_failed_call_shows_how(tally: Tally, full: Path) -> None:
    shown = tally("log", "--failed", "--tool", "Bash").stdout
    assert "DENIED by hook" in shown
    assert "failed" in shown
    assert len(shown.splitlines()) == 3


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
    assert len(result.stdout.splitlines()) == 2
    assert "tally: 2 steps cannot be read at the place that the index names" in result.stderr


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
