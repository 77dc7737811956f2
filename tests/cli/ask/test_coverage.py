"""What the record lacks, on the command line."""

from pathlib import Path

from tallystick.recording.recorder import Recorder
from tests.cli.conftest import DISCOUNT, Tally, TallyJson


def test_a_line_for_each_session_the_newest_first(tally: Tally, full: Path) -> None:
    lines = tally("coverage").stdout.splitlines()
    listed = tally("session", "list").stdout.splitlines()
    assert lines[0].split()[:4] == ["SESSION", "AGENT", "COVERAGE", "CALLS"]
    assert [line.split()[0] for line in lines] == [line.split()[0] for line in listed]
    assert lines[1].endswith("nothing is missing so far")


def test_one_session_in_full(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    text = tally("coverage", DISCOUNT).stdout
    first, second, *_ = text.splitlines()
    assert first.startswith("receipt: 14 calls, 1 refused, 4 files changed, ")
    assert second.startswith("complete: ")
    assert "only one source reported it: transcript" in text
    found = tally_json("coverage", DISCOUNT)
    assert (found["state"], found["calls"], found["results"], found["refused"]) == ("complete", 12, 12, 1)
    assert found["sources"] == {"transcript": 60}
    assert (found["receipt"]["calls"], found["receipt"]["line"]) == (14, first.removeprefix("receipt: "))


def test_what_is_required_decides_the_exit_code(tally: Tally, full: Path) -> None:
    assert tally("coverage", DISCOUNT, "--require", "corroborated").exit_code == 3
    assert tally("coverage", DISCOUNT, "--require", "complete").exit_code == 0
    assert tally("coverage", DISCOUNT, "--require", "partial").exit_code == 0
    assert tally("coverage", "--require", "corroborated").exit_code == 3
    assert tally("coverage", "--require", "all").exit_code == 64


def test_lists_are_limited_and_filtered(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    some = tally_json("coverage", "--limit", "2")
    assert (len(some["sessions"]), some["has_more"]) == (2, True)
    assert {each["agent"] for each in tally_json("coverage", "--agent", "codex")["sessions"]} == {"codex"}


def test_an_empty_store_has_no_sessions(tally: Tally) -> None:
    tally("init")
    assert tally("coverage").stdout == "no sessions\n"


def test_text_from_agents_is_shown_and_not_obeyed(tally: Tally, user: Path) -> None:
    with Recorder(user / ".tally") as recorder, recorder.session("demo", "s") as session:
        session.step("tool_call", tool="\x1b[31mred", source_id="c", corr="c", content={"args": {}})
    shown = tally("coverage", "s").stdout
    assert "calls without a result" in shown
    assert "\x1b[31m" not in shown
    assert "red" in shown
