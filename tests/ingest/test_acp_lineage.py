"""Our provenance, looked up: in journals, and in Hermes' own store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tallystick.ingest.acp_lineage import Lineage
from tallystick.journal.home import Home
from tallystick.model.step import Json, Opening, Ref, SessionKind, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.hermes_provenance import Rule
from tallystick.sessions.provenance import KEY
from tallystick.workspace.indexing import open_index

AGENT = "some-agent"


@pytest.fixture
def session_writer(home: Home) -> Iterator[SessionWriter]:
    with SessionWriter(home) as session_writer:
        yield session_writer


def hermes_store(folder: Path, *rows: tuple[str, str | None, str | None, str | None]) -> Path:
    """A `state.db` with these sessions: id, parent, end_reason, model_config."""
    path = folder / "state.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE sessions (id TEXT, source TEXT, parent_session_id, end_reason, model_config)")
        database.executemany("INSERT INTO sessions VALUES (?, 'acp', ?, ?, ?)", rows)
        database.commit()
    return path


def ours(members: dict[str, Json] | None) -> dict[str, Json]:
    """Our member of what is to be added."""
    assert members is not None
    assert list(members) == [KEY]
    return dict(members[KEY])


def opened(session: str, kind: SessionKind = SessionKind.ROOT, parent: str | None = None) -> Opening:
    return Opening(session=session, agent=AGENT, kind=kind, parent=Ref(session=parent) if parent else None)


def test_a_new_session_is_a_root_and_its_journal_is_named(session_writer: SessionWriter) -> None:
    account = ours(Lineage(session_writer).of_opened(opened("s"), "s"))
    record = session_writer.writer.find(AGENT, "s")
    assert record is not None
    assert (account["kind"], account["parentSessionId"]) == ("root", None)
    assert account["sealed"] == {"session": record.sid, "size": 1, "head": record.last}


def test_a_fork_hangs_on_its_parent_by_a_sealed_edge(session_writer: SessionWriter) -> None:
    lineage = Lineage(session_writer)
    lineage.of_opened(opened("s"), "s")
    account = ours(lineage.of_opened(opened("f", SessionKind.FORK, "s"), "f"))
    assert (account["kind"], account["parentSessionId"], account["lineageRoot"]) == ("fork", "s", "s")
    assert "claimed" not in account


def test_a_parent_that_is_not_recorded_is_a_claim(session_writer: SessionWriter) -> None:
    account = ours(Lineage(session_writer).of_opened(opened("f", SessionKind.FORK, "gone"), "f"))
    assert (account["parentSessionId"], account["claimed"], account["missing"]) == ("gone", True, "gone")


def test_a_continuation_that_another_process_recorded_is_a_rotation_and_told_once(
    home: Home, session_writer: SessionWriter
) -> None:
    lineage = Lineage(session_writer)
    lineage.of_opened(opened("s"), "s")
    assert lineage.of_rotation(AGENT, "s") is None
    with SessionWriter(home) as other:
        other.add(AGENT, Step(session="s", type="compaction", source_id="k"))
        other.open(Opening(session="s~1", agent=AGENT, kind=SessionKind.CONTINUATION, parent=Ref("k", "s")))
    account = ours(lineage.of_rotation(AGENT, "s"))
    assert (account["currentSessionId"], account["kind"], account["depth"]) == ("s~1", "continuation", 1)
    assert account["rotations"] == [{"from": "s", "to": "s~1"}]
    assert lineage.of_rotation(AGENT, "s") is None


def test_hermes_rows_tell_each_rotation_and_its_reason(session_writer: SessionWriter, tmp_path: Path) -> None:
    rows = [("a", None, "compression", None), ("b", "a", "turn_boundary_rollover", None), ("c", "b", None, "{}")]
    lineage = Lineage(session_writer, hermes_store(tmp_path, *rows))
    begun = Opening(session="a", agent="hermes")
    lineage.of_opened(begun, "a", "a")
    account = ours(lineage.of_rotation("hermes", "a", "c"))
    assert account["rotations"] == [
        {"from": "a", "to": "b", "reason": "compression"},
        {"from": "b", "to": "c", "reason": "turn_boundary_rollover"},
    ]
    assert (account["depth"], account["continuationRoot"]) == (2, "a")


def test_a_fork_of_which_hermes_keeps_no_parent_is_told_from_our_journal(
    session_writer: SessionWriter, tmp_path: Path
) -> None:
    lineage = Lineage(session_writer, hermes_store(tmp_path, ("a", None, None, None), ("f", None, None, None)))
    lineage.of_opened(Opening(session="a", agent="hermes"), "a")
    begun = Opening(session="f", agent="hermes", kind=SessionKind.FORK, parent=Ref(session="a"))
    account = ours(lineage.of_opened(begun, "f"))
    assert (account["kind"], account["parentSessionId"]) == ("fork", "a")


def test_a_store_of_hermes_that_cannot_be_read_leaves_what_we_recorded(
    session_writer: SessionWriter, tmp_path: Path
) -> None:
    (tmp_path / "state.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 200)
    account = ours(Lineage(session_writer, tmp_path / "state.db").of_opened(Opening(session="a", agent="hermes"), "a"))
    assert account["kind"] == "root"


def test_a_rotation_is_told_in_our_words_where_no_store_can_be_read(
    session_writer: SessionWriter, tmp_path: Path
) -> None:
    (tmp_path / "state.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 200)
    lineage = Lineage(session_writer, tmp_path / "state.db")
    lineage.of_opened(Opening(session="a", agent="hermes"), "a")
    account = ours(lineage.of_rotation("hermes", "a", "b"))
    assert (account["currentSessionId"], account["parentSessionId"], account["missing"]) == ("b", "a", "a")
    assert (account["kind"], account["claimed"]) == ("other", True)


@pytest.mark.parametrize("rule", Rule)
def test_it_can_be_told_in_hermes_words_too(session_writer: SessionWriter, rule: Rule) -> None:
    lineage = Lineage(session_writer, hermes_rule=rule)
    first = lineage.of_opened(opened("s"), "s")
    assert first is not None
    assert first["hermes"]["sessionProvenance"]["sessionKind"] == "root"
    session_writer.add(AGENT, Step(session="s", type="compaction", source_id="k"))
    session_writer.open(Opening(session="s~1", agent=AGENT, kind=SessionKind.CONTINUATION, parent=Ref("k", "s")))
    members = lineage.of_rotation(AGENT, "s")
    assert members is not None
    told = members["hermes"]["sessionProvenance"]
    assert (told["sessionKind"], told["reason"], told["previousHermesSessionId"]) == (
        "continuation",
        "compression",
        "s",
    )


def compacted(session_writer: SessionWriter, times: int) -> None:
    """The session `s`, which was compacted so often."""
    session_writer.open(opened("s"))
    for number in range(times):
        name = f"s~{number}" if number else "s"
        meta: dict[str, Json] = {"trigger": "auto", "tokens_before": 900}
        session_writer.add(AGENT, Step(session=name, type="user", source_id=f"u{number}"))
        session_writer.add(AGENT, Step(session=name, type="compaction", source_id="k", meta=meta))
        kind = SessionKind.CONTINUATION
        session_writer.open(Opening(session=f"s~{number + 1}", agent=AGENT, kind=kind, parent=Ref("k", name)))
    summary = Step(session=f"s~{times}", type="user", meta={"origin": "summary"}, values={"content.text": "in short"})
    session_writer.add(AGENT, summary)


def test_each_hop_and_the_last_compaction_are_told(session_writer: SessionWriter) -> None:
    compacted(session_writer, 2)
    account = ours(Lineage(session_writer).of_opened(opened("s"), "s"))
    assert [(hop["session"], hop["kind"], hop.get("standing")) for hop in account["hops"]] == [
        ("s~2", "continuation", "sealed"),
        ("s~1", "continuation", "sealed"),
        ("s", "root", None),
    ]
    said = account["compactions"]
    assert (said["count"], said["inPlace"]) == (2, 2)
    last = said["last"]
    assert (last["session"], last["into"], last["trigger"], last["tokensBefore"]) == ("s~1", "s~2", "auto", 900)
    assert (last["lastBefore"], last["summaryChars"], last["mode"]) == ("u1", 8, "in-place")
    assert last["entry"] == account["hops"][0]["began"]["entry"]


def test_what_goes_to_an_editor_stays_small_however_long_the_chain_is(session_writer: SessionWriter) -> None:
    compacted(session_writer, 40)
    account = ours(Lineage(session_writer).of_opened(opened("s"), "s"))
    assert (account["depth"], len(account["hops"]), account["hopsLeftOut"]) == (40, 16, 25)
    assert account["compactions"]["count"] == 40
    assert len(json.dumps(account)) < 8192


def test_what_was_sealed_outweighs_what_hermes_says_by_now(session_writer: SessionWriter, tmp_path: Path) -> None:
    session_writer.add("hermes", Step(session="a", type="compaction", source_id="k"))
    session_writer.open(Opening(session="b", agent="hermes", kind=SessionKind.CONTINUATION, parent=Ref("k", "a")))
    for rows in ([("b", None, None, None)], [("a", None, None, None), ("b", "a", None, None)]):
        folder = tmp_path / str(len(rows))
        folder.mkdir()
        account = ours(
            Lineage(session_writer, hermes_store(folder, *rows)).of_opened(Opening(session="b", agent="hermes"), "b")
        )
        assert (account["kind"], account["parentSessionId"], account["depth"]) == ("continuation", "a", 1)
        assert account["hops"][0]["standing"] == "sealed"


def test_what_only_hermes_says_is_a_claim(session_writer: SessionWriter, tmp_path: Path) -> None:
    store = hermes_store(tmp_path, ("a", None, "compression", None), ("b", "a", None, None))
    account = ours(Lineage(session_writer, store).of_opened(Opening(session="b", agent="hermes"), "b"))
    assert (account["kind"], account["claimed"], account["hops"][0]["standing"]) == ("continuation", True, "claimed")
    assert account["compactions"] == {"count": 1, "inPlace": 0}


def test_a_session_that_an_agent_goes_back_to_says_what_it_went_on_as(session_writer: SessionWriter) -> None:
    session_writer.add("hermes", Step(session="a", type="compaction", source_id="k"))
    session_writer.open(Opening(session="b", agent="hermes", kind=SessionKind.CONTINUATION, parent=Ref("k", "a")))
    begun = Opening(session="a", agent="hermes")
    assert "continuedAs" not in ours(Lineage(session_writer).of_opened(begun, "a", "a"))  # there is no index yet
    with open_index(session_writer.home):
        pass
    account = ours(Lineage(session_writer).of_opened(begun, "a", "a"))
    assert (account["currentSessionId"], account["continuedAs"]) == ("a", "b")
    assert "continuedAs" not in ours(Lineage(session_writer).of_opened(Opening(session="b", agent="hermes"), "b", "b"))
