"""Where a conversation comes from, by what is recorded: real histories, sessions that are live, stores that changed since."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from importlib import reload
from pathlib import Path
from typing import Any

import pytest

import tallystick.plugins.hermes
from tallystick.agents import adapters
from tallystick.errors import JournalError, NotFoundError
from tallystick.ingest.transcript_follower import TranscriptFollower
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.live.delivery import Delivery
from tallystick.live.helpers import Helpers
from tallystick.live.hook_pipeline import HookPipeline
from tallystick.model.decision import NO_OPINION
from tallystick.model.recorded import Recorded
from tallystick.model.step import Opening, Ref, SessionKind, Step
from tallystick.recording.recorder import Recorder
from tallystick.recording.session_writer import SessionWriter
from tallystick.review.provenance import Account, account_of, in_hermes_words
from tallystick.sessions.compactions import is_compaction
from tallystick.sessions.hermes_provenance import Rule
from tallystick.workspace.indexing import open_index
from tests.agents.hooks.recorded import recorded
from tests.support.at_once import at_once, take
from tests.support.fixtures import RECORDINGS, ImportPaths

HERMES = RECORDINGS / "hermes" / "0.19.0" / ".hermes" / "state.db"
FIRST, SECOND, THIRD = "21511ee8-a8f0-4dbd-a825-da85930c520b", "20261121_203915_ae293e", "20261121_203918_639673"
BRANCH, FORK, IN_PLACE = (
    "20260101_000000_branch",
    "b8224ee1-2df1-469b-a17c-5d158d1ae7b3",
    "a9c31a77-965f-4f81-bb6d-7e687d734c73",
)

DELEGATE = "20261121_203846_b78416"


@pytest.fixture
def hermes(tmp_path: Path, import_paths: ImportPaths) -> Path:
    """A copy of the recorded `state.db`, imported."""
    path = tmp_path / "user" / ".hermes" / "state.db"
    path.parent.mkdir(parents=True)
    shutil.copy(HERMES, path)
    assert not import_paths(path).has_errors
    return path


def told(home: Home, handle: str, **more: Any) -> Account:
    with open_index(home) as index:
        return account_of(home, index, handle, **more)


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


# Real histories --------------------------------------------------------------------------------------------------------

EXPECTED = {
    "an editor's id means what goes on under it": (FIRST, THIRD, "continuation", 2, FIRST, [THIRD, SECOND, FIRST]),
    "a branch off the tip": (BRANCH, BRANCH, "branch", 0, FIRST, [BRANCH, THIRD, SECOND, FIRST]),
    "compacted in place": (IN_PLACE, f"{IN_PLACE}~1", "continuation", 1, IN_PLACE, [f"{IN_PLACE}~1", IN_PLACE]),
    "a fork of which Hermes keeps no parent": (
        FORK,
        FORK,
        "fork",
        0,
        "bd8175fc-181d-4647-97b8-e802beb89893",
        [FORK, "bd8175fc-181d-4647-97b8-e802beb89893"],
    ),
    "a sub-agent": (DELEGATE, DELEGATE, "delegate", 0, "20261121_203843_ae9717", [DELEGATE, "20261121_203843_ae9717"]),
}


@pytest.mark.parametrize(("handle", "current", "kind", "depth", "root", "hops"), EXPECTED.values(), ids=EXPECTED)
def test_a_real_store_of_hermes_gives_these_accounts(
    home: Home, hermes: Path, handle: str, current: str, kind: str, depth: int, root: str, hops: list[str]
) -> None:
    said = told(home, handle).said
    assert (said["acpSessionId"], said["currentSessionId"]) == (handle, current)
    assert (said["kind"], said["depth"], said["lineageRoot"]) == (kind, depth, root)
    assert [hop["session"] for hop in said["hops"]] == hops
    assert all(hop["standing"] == "sealed" for hop in said["hops"][:-1])
    assert said["agentStore"] == {"path": str(hermes), "agrees": True, "differences": []}


def test_each_hop_names_the_entry_that_it_began_at(home: Home, hermes: Path) -> None:
    for hop in told(home, BRANCH).said["hops"][:-1]:
        journal, _, digest = hop["began"]["entry"].partition("#")
        (step,) = [each for each in read_session(home, journal) if each.hash == digest]
        assert (step.n, step.type) == (hop["began"]["n"], hop["began"]["type"])


def test_our_id_means_that_very_session(home: Home, hermes: Path) -> None:
    middle = told(home, SECOND).way.hops[1][1]
    assert middle.name == SECOND
    assert middle.journal is not None
    said = told(home, middle.journal).said
    assert (said["currentSessionId"], said["depth"], said["continuedAs"]) == (SECOND, 1, THIRD)
    assert "continuedAs" not in told(home, SECOND).said


def test_a_sub_agent_names_the_call_that_began_it(home: Home, hermes: Path) -> None:
    said = told(home, DELEGATE).said
    assert (said["toolCallId"], said["reason"]) == ("call_3_0", "delegate")
    assert said["hops"][0]["began"]["type"] == "tool_call"


def test_a_compaction_in_place_is_told_with_what_was_recorded_of_it(home: Home, hermes: Path) -> None:
    said = told(home, IN_PLACE).said["compactions"]
    last = said["last"]
    assert (said["count"], said["inPlace"], said["each"]) == (1, 1, [last])
    assert (last["mode"], last["session"], last["into"]) == ("in-place", IN_PLACE, f"{IN_PLACE}~1")
    assert (last["kept"], last["summarized"], last["lastBefore"], last["firstAfter"]) == (2, 6, "m72/0", "m73")
    record = next(step for step in read_session(home, told(home, IN_PLACE).current.session) if step.n == 1)
    summary = record.text("content.text")
    assert summary is not None
    assert last["summarySha256"] == sha256(summary.encode()).hexdigest()


def test_rotations_are_compactions_under_another_id(home: Home, hermes: Path) -> None:
    said = told(home, FIRST).said["compactions"]
    assert (said["count"], said["inPlace"]) == (2, 0)
    assert [(each["session"], each["into"]) for each in said["each"]] == [(FIRST, SECOND), (SECOND, THIRD)]


OTHERS = {
    "claude-code": (RECORDINGS / "claude-code" / "2.1.330", "manual"),
    "codex": (RECORDINGS / "codex" / "0.169.0-compaction", None),
}


@pytest.mark.parametrize(("folder", "trigger"), OTHERS.values(), ids=OTHERS)
def test_other_agents_compactions_are_told_alike(
    home: Home, import_paths: ImportPaths, folder: Path, trigger: str | None
) -> None:
    import_paths(folder)
    with open_index(home) as index:
        rows = index.graph.rows("SELECT source_session FROM sessions WHERE kind = 'continuation'")
    ((name,),) = rows
    account = told(home, name)
    (compaction,) = account.compactions
    assert (account.said["kind"], account.said["depth"], compaction.mode) == ("continuation", 1, "in-place")
    assert (compaction.trigger, compaction.into) == (trigger, name)
    assert compaction.summary_sha256 is not None
    assert "agentStore" not in account.said


def test_every_recorded_compaction_ends_its_session_and_is_continued_once(
    home: Home, import_paths: ImportPaths
) -> None:
    import_paths(*(RECORDINGS / name for name in ("claude-code", "codex", "hermes", "gemini-cli", "qwen-code", "pi")))
    journals = {str(sid): list(read_session(home, sid)) for sid, _ in home.sessions()}
    compactions = [step for steps in journals.values() for step in steps if is_compaction(step)]
    assert len(compactions) == 5
    for step in compactions:
        assert journals[step.session][-1].type == "session_end"
        begun = [each[0] for each in journals.values() if each[0].parents == (f"{step.session}#{step.hash}",)]
        assert [first.meta["kind"] for first in begun] == ["continuation"]


# In Hermes' words ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("handle", "expected"),
    [
        (THIRD, ("continuation", 2, FIRST, SECOND)),
        (BRANCH, ("root", 2, FIRST, THIRD)),
        (IN_PLACE, ("root", 0, IN_PLACE, None)),
        (DELEGATE, ("root", 0, "20261121_203843_ae9717", "20261121_203843_ae9717")),
    ],
)
def test_what_is_recorded_gives_the_payload_that_hermes_store_gives(
    home: Home, hermes: Path, handle: str, expected: tuple[str, int, str, str | None]
) -> None:
    found = in_hermes_words(told(home, handle), Rule.RELEASED)
    assert found is not None
    names = ("sessionKind", "compressionDepth", "rootHermesSessionId", "parentHermesSessionId")
    assert tuple(found[name] for name in names) == expected


# What does not change ----------------------------------------------------------------------------------------------------


def lasting(account: Account) -> dict[str, Any]:
    return {name: value for name, value in account.said.items() if name != "agentStore"}


CHANGES = {
    "its first session was deleted": (
        (
            "DELETE FROM sessions WHERE id = '{FIRST}'",
            "UPDATE sessions SET parent_session_id = NULL WHERE id = '{SECOND}'",
        ),
        {SECOND: "root", FIRST: "missing"},
    ),
    "a session was opened again": (
        ("UPDATE sessions SET end_reason = NULL, ended_at = NULL WHERE id = '{SECOND}'",),
        {THIRD: "other"},
    ),
    "all were deleted": (("DELETE FROM sessions",), {THIRD: "missing", SECOND: "missing", FIRST: "missing"}),
}


@pytest.mark.parametrize(("statements", "found"), CHANGES.values(), ids=CHANGES)
def test_what_hermes_does_to_its_store_later_changes_no_account_but_is_told(
    home: Home, hermes: Path, import_paths: ImportPaths, statements: tuple[str, ...], found: dict[str, str]
) -> None:
    before = lasting(told(home, FIRST))
    change(hermes, *(each.format(FIRST=FIRST, SECOND=SECOND) for each in statements))
    import_paths(hermes)
    account = told(home, FIRST)
    assert account.said["hops"] == before["hops"]
    assert account.said["compactions"] == before["compactions"]
    store = account.said["agentStore"]
    now = {
        each["session"]: each["now"] if each["now"] == "missing" else each["now"]["kind"]
        for each in store["differences"]
    }
    assert (store["agrees"], now) == (False, found)


def test_a_store_that_is_gone_or_no_store_is_said_and_nothing_else_changes(home: Home, hermes: Path) -> None:
    before = lasting(told(home, FIRST))
    hermes.unlink()
    account = told(home, FIRST)
    assert "cannot be read" in account.said["agentStore"]["error"]
    assert lasting(account) == before
    assert told(home, FIRST, store=HERMES).said["agentStore"]["agrees"] is True


def test_a_parent_whose_journal_is_gone_is_where_the_chain_was_cut(home: Home, hermes: Path) -> None:
    first = told(home, FIRST).way.hops[-1][1].journal
    assert first is not None
    path = home.journal(first)
    assert path is not None
    path.unlink()
    said = told(home, THIRD).said
    assert (said["missing"], said["cutAt"], said["depth"]) == (first, SECOND, 2)
    assert [hop["standing"] for hop in said["hops"]] == ["sealed", "sealed"]


# A program's own sessions ---------------------------------------------------------------------------------------------------


def test_two_levels_of_sub_agents_a_compaction_and_a_fork_are_all_on_the_way(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        root = recorder.session("demo", "main")
        root.prompt("go")
        following = root.compact("in short", trigger="auto", model="small", tokens={"input": 9, "output": 2})
        with following.tool_call("Task", {"tasks": [{"goal": "count"}, {"goal": "sort"}]}, call_id="call_1"):
            child = following.child("demo", "child")
            child.step("user", content={"text": "sort"}, origin="parent")
        grandchild = child.child("demo", "grandchild")
        fork = grandchild.fork("forked")
    said = told(home, "forked").said
    kinds = [(hop["session"], hop["kind"]) for hop in said["hops"]]
    assert kinds == [
        ("forked", "fork"),
        ("grandchild", "delegate"),
        ("child", "delegate"),
        ("main~1", "continuation"),
        ("main", "root"),
    ]
    assert (said["hops"][2]["toolCallId"], said["hops"][2]["taskIndex"]) == ("call_1", 1)
    assert (said["depth"], said["continuationRoot"], said["lineageRoot"]) == (0, "forked", "main")
    assert fork.id == said["sealed"]["session"]
    last = told(home, "main").said["compactions"]["last"]
    assert (last["trigger"], last["model"], last["tokens"]) == ("auto", "small", {"input": 9, "output": 2})
    assert last["summaryChars"] == len("in short")


def test_a_claimed_parent_that_is_recorded_later_is_a_claim_for_ever(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        session_writer.open(Opening(session="b", agent="x", kind=SessionKind.FORK, parent=Ref("step", "a")))
        first = told(home, "b").said
        session_writer.add("x", Step(session="a", type="user", source_id="step"))
        second = told(home, "b").said
    assert (first["missing"], first["claimed"]) == ("a", True)
    assert (second["lineageRoot"], second["claimed"]) == ("a", True)
    assert [hop.get("standing") for hop in second["hops"]] == ["claimed", None]


def test_claims_that_go_round_are_cut(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        session_writer.open(Opening(session="b", agent="x", kind=SessionKind.CONTINUATION, parent=Ref("k", "a")))
        session_writer.open(Opening(session="a", agent="x", kind=SessionKind.CONTINUATION, parent=Ref("k", "b")))
        said = told(home, "b").said
        assert in_hermes_words(told(home, "b"), Rule.RELEASED) is not None
    assert said["cycle"] is True
    assert {hop["session"] for hop in said["hops"]} == {"a", "b"}


def test_a_session_under_a_run_is_nobodys_sub_agent(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        session_writer.open(Opening(session="r", agent="run"))
        session_writer.open(
            Opening(session="s", agent="x", kind=SessionKind.CHILD, parent=Ref(session="r", agent="run"))
        )
        said = told(home, "s").said
    assert (said["kind"], said["reason"], said["lineageRoot"]) == ("other", "run", "r")


def test_a_journal_that_begins_with_nonsense_is_an_error_that_says_so(home: Home, hermes: Path) -> None:
    path = home.journal(told(home, DELEGATE).current.session)
    assert path is not None
    with path.open("r+b") as file:
        file.write(b"{" * 8)
    with pytest.raises(JournalError, match="cannot read"):
        told(home, DELEGATE)


def test_what_is_not_recorded_has_no_account(home: Home) -> None:
    with pytest.raises(NotFoundError):
        told(home, "nobody")


# HookPipeline --------------------------------------------------------------------------------------------------------


class Working:
    """Hermes at work: its store as it is at each moment, its hooks, and a recorder that hears both."""

    def __init__(self, home: Home, session_writer: SessionWriter, folder: Path) -> None:
        self.home = home
        self.session_writer = session_writer
        self.store = folder / "state.db"
        shutil.copy(HERMES, self.store)
        self.witness = TranscriptFollower(session_writer, adapters())
        self.now = 0.0
        self.live = HookPipeline(
            session_writer, Helpers(at_once(lambda _: NO_OPINION), self.witness), monotonic=lambda: self.now
        )
        self.plugin = reload(tallystick.plugins.hermes)
        self._told = 0

    def tell(self, hook: str, session: str, **members: Any) -> None:
        """Call a hook, as our plugin does."""
        self._told += 1
        place = {"hook": hook, "session": session, "at": self._told, "cwd": "/p", "database": str(self.store)}
        data = json.dumps({**place, **self.plugin._origin(session, str(self.store)), **members}).encode()
        received = f"2026-11-21T20:39:{self._told:02}.000000Z"
        take(self.live, Delivery(agent="hermes", data=data, event=hook, id=str(self._told), received=received))

    def settle(self) -> None:
        """Let the store be read, and the time pass after which what was left is closed."""
        assert self.witness.settle()
        self.now += 100.0
        while self.live.tick():
            pass

    def steps(self, session: str) -> list[Recorded]:
        record = self.session_writer.writer.find("hermes", session)
        assert record is not None, session
        return list(read_session(self.home, record.sid))


@pytest.fixture
def working(home: Home, session_writer: SessionWriter, tmp_path: Path) -> Iterator[Working]:
    working = Working(home, session_writer, tmp_path)
    yield working
    working.witness.close()


def before_the_compaction(path: Path) -> None:
    change(
        path,
        f"DELETE FROM messages WHERE session_id <> '{FIRST}' OR id > 36",
        f"DELETE FROM sessions WHERE id <> '{FIRST}'",
        "UPDATE sessions SET end_reason = NULL, ended_at = NULL",
    )


def left_and_continued(working: Working) -> None:
    """The live session hangs on the compaction of the one that was left, which has ended, once."""
    old = working.steps(FIRST)
    (compaction,) = [step for step in old if step.type == "compaction" and "corroborates" not in step.meta]
    first = working.steps(SECOND)[0]
    assert first.meta["kind"] == "continuation"
    assert first.parents == (f"{compaction.session}#{compaction.hash}",)
    assert old[-1].type == "session_end"


def test_a_live_rotation_is_a_continuation_before_the_store_was_read(working: Working) -> None:
    before_the_compaction(working.store)
    working.tell("on_session_start", FIRST, model="m", platform="acp")
    working.settle()
    shutil.copy(HERMES, working.store)
    working.tell("pre_tool_call", SECOND, tool_name="terminal", args={"command": "ls"}, tool_call_id="call_22_0")
    assert [step.type for step in working.steps(FIRST)][-1] == "compaction"
    working.settle()
    left_and_continued(working)


def test_and_after_it_was_read(working: Working) -> None:
    working.tell("on_session_start", FIRST, model="m", platform="acp")
    working.settle()
    working.tell("pre_llm_call", SECOND, user_message="go on")
    working.settle()
    left_and_continued(working)


def test_and_without_it(working: Working, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working.witness, "watch", lambda *_: None)
    working.tell("on_session_start", FIRST, model="m", platform="acp")
    working.tell("pre_llm_call", SECOND, user_message="go on")
    working.settle()
    left_and_continued(working)


def test_what_was_left_before_we_listened_is_a_claim(working: Working, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working.witness, "watch", lambda *_: None)
    working.tell("pre_llm_call", SECOND, user_message="go on")
    assert working.session_writer.writer.find("hermes", FIRST) is None
    said = told(working.home, SECOND, store=working.store).said
    assert (said["kind"], said["missing"], said["claimed"]) == ("continuation", FIRST, True)


def test_a_plugin_that_was_loaded_again_tells_it_again_and_nothing_comes_of_it(
    working: Working, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working.witness, "watch", lambda *_: None)
    working.tell("on_session_start", FIRST, model="m", platform="acp")
    working.tell("pre_llm_call", SECOND, user_message="go on")
    working.settle()
    before = len(working.steps(FIRST))
    working.plugin = reload(tallystick.plugins.hermes)
    working.tell("pre_llm_call", SECOND, user_message="and on")
    working.settle()
    assert len(working.steps(FIRST)) == before
    left_and_continued(working)


COMPACTED = {
    "claude-code": (
        "startup, --continue, /compact",
        RECORDINGS
        / "claude-code/2.1.330/.claude/projects/-home-dev-project/c70cf123-6122-475f-8809-1f48f9d0740d.jsonl",
        b'"compact_boundary"',
    ),
    "codex": (
        "auto compaction",
        RECORDINGS / "codex/0.169.0-compaction/.codex/sessions/2026/11/21"
        "/rollout-2026-11-21T22-49-20-01a2004c-c40d-7220-9bc8-b84e9f5612bb.jsonl",
        b'"type":"compacted"',
    ),
}


@pytest.mark.parametrize("agent", COMPACTED)
def test_real_hooks_and_a_growing_transcript_give_one_continuation(
    home: Home, session_writer: SessionWriter, tmp_path: Path, agent: str
) -> None:
    case, recording, mark = COMPACTED[agent]
    transcript, whole = tmp_path / recording.name, recording.read_bytes()
    session = recording.stem[-36:]
    witness = TranscriptFollower(session_writer, adapters())
    live = HookPipeline(session_writer, Helpers(at_once(lambda _: NO_OPINION), witness), monotonic=lambda: 0.0)
    before = whole[: whole.rindex(b"\n", 0, whole.index(mark)) + 1]
    transcript.write_bytes(before)
    heard: list[str] = []
    for number, hook in enumerate(hook for hook in recorded(agent, case) if hook.event != "SessionEnd"):
        if "PreCompact" in heard:
            transcript.write_bytes(whole)
        payload = {**hook.payload, "session_id": session, "transcript_path": str(transcript)}
        data = json.dumps(payload).encode()
        received = f"2026-11-21T22:50:{number:02}.000000Z"
        take(live, Delivery(agent=agent, data=data, event=hook.event, id=str(number), received=received))
        assert witness.settle()
        heard.append(hook.event)
    live.close()

    account = told(home, session)
    new, old = (list(read_session(home, str(link.journal))) for _, link in account.way.hops)
    (compaction,) = [step for step in old if is_compaction(step)]
    assert old[-1].type == "session_end"
    assert new[0].parents == (f"{compaction.session}#{compaction.hash}",)
    assert (account.said["currentSessionId"], account.said["depth"]) == (f"{session}~1", 1)
    assert "compaction-done" in [step.member("event") for step in new]
    assert "compaction-begins" in [step.member("event") for step in old]
