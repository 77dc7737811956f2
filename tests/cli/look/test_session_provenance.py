"""`tally session provenance`."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.model.step import Opening, Ref, SessionKind, Step
from tallystick.recording.session_writer import SessionWriter
from tests.cli.conftest import Tally, TallyJson

RECORDING = Path(__file__).parents[2] / "recordings" / "hermes" / "0.19.0" / ".hermes" / "state.db"
FIRST, SECOND, THIRD = "21511ee8-a8f0-4dbd-a825-da85930c520b", "20261121_203915_ae293e", "20261121_203918_639673"
BRANCH, IN_PLACE = "20260101_000000_branch", "a9c31a77-965f-4f81-bb6d-7e687d734c73"
CONTINUED = "c70cf123-6122-475f-8809-1f48f9d0740d"


@pytest.fixture
def hermes(tally: Tally, user: Path) -> Path:
    """A copy of the recorded `state.db`, imported."""
    path = user / ".hermes" / "state.db"
    path.parent.mkdir(parents=True)
    shutil.copy(RECORDING, path)
    assert tally("import", str(path)).exit_code == 0
    return path


def test_the_way_up_is_one_line_a_hop(tally: Tally, hermes: Path) -> None:
    lines = tally("session", "provenance", BRANCH).stdout.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("  SESSION"))
    assert [line.split()[1:3] for line in lines[start + 1 : start + 5]] == [
        ["branch", BRANCH],
        ["continuation", THIRD],
        ["continuation", SECOND],
        ["root", FIRST],
    ]
    assert lines[-1] == "  its own store says the same"


def test_everything_that_is_known_of_an_origin_is_printed(tally: Tally, tally_json: TallyJson, hermes: Path) -> None:
    said = tally_json("session", "provenance", BRANCH)
    own, third, second, first = (hop["journal"][:8] for hop in said["hops"])
    assert tally("session", "provenance", BRANCH, env={"COLUMNS": "160"}).stdout.splitlines() == [
        f"{own}  (no prompt)",
        "  agent          hermes",
        f"  agent's id     {BRANCH}",
        "  kind           branch",
        f"  depth          0 continuations since {BRANCH}",
        f"  first session  {FIRST}",
        "  compactions    none",
        f"  recorded to    entry 0, {said['sealed']['head'][:16]}…",
        "  ancestors",
        "  SESSION   KIND          AGENT'S ID                            FORKED AT",
        f"  {own}  branch        {BRANCH}                {third}:4 assistant",
        f"  {third}  continuation  {THIRD}                {second}:21 compaction",
        f"  {second}  continuation  {SECOND}                {first}:20 compaction",
        f"  {first}  root          {FIRST}",
        "  its own store says the same",
    ]


def test_the_members_of_an_origin_are_these(tally_json: TallyJson, hermes: Path) -> None:
    said = tally_json("session", "provenance", BRANCH)
    assert {name: value for name, value in said.items() if name not in ("hops", "sealed")} == {
        "version": 1,
        "agent": "hermes",
        "acpSessionId": BRANCH,
        "currentSessionId": BRANCH,
        "parentSessionId": THIRD,
        "kind": "branch",
        "depth": 0,
        "continuationRoot": BRANCH,
        "lineageRoot": FIRST,
        "reason": "branch",
        "compactions": {"count": 0, "inPlace": 0, "each": []},
        "agentStore": {"path": str(hermes), "agrees": True, "differences": []},
    }
    assert [(hop["session"], hop["kind"], hop.get("reason"), hop.get("standing")) for hop in said["hops"]] == [
        (BRANCH, "branch", "branch", "sealed"),
        (THIRD, "continuation", "compression", "sealed"),
        (SECOND, "continuation", "compression", "sealed"),
        (FIRST, "root", None, None),
    ]
    assert [(hop["began"]["n"], hop["began"]["type"]) for hop in said["hops"] if "began" in hop] == [
        (4, "assistant"),
        (21, "compaction"),
        (20, "compaction"),
    ]
    assert (said["sealed"]["session"], said["sealed"]["size"]) == (said["hops"][0]["journal"], 1)


def test_a_compaction_that_was_made_in_place_is_told_in_all_its_parts(
    tally: Tally, tally_json: TallyJson, hermes: Path
) -> None:
    said = tally_json("session", "provenance", IN_PLACE)
    last = said["compactions"]["last"]
    assert (said["compactions"]["count"], said["compactions"]["inPlace"]) == (1, 1)
    assert said["compactions"]["each"] == [last]
    assert {name: last[name] for name in last if name not in ("entry", "summarySha256")} == {
        "session": IN_PLACE,
        "n": 13,
        "at": "2026-11-21T20:39:22.103254Z",
        "mode": "in-place",
        "into": f"{IN_PLACE}~1",
        "lastBefore": "m72/0",
        "firstAfter": "m73",
        "kept": 2,
        "summarized": 6,
        "summaryChars": 37,
    }
    lines = tally("session", "provenance", IN_PLACE).stdout.splitlines()
    assert lines[4:6] == [
        f"  depth        1 continuation since {IN_PLACE}",
        f"  compactions  1, 1 in place; the last: {last['entry'][:8]}:13, in-place, 6 messages summarized, 2 kept,"
        f" summary {last['summarySha256'][:16]}…",
    ]


def test_a_compaction_is_told_in_words(tally: Tally, hermes: Path) -> None:
    shown = tally("session", "provenance", IN_PLACE).stdout
    assert "1, 1 in place; the last:" in shown
    assert "6 messages summarized, 2 kept" in shown


def test_the_samples_have_one_that_goes_on(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    assert "1 continuation since" in tally("session", "provenance", CONTINUED).stdout
    said = tally_json("session", "provenance", CONTINUED)
    assert (said["kind"], said["depth"], said["continuationRoot"]) == ("continuation", 1, CONTINUED)
    assert said["hops"][0]["standing"] == "sealed"


def test_in_hermes_words_it_is_the_payload_and_nothing_else(tally: Tally, tally_json: TallyJson, hermes: Path) -> None:
    assert tally_json("session", "provenance", FIRST, "--hermes") == {
        "acpSessionId": FIRST,
        "currentHermesSessionId": THIRD,
        "rootHermesSessionId": FIRST,
        "parentHermesSessionId": SECOND,
        "sessionKind": "continuation",
        "compressionDepth": 2,
    }
    assert '"compressionDepth": 2' in tally("session", "provenance", FIRST, "--hermes", "--rule", "later").stdout


def test_what_its_own_store_says_otherwise_is_told(tally: Tally, hermes: Path) -> None:
    with closing(sqlite3.connect(hermes)) as database:
        database.execute("UPDATE sessions SET parent_session_id = NULL WHERE id = ?", (SECOND,))
        database.execute("DELETE FROM sessions WHERE id = ?", (FIRST,))
        database.commit()
    shown = tally("session", "provenance", FIRST).stdout
    assert f"{SECOND}: recorded as continuation of {FIRST}, now root" in shown
    assert f"{FIRST}: no longer there" in shown
    hermes.unlink()
    assert "its own store cannot be compared" in tally("session", "provenance", FIRST).stdout
    assert "its own store says the same" in tally("session", "provenance", FIRST, "--store", str(RECORDING)).stdout


def test_a_chain_that_was_cut_says_where(tally: Tally, user: Path) -> None:
    with SessionWriter(Home(user / ".tally")) as session_writer:
        session_writer.open(Opening(session="b", agent="x", kind=SessionKind.CONTINUATION, parent=Ref("k", "a-gone")))
        session_writer.open(Opening(session="c", agent="x", kind=SessionKind.CONTINUATION, parent=Ref("k", "d")))
        session_writer.open(Opening(session="d", agent="x", kind=SessionKind.CONTINUATION, parent=Ref("k", "c")))
    shown = tally("session", "provenance", "b").stdout
    assert "cut here: its parent a-gone is not recorded" in shown
    assert "claimed by the agent, not sealed" in shown
    assert "parents form a cycle" in tally("session", "provenance", "c").stdout


def test_what_an_agent_calls_things_cannot_move_the_cursor(tally: Tally, user: Path) -> None:
    evil = "e\x1b[2J\nroot \u202e"
    with SessionWriter(Home(user / ".tally")) as session_writer:
        session_writer.add(
            "x", Step(session=evil, type="compaction", source_id=evil, meta={"trigger": evil, "model": evil})
        )
        session_writer.open(Opening(session="s", agent="x", kind=SessionKind.CONTINUATION, parent=Ref(evil, evil)))
        session_writer.open(Opening(session="t", agent="x", kind=SessionKind.FORK, parent=Ref(evil, evil + "gone")))
    for handle in ("s", "t"):
        for words in ((), ("--hermes",)):
            shown = tally("session", "provenance", handle, *words).stdout
            assert not {"\x1b", "\u202e", "\r"} & set(shown)
            assert not any(line.startswith("root ") for line in shown.splitlines())


def test_a_name_that_means_nothing_is_an_error_with_a_hint(tally: Tally, full: Path) -> None:
    result = tally("session", "provenance", "ffffffff")
    assert result.exit_code == 1
    assert "tally session list" in result.stderr
