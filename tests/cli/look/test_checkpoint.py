"""`tally checkpoint` as a person uses it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tallystick import Recorder
from tests.cli.conftest import Tally, TallyJson

HOSTILE = "\x1b]0;title\x07\x1b[2J\u202eevil\nforged line"


@pytest.fixture
def marked(user: Path) -> Path:
    """A store with one session that works in `user`, marked by itself and by hand."""
    with Recorder(user / ".tally") as recorder, recorder.session("demo", "one", cwd=str(user)) as session:
        session.prompt("go")
        session.step("goal_end", content={"label": "the tests pass"})
        session.checkpoint(HOSTILE, metadata={HOSTILE: HOSTILE})
    return user


def ids(tally_json: TallyJson, *words: str) -> list[str]:
    return [row["id"] for row in tally_json("checkpoint", "list", *words)["checkpoints"]]


def test_one_is_made_listed_shown_and_checked(
    tally: Tally, tally_json: TallyJson, user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(user)
    with Recorder(user / ".tally") as recorder:
        recorder.session("demo", "one", cwd=str(user)).prompt("go")
    made = tally("checkpoint", "create", "before the merge", "--meta", "ticket=4711", "--keep")
    assert made.exit_code == 0
    name = re.match(r"checkpoint ([0-9a-f]{12}) marks [0-9a-f]{8}:1: before the merge\n", made.stdout)
    assert name is not None
    assert name[1] in tally("checkpoint", "list").stdout
    shown = tally("checkpoint", "show", name[1][:4]).stdout
    assert "ticket  4711" in shown
    assert "exempt from retention" in shown
    assert re.search(r"marks +[0-9a-f]{8}:1, user", shown)
    assert tally("checkpoint", "verify").stdout == "1 checkpoint checked: all match\n"
    assert tally("checkpoint", "verify", name[1]).exit_code == 0
    data = tally_json("checkpoint", "show", name[1])
    assert data["entry"]["metadata"] == {"ticket": "4711"}


def test_lists_can_be_narrowed(tally: Tally, tally_json: TallyJson, marked: Path) -> None:
    assert len(ids(tally_json)) == 2
    assert len(ids(tally_json, "--session", "one", "--trigger", "manual")) == 1
    assert len(ids(tally_json, "--trigger", "step_complete", "--trigger", "manual")) == 2
    assert tally("checkpoint", "list", "--trigger", "phase").stdout == "no checkpoints\n"
    one = tally("checkpoint", "list", "--limit", "1")
    assert "--limit N shows more" in one.stderr
    assert tally("checkpoint", "list", "--trigger", "sometimes").exit_code == 64


def test_nothing_of_what_an_agent_wrote_reaches_the_terminal(tally: Tally, tally_json: TallyJson, marked: Path) -> None:
    both = ids(tally_json)
    for words in (("list",), ("show", both[0]), ("show", both[1]), ("diff", *both), ("prune", "--dry-run")):
        shown = tally("checkpoint", *words, color=True).stdout
        assert "\x1b]" not in shown
        assert "\x1b[2J" not in shown
        assert "\u202e" not in shown
        assert "\nforged line" not in shown


def test_two_are_compared(tally: Tally, tally_json: TallyJson, marked: Path) -> None:
    shown = tally("checkpoint", "diff", *ids(tally_json)).stdout
    assert re.search(r"^- [0-9a-f]{12}  [0-9a-f]{8}:2 .* goal_end 2: the tests pass$", shown, re.MULTILINE)
    assert "in between" in shown
    assert "tokens: none" in shown
    assert tally("checkpoint", "diff", ids(tally_json)[0], "ffffff").exit_code == 1


def test_a_broken_one_is_exit_2(tally: Tally, marked: Path) -> None:
    tally("checkpoint", "list")
    (path,) = (marked / ".tally" / "journals").rglob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"content.text":"go"', b'"content.text":"no"'))
    broken = tally("checkpoint", "verify")
    assert broken.exit_code == 2
    assert broken.stdout.startswith("BROKEN: 2 of 2 checkpoints\n")
    assert "entry 1 breaks rule" in broken.stdout
    data = json.loads(tally("checkpoint", "verify", "--json").stdout)["data"]
    assert (data["checkpoints"], len(data["broken"])) == (2, 2)


def test_a_session_that_is_gone_is_not_all_hold(tally: Tally, tally_json: TallyJson, marked: Path) -> None:
    (path,) = (marked / ".tally" / "journals").rglob("*.jsonl")
    path.unlink()
    assert tally("checkpoint", "list").stdout == "no checkpoints\n"  # the index follows
    gone = tally("checkpoint", "verify")
    assert (gone.exit_code, gone.stdout.splitlines()[0]) == (
        2,
        f"MISSING: session {path.stem[:8]}; its checkpoints cannot be listed",
    )
    assert json.loads(tally("checkpoint", "verify", "--json").stdout)["data"]["gone"] == [path.stem]


def test_a_run_means_its_active_session(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    with Recorder(user / ".tally") as recorder:
        open_one = recorder.session("demo", "open", run="seven")
        open_one.prompt("go")
        with recorder.session("demo", "ended", run="seven") as ended:
            ended.prompt("go")
    assert tally_json("checkpoint", "create", "x", "--run", "seven")["session"] == open_one.id
    open_one.close()
    assert tally_json("checkpoint", "create", "y", "--run", "seven")["session"] == open_one.id
    assert [row["label"] for row in tally_json("checkpoint", "list", "--run", "seven")["checkpoints"]] == ["x", "y"]


def test_a_mistake_says_what_to_do(tally: Tally, marked: Path) -> None:
    for words, code, said in (
        (("create", " ", "--session", "one"), 64, "needs a label"),
        (("create", "x", "--meta", "nothing"), 64, "is not NAME=VALUE"),
        (("create", "x", "--session", "none"), 1, "no session"),
        (("list", "--run", "none"), 1, "no session of run 'none'"),
        (("show", "abc"), 1, "there is no checkpoint 'abc'"),
        (("verify", "abcd", "--session", "one"), 64, "either an id or --session"),
        (("prune", "--older-than", "-1"), 64, "not in the range"),
    ):
        result = tally("checkpoint", *words)
        assert (result.exit_code, result.stdout) == (code, "")
        assert said in result.stderr


@pytest.mark.parametrize(
    "words", [("create", "x"), ("list",), ("show", "abcd"), ("diff", "abcd", "bcde"), ("verify",), ("prune",)]
)
def test_where_they_are_off_each_command_says_so(tally: Tally, marked: Path, words: tuple[str, ...]) -> None:
    assert tally("config", "set", "checkpoints.enabled", "off").exit_code == 0
    result = tally("checkpoint", *words)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "tally: checkpoints are off\nhint: `tally config set checkpoints.enabled on` turns them on\n"
    )


def test_more_than_the_maximum_is_an_error(tally: Tally, marked: Path) -> None:
    tally("config", "set", "checkpoints.max_per_session", "2")
    rolled = tally("checkpoint", "create", "second", "--session", "one")
    assert "replaces 1 older one" in rolled.stdout
    refused = tally("checkpoint", "create", "third", "--session", "one")
    assert refused.exit_code == 1
    assert "has 2 checkpoints; the maximum is 2" in refused.stderr
    listed = tally("checkpoint", "list").stdout
    assert "goal_end" not in listed
    assert "goal_end 2: the tests pass (replaced)" in tally("checkpoint", "list", "--all").stdout


def test_pruning_says_what_it_would_do_and_does_it(tally: Tally, tally_json: TallyJson, marked: Path) -> None:
    tally("config", "set", "checkpoints.max_per_session", "1")
    tally("checkpoint", "create", "second", "--session", "one")  # refused: the other one was made by hand
    tally("config", "set", "checkpoints.max_per_session", "2")
    tally("checkpoint", "create", "second", "--session", "one")
    dry = tally("checkpoint", "prune", "--dry-run")
    assert "would delete the content of 1 checkpoint of 1 session" in dry.stdout
    assert "goal_end" in dry.stdout
    assert tally_json("checkpoint", "prune", "--dry-run")["checkpoints"][0]["names"] == ["content.label"]
    assert tally("checkpoint", "prune").stdout == "deleted the content of 1 checkpoint of 1 session\n"
    assert tally("checkpoint", "prune").stdout == "nothing to delete\n"
    listed = tally("checkpoint", "list", "--all").stdout
    (dropped,) = (line.split()[0] for line in listed.splitlines() if "(dropped by retention)" in line)
    assert (
        "its content was deleted by retention; the step that it marks stays"
        in tally("checkpoint", "show", dropped).stdout
    )
    assert re.search(r"content.label +▧ erased .* \(retention\): the rule `checkpoints`", tally("show", dropped).stdout)
    assert tally("verify").exit_code == 0


def test_a_history_shows_what_its_agent_marked(tally: Tally, full: Path) -> None:
    shown = tally("checkpoint", "list").stdout
    assert re.search(r"phase +draft", shown)
    assert "compaction" in shown
