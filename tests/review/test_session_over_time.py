"""A session over time, whole: recorded with two levels of sub-agents, a compaction and a fork, then asked as people ask.

Of no single source file: the recorder, the index, the tree, provenance, checkpoints and replay together.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tallystick.cli import main
from tallystick.recording.recorder import Recorder

Ask = Callable[..., Any]


@pytest.fixture
def ids(tmp_path: Path) -> dict[str, str]:
    """Our ids of the sessions, by what they are."""
    found = dict[str, str]()
    with Recorder(tmp_path / "store") as recorder:
        root = recorder.session("demo", "talk", cwd=str(tmp_path), run="r1")
        root.prompt("ship the release")
        with root.subagent("researcher", "find what changed") as one:
            one.model_call("claude-sonnet-4-20250514", tokens={"input": 100, "output": 10})
            with one.subagent("reader", "read one file") as two, two.tool_call("Read", {"file_path": "a.txt"}) as call:
                call.output = "text"
            found["one"], found["two"] = one.id, two.id
        root.step("goal_start", content={"goal": "draft"})
        root.step("goal_end", content={"goal": "draft"})
        following = root.compact("we found what changed")
        following.prompt("now write it down")
        other = following.fork("talk-other", goal="try it shorter")
        other.prompt("shorter")
        following.merge(other)
        following.close()
        found |= {"root": root.id, "following": following.id, "fork": other.id}
    return found


@pytest.fixture
def ask(tmp_path: Path, ids: dict[str, str]) -> Ask:
    def answer(*words: str) -> Any:
        done = CliRunner().invoke(main, ["--home", str(tmp_path / "store"), *words, "--json"], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)["data"]

    return answer


def test_the_tree_has_each_session_where_it_hangs(ask: Ask, ids: dict[str, str]) -> None:
    rows = {row["session"]: row for row in ask("session", "tree", ids["root"])["sessions"]}
    assert {name: (rows[sid]["depth"], rows[sid]["kind"], rows[sid]["status"]) for name, sid in ids.items()} == {
        "root": (0, "root", "completed"),
        "one": (1, "child", "completed"),
        "two": (2, "child", "completed"),
        "following": (1, "continuation", "completed"),
        "fork": (2, "fork", "merged"),
    }
    assert rows[ids["one"]]["goal"] == "find what changed"


def test_the_way_up_is_drawn_from_any_session(ask: Ask, ids: dict[str, str]) -> None:
    drawn = [row["session"] for row in ask("session", "tree", ids["two"])["sessions"]]
    assert drawn == [ids["root"], ids["one"], ids["two"]]


def test_provenance_names_every_hop(ask: Ask, ids: dict[str, str]) -> None:
    said = ask("session", "provenance", ids["fork"])
    assert [hop["kind"] for hop in said["hops"]] == ["fork", "continuation", "root"]
    continued = ask("session", "provenance", ids["following"])
    assert (continued["kind"], continued["depth"]) == ("continuation", 1)
    assert continued["lineageRoot"] == "talk"


def test_there_are_checkpoints_where_something_was_finished_or_compacted(ask: Ask, ids: dict[str, str]) -> None:
    marks = ask("checkpoint", "list", "--session", ids["root"])["checkpoints"]
    assert {"compaction", "step_complete"} <= {mark["trigger"] for mark in marks}
    assert ask("checkpoint", "verify", "--session", ids["root"])["broken"] == []
    by_run = ask("checkpoint", "list", "--run", "r1")["checkpoints"]
    assert {mark["session"] for mark in by_run} >= {ids["root"]}


def test_it_replays_from_the_middle_into_what_hangs_on_it(ask: Ask, ids: dict[str, str]) -> None:
    whole = ask("replay", ids["root"], "--subagents", "inline")
    start = next(step for step in whole if step["meta"]["type"] == "subagent_start")
    walked = ask("replay", ids["root"], "--from", f"{ids['root']}:{start['n']}", "--subagents", "inline")
    sessions = [step["session"] for step in walked]
    assert sessions[0] == ids["root"]
    assert {ids["one"], ids["two"]} <= set(sessions)
    calls = [step["meta"]["tool"] for step in walked if step["meta"]["type"] == "tool_call"]
    assert calls == ["Read"]


def test_what_it_cost_and_how_it_verifies(ask: Ask, ids: dict[str, str], tmp_path: Path) -> None:
    spent = ask("cost", ids["root"])
    assert "claude-sonnet-4-20250514" in json.dumps(spent)
    assert ask("verify")["valid"] is True
    differs = ask("session", "diff", ids["fork"], ids["following"])
    assert differs
