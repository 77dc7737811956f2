"""`tally session tree`."""

from pathlib import Path

import pytest

from tallystick.model.step import Ref, SessionKind
from tallystick.recording.recorder import Recorder
from tallystick.recording.session import Session
from tests.cli.conftest import DISCOUNT, Tally, TallyJson

PRICES = '"cheap" = "1,2"\n'


def used(session: Session, model: str, tokens: int) -> None:
    session.step("model_call", model=model, tokens={"input": tokens, "output": 0})


@pytest.fixture
def grown(user: Path) -> dict[str, Session]:
    """A root with a merged fork, a sub-agent with one of its own that was left open, and checkpoints."""
    with Recorder(user / ".tally") as recorder:
        (user / ".tally" / "prices.toml").write_text(PRICES)
        root = recorder.session("demo", "the-root", goal="ship it", run="run-7", workspace="shop")
        root.prompt("do it")
        used(root, "cheap", 1_000_000)
        child = root.child(session="the-child", goal="find all callers")
        used(child, "no-such-model", 2_000)
        grandchild = child.child(session="the-grandchild")
        root.checkpoint("before the merge")
        fork = root.fork("the-fork", goal="another way")
        root.merge(fork)
        root.close()
    return {"root": root, "child": child, "grandchild": grandchild, "fork": fork}


def test_a_tree_is_drawn_with_status_tokens_cost_and_counts(tally: Tally, grown: dict[str, Session]) -> None:
    lines = tally("session", "tree", "the-root").stdout.splitlines()
    assert lines[0].split() == [
        *("SESSION", "STATUS", "AGENT", "TOKENS", "COST", "STEPS", "MARKS", "GOAL", "OR", "TITLE"),
    ]
    assert lines[1].split()[:6] == [grown["root"].id[:8], "completed", "demo", "1.0M", "$1.00", "7"]
    assert lines[1].endswith("ship it")
    assert lines[2].startswith(f"├─ {grown['child'].id[:8]} child")
    assert "unknown" in lines[2]
    assert lines[2].endswith("[left open] find all callers")
    assert lines[3].startswith(f"│  └─ {grown['grandchild'].id[:8]} child")
    assert lines[4].startswith(f"└─ {grown['fork'].id[:8]} fork")
    assert lines[4].split()[3] == "merged"
    assert lines[5] == (
        f"{grown['root'].id[:8]} and its child sessions: 4 sessions (2 active, 1 merged, 1 completed), 12 steps, 0 calls,"
        " 1 checkpoint, 1,002,000 tokens, cost $1.00 + ? (no price for: no-such-model)"
    )


def test_the_same_is_told_as_json(tally_json: TallyJson, grown: dict[str, Session]) -> None:
    found = tally_json("session", "tree", "the-root")
    root, child, grandchild, fork = found["sessions"]
    assert (root["goal"], root["run"], root["workspace"]) == ("ship it", "run-7", "shop")
    assert (child["run"], grandchild["workspace"]) == ("run-7", "shop")
    assert [row["depth"] for row in found["sessions"]] == [0, 1, 2, 1]
    assert [row["status"] for row in found["sessions"]] == ["completed", "active", "active", "merged"]
    assert [row["left_open"] for row in found["sessions"]] == [False, True, False, False]
    assert (root["cost_microusd"], root["checkpoints"], root["closed"] is not None) == (1_000_000, 1, True)
    assert (child["cost_microusd"], child["unpriced_models"], child["closed"]) == (None, ["no-such-model"], None)
    assert fork["cost_microusd"] is None
    assert fork["unpriced_models"] == []
    assert found["total"]["by_status"] == {"active": 2, "merged": 1, "completed": 1}
    assert (found["total"]["cost_microusd"], found["total"]["unpriced_models"]) == (1_000_000, ["no-such-model"])
    assert found["total"]["tokens"]["input"] == 1_002_000


def test_a_subtree_is_drawn_below_the_way_up_to_its_root(
    tally: Tally, tally_json: TallyJson, grown: dict[str, Session]
) -> None:
    lines = tally("session", "tree", "the-grandchild").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == [grown["root"].id[:8], "└─", "└─"]
    assert "[1 more not drawn]" in lines[1]
    assert "and its child sessions: 1 session (1 active)" in lines[4]
    rows = tally_json("session", "tree", "the-grandchild")["sessions"]
    assert [(row["depth"], row["standing"]) for row in rows] == [(0, "above"), (1, "above"), (2, "asked")]


def test_a_long_way_up_is_cut_in_the_middle_and_counted(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    with Recorder(user / ".tally") as recorder:
        session = recorder.session("demo", "level-00")
        for number in range(1, 40):
            session = session.child(session=f"level-{number:02}")
    lines = tally("session", "tree", "level-39", "--depth", "3").stdout.splitlines()
    assert lines[2] == "   ⋮  35 more between are not drawn"
    assert len(lines) == 8
    rows = tally_json("session", "tree", "level-39", "--depth", "3")["sessions"]
    assert [(row["depth"], row["skipped"]) for row in rows] == [(0, 0), (36, 35), (37, 0), (38, 0), (39, 0)]
    assert len(tally("session", "tree", "level-39").stdout.splitlines()) == 15  # ten levels of it
    few = tally("session", "tree", "level-39", "--depth", "99", "--limit", "5").stdout.splitlines()
    assert (len(few), few[2]) == (8, "   ⋮  35 more between are not drawn")
    assert few[-1].startswith(few[-2].split()[1])  # what is told of at the end is what was asked for
    assert "29 more not drawn" in tally("session", "tree", "level-00").stdout
    assert len(tally("session", "tree", "level-00", "--depth", "99").stdout.splitlines()) == 42


def test_only_so_many_sessions_are_drawn_and_the_others_counted(
    tally: Tally, tally_json: TallyJson, grown: dict[str, Session]
) -> None:
    lines = tally("session", "tree", "the-root", "--limit", "2").stdout.splitlines()
    assert len(lines) == 5
    assert lines[3] == "   ⋮  2 more are not drawn; --limit N draws N"
    assert "4 sessions (" in lines[4]
    cut = tally_json("session", "tree", "the-root", "--limit", "3", "--depth", "1")
    assert (len(cut["sessions"]), cut["left_out"], cut["sessions"][1]["hidden"]) == (3, 0, 1)
    assert tally_json("session", "tree", "the-root", "--limit", "1")["left_out"] == 3
    assert tally_json("session", "tree", "the-root")["left_out"] == 0


def test_a_narrow_terminal_gets_fewer_columns(tally: Tally, grown: dict[str, Session]) -> None:
    shown = tally("session", "tree", "the-root", env={"COLUMNS": "72"}).stdout.splitlines()
    assert "GOAL OR TITLE" in shown[0]
    assert "MARKS" not in shown[0]
    assert all(len(line) <= 72 for line in shown[:-1])


def test_all_trees_are_drawn_without_a_name(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    lines = tally("session", "tree").stdout.splitlines()
    assert len(lines) == 10
    assert sum(line.startswith("└─ ") for line in lines) == 3
    assert lines[-1].startswith("all sessions: 8 sessions (")
    part = tally("session", "tree", "a42b3437").stdout.splitlines()
    assert len(part) == 4
    assert " child " in part[2]
    rows = tally_json("session", "tree", f"{DISCOUNT}/ac22766a05ee82a73")["sessions"]
    assert [(row["depth"], row["standing"]) for row in rows] == [(0, "above"), (1, "asked")]


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


def test_what_agents_wrote_moves_nothing_on_the_terminal(tally: Tally, user: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\u202eevil\nSECOND LINE \u2800" + "x" * 5_000
    with Recorder(user / ".tally") as recorder:
        session = recorder.session("demo", "hostile", goal=evil, workspace=evil)
        session.child(goal=evil)
        session.close()
    for words in (("session", "tree"), ("session", "list"), ("session", "show", "hostile")):
        shown = tally(*words).stdout
        assert not any(mark in shown for mark in ("\x1b]", "\x1b[2J", "\u202e", "\x07"))
        assert not any(line.startswith("SECOND LINE") for line in shown.splitlines())
        assert all(len(line) <= 260 for line in shown.splitlines())
    assert "\x1b" not in tally("session", "tree", "--json").stdout
