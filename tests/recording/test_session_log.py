from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tallystick.errors import JournalError, NotFoundError
from tallystick.journal import headless_file
from tallystick.journal.headless import FileStore
from tallystick.recording.session_journal import JournalStore
from tallystick.recording.session_log import FileManager, Session, SessionManager
from tallystick.sessions.session_log import Event, EventMeta, Log, TaintNode, event_from, safe_members
from tallystick.sessions.session_words import EventType, Status

_PATIENCE_SECONDS = 20
SECRET = "sk-ant-api03-" + "a1B2" * 20


@pytest.fixture(params=["files", "journals"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A manager over either kind of store."""
    store = FileStore(tmp_path / "files") if request.param == "files" else JournalStore(tmp_path / "store")
    with SessionManager(store) as made:
        yield made


def in_time(action: Callable[[], object]) -> object:
    """What an action returns; a failure if it does not return."""
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(action()), daemon=True)
    thread.start()
    thread.join(_PATIENCE_SECONDS)
    assert found, "it raised or blocked"
    return found[0]


# What the agent's own tests ask ---------------------------------------------------------------------------------------


def test_a_new_session_runs_and_keeps_what_it_was_given(manager: SessionManager) -> None:
    session = manager.create("deploy", {"env": "prod"})
    assert re.fullmatch(r"[0-9a-f]{32}", session.id)
    assert (session.workflow_name, session.status, session.inputs) == ("deploy", "running", {"env": "prod"})
    found = manager.get(session.id)
    assert (found.id, found.workflow_name, found.status, found.inputs) == (
        session.id,
        "deploy",
        "running",
        {"env": "prod"},
    )
    assert found.created_at == session.created_at


def test_a_hundred_sessions_have_a_hundred_ids() -> None:
    assert len({Session().id for _ in range(100)}) == 100


@pytest.mark.parametrize(
    "members",
    [
        {"status": "complete", "result": "done"},
        {"status": Status.FAILED, "error": "it broke"},
        {"state": {"a": [1, None]}},
    ],
    ids=["complete", "failed", "state"],
)
def test_what_is_updated_is_there_when_the_session_is_got(manager: SessionManager, members: dict[str, Any]) -> None:
    session = manager.create("w")
    for name, value in members.items():
        setattr(session, name, value)
    manager.update(session)
    found = manager.get(session.id)
    assert {name: getattr(found, name) for name in members} == members


def test_an_event_is_there_when_the_session_is_got(manager: SessionManager) -> None:
    session = manager.create("w")
    session.add_event(Event(type=EventType.TOOL_CALL, content="c", tool="bash", args={"command": "ls"}))
    [event] = manager.get(session.id).events
    assert (event.type, event.content, event.tool, event.args) == ("tool_call", "c", "bash", {"command": "ls"})
    assert event.timestamp


def test_a_session_that_is_not_there_is_not_found(manager: SessionManager) -> None:
    with pytest.raises(NotFoundError, match="no session"):
        manager.get("nothing")


def test_one_session_is_one_file_before_and_after_an_update(tmp_path: Path) -> None:
    manager = FileManager(tmp_path)
    session = manager.create("w")
    for _ in range(2):
        assert [path.name for path in tmp_path.iterdir()] == [f"{session.id}.jsonl"]
        session.status = "complete"
        manager.update(session)


def test_events_are_numbered_from_one(manager: SessionManager) -> None:
    session = manager.create("w")
    assert session.current_seq_id() == 0
    assert [session.add_event(Event(type="user", seq=77)) for _ in range(5)] == [1, 2, 3, 4, 5]
    assert session.current_seq_id() == 5
    assert [event.seq for event in session.events] == [1, 2, 3, 4, 5]


def test_correlations_differ(manager: SessionManager) -> None:
    session = manager.create("w")
    found = {session.start_correlation() for _ in range(50)}
    assert len(found) == 50
    assert all(re.fullmatch(r"[0-9a-f]{8}", one) for one in found)


def test_an_event_may_be_given_by_its_members(manager: SessionManager) -> None:
    session = manager.create("w")
    session.add_event({"type": "security_static", "meta": {"pass": True, "flags": ["a"]}})
    session.add_event(type="subagent_end", success=False, host="h")
    first, second = session.events
    assert first.meta == EventMeta(pass_=True, flags=("a",))
    assert second.success is False
    assert second.extra == {"host": "h"}


# Nothing blocks, nothing is lost --------------------------------------------------------------------------------------


def test_starting_with_nothing_keeps_the_session_as_it_is(manager: SessionManager) -> None:
    alone, kept = Session(), manager.create("w")
    for session in (alone, kept):
        in_time(lambda session=session: session.start(None))  # type: ignore[misc]
        assert in_time(lambda session=session: session.add_event(Event(type="user"))) == 1  # type: ignore[misc]
        assert len(session.events) == 1


def test_the_number_is_0_before_the_first_event() -> None:
    assert in_time(Session().current_seq_id) == 0


def test_a_session_that_was_never_started_can_be_flushed_and_closed() -> None:
    session = Session()
    session.add_event(Event(type="user", content="x"))
    assert in_time(session.flush) is None
    assert in_time(session.close) is None
    assert [event.content for event in session.events] == ["x"]


def test_closing_twice_is_as_closing_once(manager: SessionManager) -> None:
    session = manager.create("w")
    session.start(manager)
    session.add_event(Event(type="user"))
    assert in_time(session.close) is None
    assert in_time(session.close) is None
    assert len(manager.get(session.id).events) == 1


def test_flushing_after_closing_returns(manager: SessionManager) -> None:
    session = manager.create("w")
    session.add_event(Event(type="user"))
    session.close()
    assert in_time(session.flush) is None


def test_an_event_after_closing_is_recorded_and_told(manager: SessionManager) -> None:
    session = manager.create("w")
    told: list[int] = []
    session.on_event = lambda event: told.append(event.seq)
    session.close()
    assert [in_time(lambda: session.add_event(Event(type="tool_result"))) for _ in range(400)] == list(range(1, 401))
    assert told == list(range(1, 401))
    assert len(manager.get(session.id).events) == 400


def test_an_event_after_the_manager_is_closed_is_recorded_too(manager: SessionManager) -> None:
    session = manager.create("w")
    manager.close()
    assert in_time(lambda: session.add_event(Event(type="user"))) == 1
    assert in_time(session.flush) is None
    assert len(session.events) == 1


def test_a_session_goes_on_where_it_was_when_it_is_got_again(manager: SessionManager) -> None:
    session = manager.create("w")
    session.add_event(Event(type="user"))
    session.status, session.outputs = "complete", {"o": "1"}
    manager.update(session)
    session.close()
    again = manager.get(session.id)
    assert again.current_seq_id() == 1
    assert again.add_event(Event(type="user")) == 2
    assert manager.add_event(session.id, Event(type="user", content="third")) == 3
    assert [event.seq for event in manager.get(session.id).events] == [1, 2, 3]
    assert manager.get(session.id).outputs == {"o": "1"}


def test_how_a_session_stands_is_kept_by_a_flush_and_after_a_close_too(manager: SessionManager) -> None:
    session = manager.create("w")
    session.state = {"deep": [[[1, {"a": Path("/x")}]]]}
    session.flush()
    assert manager.get(session.id).state == {"deep": [[[1, {"a": "/x"}]]]}
    session.close()
    session.status = "complete"
    manager.update(session)
    assert manager.get(session.id).status == "complete"


def test_what_was_added_before_the_start_is_kept_by_it(manager: SessionManager) -> None:
    told: list[int] = []
    session = Session(Log(workflow_name="w"), on_event=lambda event: told.append(event.seq))
    session.add_event(Event(type="user", content="before"))
    session.start(manager)
    session.add_event(Event(type="user", content="after"))
    assert told == [1, 2]
    assert [event.content for event in manager.get(session.id).events] == ["before", "after"]
    session.start(manager)
    assert len(manager.get(session.id).events) == 2


def test_a_session_without_a_store_is_kept_by_an_update(manager: SessionManager) -> None:
    session = Session(Log(workflow_name="w", events=(Event(type="user", content="a"), Event(type="user", content="b"))))
    session.status = "complete"
    manager.update(session)
    found = manager.get(session.id)
    assert [(event.seq, event.content) for event in found.events] == [(1, "a"), (2, "b")]
    assert found.status == "complete"


# Who is told ----------------------------------------------------------------------------------------------------------


def test_many_threads_leave_no_gap_and_are_told_in_order(manager: SessionManager) -> None:
    session = manager.create("w")
    told: list[int] = []
    numbers: list[int] = []
    session.on_event = lambda event: told.append(event.seq)

    def add() -> None:
        for _ in range(40):
            number = session.add_event(Event(type="user"))
            assert number in told
            numbers.append(number)

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == sorted(numbers) == list(range(1, 321))
    assert [event.seq for event in session.events] == told
    times = [event.timestamp for event in session.events]
    assert len(times) == 320


def test_who_listens_may_fail_or_add_events_itself(manager: SessionManager) -> None:
    session = manager.create("w")
    told: list[int] = []

    def listen(event: Event) -> None:
        told.append(event.seq)
        if event.content == "first":
            session.add_event(Event(type="warning", content="from the listener"))
        raise RuntimeError("a listener that fails")

    session.on_event = listen
    assert session.add_event(Event(type="user", content="first")) == 1
    session.on_event = None
    assert session.add_event(Event(type="user")) == 3
    assert told == [1, 2]


def test_secrets_are_replaced_before_anybody_is_told_and_before_anything_is_kept(manager: SessionManager) -> None:
    session = manager.create("w")
    told: list[Event] = []
    for each in (session, alone := Session()):
        each.on_event = told.append
        each.add_event(Event(type="tool_call", tool="bash", args={"env": {"API_KEY": SECRET}}, content=f"key {SECRET}"))
    assert len(told) == 2
    for event in (*told, *session.events, *alone.events):
        assert SECRET not in repr(event)
        assert "‹secret:" in event.args["env"]["API_KEY"]
        assert event.tool == "bash"


def test_the_places_of_a_lineage_are_known_when_an_event_is_told(manager: SessionManager) -> None:
    session = manager.create("w")
    block = EventMeta(block_id="b0001", trust="untrusted", source="tool:web_fetch")
    session.add_event(Event(type="user"))
    session.add_event(Event(type="security_block", meta=block))
    found = manager.get(session.id)
    assert found.taint_lineage("b0001") == session.taint_lineage("b0001")
    assert session.taint_lineage("b0001")[0].event_seq == 2
    told: list[Event] = []
    found.on_event = told.append
    made_of = TaintNode(block_id="b0002", tainted_by=(TaintNode(block_id="b0001"),))
    found.add_event(Event(type="security_static", meta=EventMeta(taint_lineage=(made_of,))))
    for event in (told[0], manager.get(session.id).events[-1]):
        assert event.meta is not None
        [node] = event.meta.taint_lineage
        assert [(below.event_seq, below.depth) for below in node.tainted_by] == [(2, 1)]


def test_what_json_cannot_hold_stops_nobody(manager: SessionManager) -> None:
    session = manager.create("w")
    knot: list[object] = []
    knot.append(knot)
    args = {"path": Path("/x"), "nan": float("nan"), "knot": knot, "lone": "\ud800", "big": 2**80}
    assert session.add_event(Event(type="tool_call", tool="t", args=args)) == 1
    plain = {name: args[name] for name in ("path", "nan", "lone", "big")}
    assert session.add_event(Event(type="tool_call", tool="t", args=plain)) == 2
    session.flush()
    second = session.events[1].args
    assert (second["path"], second["nan"], second["big"]) == ("/x", "\x10tally:nan", 2**80)


REFUSED = ("success", "timestamp")
ODD: tuple[Any, ...] = (None, 5, "x", [], [1], {"a": 1}, True, 1.5, 2**70, b"\xff", [{"block_id": "b1"}])


def test_members_of_another_kind_than_they_should_be_stop_nobody(manager: SessionManager) -> None:
    session = manager.create("w")
    added = 0
    for odd in ODD:
        for name in sorted({*Event.__struct_fields__, "unheard-of", "_type", "status"} - {"extra", *REFUSED}):
            added += session.add_event({"type": "user", name: odd}) > 0
        for name in sorted(EventMeta.__struct_fields__):
            added += session.add_event({"type": "user", "meta": {name.rstrip("_"): odd}}) > 0
            added += session.add_event(Event(type="user", meta=EventMeta(**{name: odd}))) > 0
    session.flush()
    expected = len(ODD) * (len(Event.__struct_fields__) + 2 - len(REFUSED) + 2 * len(EventMeta.__struct_fields__))
    assert added == len(session.events) == expected


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (ValueError("it broke"), "ValueError: it broke"),
        ({"notes": ["é"]}, '{"notes": ["é"]}'),
        (None, ""),
        (3, "3"),
        ("text", "text"),
    ],
)
def test_a_result_and_an_error_are_kept_as_text(manager: SessionManager, said: Any, kept: str) -> None:
    session = manager.create("w")
    session.result = session.error = said
    manager.update(session)
    found = manager.get(session.id)
    assert (found.result, found.error) == (kept, kept)


# A store that refuses -------------------------------------------------------------------------------------------------


def test_what_the_store_refuses_for_now_is_kept_later_and_in_order(tmp_path: Path) -> None:
    with FileManager(tmp_path) as manager:
        session = manager.create("w")
        told: list[int] = []
        session.on_event = lambda event: told.append(event.seq)
        path = tmp_path / f"{session.id}.jsonl"
        session.add_event(Event(type="user", content="a"))
        away = path.rename(tmp_path / "away")
        assert [session.add_event(Event(type="user", content=text)) for text in "bc"] == [0, 0]
        with pytest.raises(JournalError, match=r"2 events .* not recorded yet"):
            session.flush()
        with pytest.raises(JournalError, match="not recorded yet"):
            session.close()
        away.rename(path)
        session.flush()
        assert told == [1, 2, 3]
        assert [event.content for event in manager.get(session.id).events] == ["a", "b", "c"]


def test_what_can_never_be_kept_is_told_by_a_flush_and_in_the_record(
    manager: SessionManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headless_file, "LONGEST_LINE", 1 << 20)
    session = manager.create("w")
    session.add_event(Event(type="user", content="a"))
    huge = Event(type="user", content="x" * (1 << 20)) if isinstance(manager.store, FileStore) else _unsealable()
    assert session.add_event(huge) == 0
    assert session.add_event(Event(type="user", content="b")) == session.current_seq_id()
    with pytest.raises(JournalError, match=r"1 events .* could not be recorded"):
        session.flush()
    session.flush()
    assert [event.content for event in session.events if event.type == "user"] == ["a", "b"]


def _unsealable() -> Event:
    """More fields than an entry may have."""
    return Event(type="user", meta=EventMeta(flags=tuple(f"f{number}" for number in range(9_000))), content="c")


def test_more_than_a_thousand_waiting_events_are_not_held_in_memory(tmp_path: Path) -> None:
    with FileManager(tmp_path) as manager:
        session = manager.create("w")
        path = tmp_path / f"{session.id}.jsonl"
        away = path.rename(tmp_path / "away")
        for number in range(1_010):
            session.add_event(Event(type="user", content=str(number)))
        away.rename(path)
        with pytest.raises(JournalError, match=r"10 events .* could not be recorded"):
            session.flush()
        events = manager.get(session.id).events
        assert events[0].type == "warning"
        assert events[0].content.startswith("10 events were not recorded")
        assert [int(event.content) for event in events[1:]] == list(range(10, 1_010))


# Processes ------------------------------------------------------------------------------------------------------------


def test_a_forked_child_adds_to_the_session_that_it_inherits(manager: SessionManager) -> None:
    session = manager.create("w")
    session.add_event(Event(type="user", content="parent"))
    child = os.fork()
    if child == 0:
        signal.alarm(_PATIENCE_SECONDS)
        session.add_event(Event(type="user", content="child"))
        session.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert session.add_event(Event(type="user", content="parent again")) == 3
    assert [event.content for event in session.events] == ["parent", "child", "parent again"]


# Small things ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"success": "yes"}, "success is True, False or None"),
        ({"timestamp": "2026-02-31T09:00:00Z"}, "is not a time"),
        ({"timestamp": 5}, "is not a time"),
    ],
)
def test_a_success_and_a_date_that_cannot_be_are_refused_alike_by_both_stores(
    manager: SessionManager, members: dict[str, Any], message: str
) -> None:
    session = manager.create("w")
    made = msgspec.structs.replace(Event(type="user"), **members)
    for given_ in ({"type": "user", **members}, made):
        with pytest.raises(ValueError, match=message):
            session.add_event(given_)
    assert len(session.events) == 0


def test_a_misspelt_member_type_or_status_is_refused_by_both_stores(manager: SessionManager) -> None:
    session = manager.create("w")
    with pytest.raises(TypeError, match="did you mean 'content'"):
        session.add_event(type="user", conten="x")
    with pytest.raises(ValueError, match="did you mean 'user'"):
        session.add_event(type="usr")
    with pytest.raises(ValueError, match="did you mean 'complete'"):
        session.status = "completed"
    assert (session.status, len(session.events)) == ("running", 0)


def test_an_exception_as_the_error_of_an_event_keeps_its_type_and_message(manager: SessionManager) -> None:
    session = manager.create("w")
    error: Any = FileNotFoundError("no CHANGES.md")
    session.add_event(Event(type="tool_result", error=error))
    session.add_event(type="tool_result", error=error)
    assert [event.error for event in session.events] == ["FileNotFoundError: no CHANGES.md"] * 2


def test_the_sessions_of_a_store_are_listed_newest_first(manager: SessionManager) -> None:
    assert manager.list() == []
    times = ("2026-03-25T09:00:00Z", "2026-03-25T09:30:00+02:00", "2026-03-25T11:00:00.5Z")
    for number, time in enumerate(times):
        log = Log(id=f"s{number}", workflow_name=f"w{number}", status="running", created_at=time)
        manager.store.create(log)
    newest = manager.get("s2")
    newest.add_event(Event(type="user"))
    newest.status = "complete"
    manager.update(newest)
    found = [(session.id, session.status, session.workflow_name, len(session.events)) for session in manager.list()]
    assert found == [("s2", "complete", "w2", 1), ("s0", "running", "w0", 0), ("s1", "running", "w1", 0)]


def test_a_journal_is_the_store_where_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALLY_HOME", str(tmp_path / "named"))
    with SessionManager() as manager:
        assert isinstance(manager.store, JournalStore)
        session = manager.create("w")
        session.close()
    assert (tmp_path / "named" / "ledger.jsonl").exists()


def test_the_value_of_a_session_has_its_members_and_no_events() -> None:
    session = Session(Log(id="s", workflow_name="w", state={"p": Path("/x")}, events=(Event(type="user"),)))
    log = session.as_log()
    assert (log.id, log.workflow_name, log.state, log.status, log.events) == ("s", "w", {"p": "/x"}, "running", ())
    assert session.events[0] == event_from({**safe_members(Event(type="user")), "seq": 1})
