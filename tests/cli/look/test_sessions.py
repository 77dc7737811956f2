"""Sessions on the command line."""

from pathlib import Path

from tallystick.recording.recorder import Recorder
from tallystick.recording.session_journal import JournalStore
from tallystick.recording.session_log import SessionManager
from tests.cli.conftest import DISCOUNT, Tally, TallyJson


def test_the_list_shows_every_session_with_its_first_prompt(tally: Tally, full: Path) -> None:
    lines = tally("session", "list").stdout.splitlines()
    assert len(lines) == 9
    assert lines[0].split()[:4] == ["SESSION", "AGENT", "KIND", "STATUS"]
    assert any("gptme" in line and "Write the total of" in line for line in lines)
    assert all(len(line) <= 120 for line in lines)


def test_the_list_is_filtered(tally_json: TallyJson, full: Path) -> None:
    def ids(*words: str) -> list[str]:
        return [row["source_session"] for row in tally_json("session", "list", *words)["sessions"]]

    assert ids("--agent", "gptme") == ["receipts-currency"]
    assert ids("--status", "active") == []  # all were imported: no one is there
    assert {
        "c70cf123-6122-475f-8809-1f48f9d0740d",
        "7c1f0a9e52d84b36a1e09d5c4f27b8e3",
        "a42b3437-edc3-4f9f-94df-46a5393a6b90/ac22766a05ee82a73",
    } < set(ids("--status", "completed"))
    assert len(ids("--since", "2026-11-21T22:36")) == 3
    assert len(ids("--limit", "2")) == 2


def test_a_cut_list_says_so(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    assert "Showing 2" in tally("session", "list", "--limit", "2").stderr
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
    assert "all entries are covered by a head" in shown
    found = tally_json("session", "show", "a42b3437")
    assert [request["n"] for request in found["requests"]] == [1, 51]
    assert found["session"]["tokens"]["output"] == 1591


def test_an_ambiguous_name_lists_what_it_may_mean(tally: Tally, user: Path) -> None:
    with Recorder(user / ".tally") as recorder:
        ids = [recorder.session("demo", f"same-{number}").id for number in range(2)]
    result = tally("session", "show", "same")
    assert result.exit_code == 1
    assert all(sid[:12] in result.stderr for sid in ids)


def test_what_is_not_sealed_yet_is_counted(tally: Tally, user: Path) -> None:
    with Recorder(user / ".tally") as recorder:
        session = recorder.session("demo", "open-session")
        recorder.seal()
        session.prompt("hello")
        assert "1 entries are covered by a head, 1 not yet" in tally("session", "show", "open-session").stdout


def test_the_list_is_filtered_by_run_workspace_and_parent_before_it_is_cut(
    tally: Tally, tally_json: TallyJson, user: Path
) -> None:
    with Recorder(user / ".tally") as recorder:
        root = recorder.session("demo", "the-root", run="run-1", workspace="shop", goal="ship it")
        for number in range(3):
            root.child(session=f"child-{number}").close("failed")
        other = recorder.session("demo", "other", run="run-2", workspace="shop")
        other.child(session="child-other", run="run-3")

    def ids(*words: str) -> list[str]:
        return sorted(row["source_session"] for row in tally_json("session", "list", *words)["sessions"])

    assert ids("--run", "run-1") == ["child-0", "child-1", "child-2", "the-root"]
    assert ids("--run", "run-2", "--run", "run-3") == ["child-other", "other"]
    assert len(ids("--workspace", "shop")) == 6
    assert ids("--parent", "the-root") == ["child-0", "child-1", "child-2"]
    assert ids("--parent", "other", "--status", "active") == ["child-other"]
    assert len(ids("--status", "failed", "--limit", "2")) == 2
    assert ids("--run", "run-1", "--status", "active", "--limit", "1") == ["the-root"]
    assert "no session" in tally("session", "list", "--parent", "nobody").stderr
    assert tally("session", "list", "--status", "running").exit_code == 64


def test_the_list_says_how_deep_a_session_hangs_and_what_it_cost(tally_json: TallyJson, full: Path) -> None:
    rows = {row["source_session"]: row for row in tally_json("session", "list")["sessions"]}
    child = rows["a42b3437-edc3-4f9f-94df-46a5393a6b90/ac22766a05ee82a73"]
    assert (child["depth"], child["kind"], child["checkpoints"]) == (1, "child", 0)
    assert child["cost_microusd"] > 0
    assert rows["7c1f0a9e52d84b36a1e09d5c4f27b8e3"]["unpriced_models"] != []


def test_what_a_session_is_for_and_where_it_hangs_is_shown(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    with Recorder(user / ".tally") as recorder:
        root = recorder.session("demo", "the-root", run="run-1", workspace="shop", goal="ship it")
        child = root.child(session="the-child")
        below = child.child(session="below", goal="look closer")
        below.close("error")
        root.close()
    shown = tally("session", "show", "below").stdout
    for line in (
        "status   failed",
        "goal  look closer",
        "run   run-1",
        "workspace  shop",
        f"depth  2, below {root.id[:8]}",
    ):
        name, value = line.split(maxsplit=1)
        assert any(found.split(maxsplit=1) == [name, value.strip()] for found in shown.splitlines()), line
    assert (
        f"{child.id[:8]}  child, active (left open: it did not end, although this session has)"
        in tally("session", "show", "the-root").stdout
    )
    found = tally_json("session", "show", "the-root")
    assert [(row["session"], row["status"], row["left_open"]) for row in found["children"]] == [
        (child.id, "active", True)
    ]
    assert found["total"]["by_status"] == {"active": 1, "completed": 1, "failed": 1}
    assert found["session"]["closed"] is not None


def test_what_does_not_follow_is_told_and_so_is_the_word_of_the_agent(tally: Tally, user: Path) -> None:
    with Recorder(user / ".tally") as recorder:
        session = recorder.session("demo", "odd-ends")
        session.step("session_end", status="aborted")
        session.step("session_end", status="running")
    shown = tally("session", "show", "odd-ends").stdout
    assert "active" in shown
    assert "step 3 says active (running), which does not follow from active: ignored" in shown
    with Recorder(user / ".tally") as recorder:
        recorder.session("demo", "aborted-one").step("session_end", status="aborted")
    assert "failed (reported: 'aborted')" in tally("session", "show", "aborted-one").stdout


def test_a_workflow_is_listed_and_shown_with_its_inputs_and_outputs(
    tally: Tally, tally_json: TallyJson, user: Path
) -> None:
    with SessionManager(JournalStore(user / ".tally")) as manager:
        session = manager.create("release-notes", {"version": "2.4.0"})
        session.add_event(type="user", content="write the notes")
        session.inputs = {"version": "2.5.0"}
        session.status, session.outputs = "complete", {"draft": "fine\x1b[2J", "count": 3}
        manager.update(session)
        bare = manager.create("bare")
    text = tally("session", "list").stdout
    assert "release-notes (version = 2.5.0) → " in text
    shown = tally("session", "show", session.id).stdout
    lines = [line.split(maxsplit=1) for line in shown.splitlines()]
    assert ["workflow", "release-notes"] in lines
    assert ["input", "version = 2.5.0"] in lines
    assert ["output", "count = 3"] in lines
    assert "\x1b[2J" not in shown
    found = {row["source_session"]: row["workflow"] for row in tally_json("session", "list")["sessions"]}
    assert found[session.id]["inputs"] == {"version": "2.5.0"}
    assert found[session.id]["outputs"]["count"] == 3
    assert found[bare.id] == {"name": "bare", "inputs": {}, "outputs": {}}


def test_of_many_outputs_the_first_are_shown(tally: Tally, user: Path) -> None:
    with SessionManager(JournalStore(user / ".tally")) as manager:
        session = manager.create("w", {f"name-{number:02}": "x" for number in range(25)})
        session.close()
    assert "… and 5 more; --json lists all" in tally("session", "show", session.id).stdout
