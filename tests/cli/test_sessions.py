"""Sessions on the command line."""

from pathlib import Path

from tallystick.model.step import Ref, SessionKind
from tallystick.operations.recorder import Recorder
from tests.cli.conftest import DISCOUNT, Tally, TallyJson


def test_the_list_shows_every_session_with_its_first_prompt(tally: Tally, full: Path) -> None:
    lines = tally("session", "list").stdout.splitlines()
    assert len(lines) == 9
    assert lines[0].split()[:4] == ["SESSION", "AGENT", "KIND", "STATUS"]
    assert any("gptme" in line and "Write the total of a receipt" in line for line in lines)
    assert all(len(line) <= 120 for line in lines)


def test_the_list_is_filtered(tally_json: TallyJson, full: Path) -> None:
    def ids(*words: str) -> list[str]:
        return [row["source_session"] for row in tally_json("session", "list", *words)["sessions"]]

    assert ids("--agent", "gptme") == ["receipts-currency"]
    assert set(ids("--status", "completed")) == {
        "c70cf123-6122-475f-8809-1f48f9d0740d",
        "7c1f0a9e52d84b36a1e09d5c4f27b8e3",
    }
    assert len(ids("--since", "2026-11-21T22:36")) == 3
    assert len(ids("--limit", "2")) == 2


def test_a_cut_list_says_so(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    assert "there are more than these 2" in tally("session", "list", "--limit", "2").stderr
    assert tally_json("session", "list", "--limit", "2")["has_more"]
    assert not tally_json("session", "list", "--limit", "8")["has_more"]


def test_an_empty_store_has_no_sessions(tally: Tally) -> None:
    tally("init")
    assert tally("session", "list").stdout == "no sessions\n"
    assert tally("session", "tree").stdout == "no sessions\n"
    assert tally("log").stdout == "no steps\n"


def test_one_session_is_shown_with_its_prompts(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    shown = tally("session", "show", "a42b3437").stdout
    assert DISCOUNT in shown
    assert "Write the change down in CHANGELOG.md." in shown
    assert "12 tool calls, 2 failed" in shown
    assert "all of it is under a head" in shown
    found = tally_json("session", "show", "a42b3437")
    assert [request["n"] for request in found["requests"]] == [1, 51]
    assert found["session"]["tokens"]["output"] == 1591


def test_an_ambiguous_name_lists_what_it_may_mean(tally: Tally, user: Path) -> None:
    with Recorder(user / ".tally") as recorder:
        ids = [recorder.session("demo", f"same-{number}").id for number in range(2)]
    result = tally("session", "show", "same")
    assert result.exit_code == 1
    assert all(sid[:12] in result.stderr for sid in ids)


def test_the_tree_shows_what_hangs_on_what(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    whole = tally("session", "tree").stdout.splitlines()
    assert len(whole) == 8
    assert sum(line.startswith("└─ ") for line in whole) == 3
    part = tally("session", "tree", "a42b3437").stdout.splitlines()
    assert len(part) == 2
    assert "claude-code child" in part[1]
    assert [
        (row["depth"], row["standing"]) for row in tally_json("session", "tree", f"{DISCOUNT}/ac22766a05ee82a73")
    ] == [
        (0, "above"),
        (1, "asked"),
    ]


def test_the_tree_is_cut_at_a_depth_and_says_what_is_hidden(tally: Tally, full: Path) -> None:
    assert "[1 more not drawn]" in tally("session", "tree", "a42b3437", "--depth", "0").stdout


def test_a_parent_that_is_only_claimed_is_marked(tally: Tally, user: Path) -> None:
    with Recorder(user / ".tally") as recorder:
        recorder.session("demo", "orphan", kind=SessionKind.CHILD, parent=Ref(session="never-recorded", source_id="x"))
    assert "[its parent never-recorded is not recorded]" in tally("session", "tree").stdout
    assert "of never-recorded, which is not recorded" in tally("session", "show", "orphan").stdout
    with Recorder(user / ".tally") as recorder:
        recorder.session("demo", "never-recorded")
    assert "[claimed]" in tally("session", "tree").stdout
    assert "(claimed by the agent, not sealed)" in tally("session", "show", "orphan").stdout


def test_what_is_not_sealed_yet_is_counted(tally: Tally, user: Path) -> None:
    with Recorder(user / ".tally") as recorder:
        session = recorder.session("demo", "open-session")
        recorder.seal()
        session.prompt("hello")
        assert "1 entries are under a head, 1 not yet" in tally("session", "show", "open-session").stdout
