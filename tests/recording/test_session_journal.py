from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.agents import adapters
from tallystick.capture.discover import recognise
from tallystick.errors import JournalError, NotFoundError
from tallystick.ingest.import_ import Importer
from tallystick.journal.archive import Archive
from tallystick.journal.headless_file import read_log
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.recording import session_journal
from tallystick.recording.record import SessionRecord
from tallystick.recording.recorder import Recorder
from tallystick.recording.session_journal import JournalStore
from tallystick.recording.session_log import Session, SessionManager
from tallystick.sessions.session_log import Event, Log, safe_members
from tallystick.trust.verify import verify_store
from tests.journal.test_headless_file import GOLDEN, LEGACY
from tests.sessions.session_events import EVENTS, RUNNING, said
from tests.support.laws import examples
from tests.support.shown import shown

WRITER = Path(__file__).parents[1] / "journal" / "log_writer.py"


@pytest.fixture
def store(tmp_path: Path) -> JournalStore:
    return JournalStore(tmp_path / "store")


def steps_of(store: JournalStore, session: str = "s") -> list[Recorded]:
    home = store.recorder.home
    found = [list(read_session(home, sid, load_blobs=True)) for sid, _ in home.sessions()]
    return next(steps for steps in found if steps[0].member("source_session") == session)


def filled(store: JournalStore) -> Log:
    """The golden session, added event by event."""
    log = read_log(LEGACY).as_log()
    store.create(msgspec.structs.replace(log, events=(), status="running"))
    for event in log.events:
        store.append(log.id, safe_members(event))
    store.update(log)
    return log


# The same events ------------------------------------------------------------------------------------------------------


def test_the_golden_session_comes_back_as_it_was_added(store: JournalStore) -> None:
    log = filled(store)
    assert store.load(log.id) == log


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
@given(events=st.lists(EVENTS, max_size=6))
def test_what_is_added_comes_back(tmp_path_factory: pytest.TempPathFactory, events: list[Event]) -> None:
    store = JournalStore(tmp_path_factory.mktemp("store"))
    store.create(RUNNING)
    for event in events:
        store.append("s", safe_members(event))
    store.close()
    added = [msgspec.structs.replace(event, seq=number) for number, event in enumerate(events, start=1)]
    assert [_said(event) for event in store.load("s").events] == [_said(event) for event in added]


def _said(event: Event) -> dict[str, Json]:
    """An event as JSON; an empty `meta` says nothing, and is not kept."""
    return {key: value for key, value in safe_members(event).items() if key != "meta" or value}


def test_a_whole_session_is_what_an_import_of_its_file_gives(store: JournalStore, tmp_path: Path) -> None:
    log = filled(store)
    mine = [step for step in steps_of(store, log.id) if step.type != "checkpoint" or "seq" in step.meta]
    home = Home(tmp_path / "imported")
    Archive.make(home)
    archive = Archive(home)
    Importer(archive, adapters(), UTC).run(recognise([LEGACY], adapters()))
    archive.close()
    [(sid, _)] = home.sessions()
    theirs = list(read_session(home, sid, load_blobs=True))
    assert [step.type for step in mine] == [step.type for step in theirs]
    for own, imported in zip(mine[1:], theirs[1:], strict=True):
        assert _same_at_once(own) == _same_at_once(imported)


def _same_at_once(step: Recorded) -> tuple[Json, Json]:
    """What does not depend on when a step is recorded: a check knows its call later, and a digest is of other hashes."""
    later = {"recorded", "source", "corr", "pairing", "request"}
    meta = {key: value for key, value in step.meta.items() if key not in later}
    if isinstance(meta.get("input"), dict):
        meta["input"] = meta["input"]["steps"]
    rest = {key: value for key, value in shown(step.values.get("content.meta", {})).items() if key not in later}
    return meta, {**step.values, "content.meta": rest}


def test_an_import_of_the_file_into_the_same_store_records_nothing_twice(store: JournalStore) -> None:
    log = filled(store)
    before = store.load(log.id)
    store.close()
    archive = Archive(store.recorder.home)
    Importer(archive, adapters(), UTC).run(recognise([LEGACY], adapters()))
    archive.close()
    steps = steps_of(store, log.id)
    assert [step.type for step in steps if "corroborates" in step.meta or "revises" in step.meta] == []
    assert len([step for step in steps if step.type == "sighting"]) == 1
    assert store.load(log.id) == before


def test_members_that_nobody_knows_yet_come_back(store: JournalStore) -> None:
    store.create(RUNNING)
    store.append("s", {"type": "user", "host": "h", "meta": {"cache_read": 5}})
    [event] = store.load("s").events
    assert event.extra == {"host": "h"}
    assert event.meta is not None
    assert event.meta.extra == {"cache_read": 5}


def test_large_values_come_back(store: JournalStore) -> None:
    store.create(RUNNING)
    store.append("s", {"type": "tool_call", "tool": "write", "args": {"content": "y" * 300_000}})
    store.append("s", {"type": "tool_result", "tool": "write", "content": "x" * (3 << 20)})
    first, second = store.load("s").events
    assert (len(first.args["content"]), len(second.content)) == (300_000, 3 << 20)


# How a session stands -------------------------------------------------------------------------------------------------


def test_how_a_session_stands_comes_back_and_is_recorded_once(store: JournalStore) -> None:
    store.create(RUNNING)
    first = msgspec.structs.replace(RUNNING, state={"a": [1]}, inputs={"i": "1"})
    store.update(first)
    store.update(first)
    assert [step.type for step in steps_of(store)] == ["session_start", "session_update"]
    loaded = store.load("s")
    assert (loaded.state, loaded.inputs, loaded.status) == ({"a": [1]}, {"i": "1"}, "running")
    ended = msgspec.structs.replace(first, status="complete", state={}, result="r", outputs={"o": "1"})
    store.update(ended)
    store.update(ended)
    assert [step.type for step in steps_of(store)][2:] == ["session_end"]
    loaded = store.load("s")
    assert (loaded.status, loaded.state, loaded.result, loaded.outputs) == ("complete", {}, "r", {"o": "1"})
    store.update(msgspec.structs.replace(ended, status="failed"))
    assert store.load("s").status == "failed"


def test_a_session_that_has_ended_goes_on_and_ends_anew(store: JournalStore) -> None:
    store.create(RUNNING)
    ended = msgspec.structs.replace(RUNNING, status="complete", outputs={"o": "1"})
    store.update(ended)
    store.append("s", said())
    assert store.load("s").status == "running"
    store.update(ended)
    assert store.load("s").status == "complete"
    assert [step.type for step in steps_of(store)] == [
        *("session_start", "session_end", "session_start", "user", "session_end"),
    ]
    running = msgspec.structs.replace(ended, status="running")
    store.update(running)
    assert store.load("s").status == "running"
    assert store.load("s").outputs == {"o": "1"}


def test_a_gap_is_recorded_and_is_no_event(store: JournalStore) -> None:
    store.create(RUNNING)
    store.append("s", said("a"))
    store.note_gap("s", events=3, reason="FormatError", timestamp="2026-03-25T09:00:00Z")
    assert store.append("s", said("b")) == 2
    assert [step.type for step in steps_of(store)] == ["session_start", "user", "gap", "user"]
    assert [event.seq for event in store.load("s").events] == [1, 2]


def test_goals_that_end_are_marked_and_the_marks_are_no_events(store: JournalStore) -> None:
    log = filled(store)
    marks = [step for step in steps_of(store, log.id) if step.meta.get("trigger") == "step_complete"]
    assert [step.text("content.label") for step in marks] != []
    assert [event.seq for event in store.load(log.id).events] == list(range(1, 57))


def test_an_event_of_which_the_disk_took_half_is_recorded_whole_and_once(store: JournalStore) -> None:
    store.create(RUNNING)
    store.release("s")
    [(_, path)] = store.recorder.home.sessions()
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    reply = {"type": "assistant", "content": "x" * 20_000, "meta": {"model": "m", "tokens_in": 7}}
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 5_000, before[1]))
    try:
        assert store.append("s", reply) == 1
        with pytest.raises(JournalError, match="cannot append"):
            store.sync("s", updated_at="2026-03-25T09:00:00Z")
        with pytest.raises(JournalError, match="cannot append"):
            store.append("s", said("y" * 20_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert store.append("s", said("after")) == 2
    store.sync("s", updated_at="2026-03-25T09:00:00Z")
    assert [step.type for step in steps_of(store) if "seq" in step.meta] == ["model_call", "assistant", "user"]
    assert [len(event.content) for event in store.load("s").events] == [20_000, 5]
    store.close()


def test_on_a_full_disk_a_refused_event_reads_nothing_again(
    store: JournalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.create(RUNNING)
    for number in range(200):
        store.append("s", said(f"event {number}"))
    store.release("s")
    assert store.last_seq("s") == 200  # all of it is read
    read: list[str] = []

    def again(*_: object, **__: object) -> tuple[()]:
        read.append("again")
        return ()

    monkeypatch.setattr(session_journal, "read_file", again)
    monkeypatch.setattr(SessionRecord, "_take", lambda *_: read.append("entry"))
    [(_, path)] = store.recorder.home.sessions()
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, before[1]))
    try:
        for _ in range(5):
            with pytest.raises(JournalError, match="cannot append"):
                store.append("s", said("refused"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert read == []
    assert store.append("s", said("after")) == 201


def test_an_id_that_the_agent_gives_twice_loses_nothing(store: JournalStore) -> None:
    store.create(RUNNING)
    for seq in range(1, 4):
        corr = "#2" if seq == 1 else "x/result" if seq == 2 else "#2"
        assert store.append("s", {"type": "tool_call", "tool": "t", "corr_id": corr, "args": {"n": 1}}) == seq
    store.append("s", {"type": "tool_call", "tool": "t", "corr_id": "x"})
    store.append("s", {"type": "tool_result", "tool": "t", "corr_id": "x"})
    events = store.load("s").events
    assert [(event.seq, event.corr_id) for event in events] == [
        *((1, "#2"), (2, "x/result"), (3, "#2"), (4, "x"), (5, "x")),
    ]


def test_a_session_that_is_not_there_is_not_found(store: JournalStore) -> None:
    for ask in (store.load, store.last_seq):
        with pytest.raises(NotFoundError, match="no session"):
            ask("nothing")
    with pytest.raises(NotFoundError, match="no session"):
        store.append("nothing", said())


def test_secrets_are_kept_where_the_settings_say_so(tmp_path: Path) -> None:
    JournalStore(tmp_path).close()
    (tmp_path / "config.toml").write_text('[secrets]\nscrub = "off"\n')
    store = JournalStore(tmp_path)
    secret = "sk-ant-api03-" + "a1B2" * 20
    assert store.clean({"content": secret})["content"] == secret


# Many writers ---------------------------------------------------------------------------------------------------------


def test_many_threads_in_many_sessions_leave_no_gap(store: JournalStore) -> None:
    names = [f"s{number}" for number in range(80)]
    for name in names:
        store.create(msgspec.structs.replace(RUNNING, id=name))

    def add() -> None:
        for name in names:
            store.append(name, said())

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {store.last_seq(name) for name in names} == {4}
    assert [event.seq for event in store.load("s7").events] == [1, 2, 3, 4]
    store.close()


def test_a_second_store_in_the_same_process_goes_on_with_the_numbers(store: JournalStore) -> None:
    other = JournalStore(store.recorder.home.folder)
    store.create(RUNNING)
    assert [each.append("s", said()) for each in (store, other, other, store, other)] == [1, 2, 3, 4, 5]
    assert other.load("s") == store.load("s")
    store.close()
    other.close()


def start(store: JournalStore, events: int, name: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(WRITER), "journals", str(store.recorder.home.folder), "s", str(events), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=Path(__file__).parents[2])


def test_two_processes_leave_no_gap_and_the_record_is_sound(store: JournalStore) -> None:
    store.create(RUNNING)
    store.release("s")
    writers = [start(store, 60, name) for name in ("one", "two")]
    numbers = [int(line) for writer in writers for line in writer.communicate()[0].split()]
    assert sorted(numbers) == list(range(1, 121))
    assert [event.seq for event in store.load("s").events] == list(range(1, 121))
    store.close()
    assert verify_store(store.recorder.home).exit_code == 0


def test_after_a_kill_everything_acknowledged_is_there_and_the_session_goes_on(store: JournalStore) -> None:
    store.create(RUNNING)
    store.release("s")
    chance = random.Random(7)
    told = 0
    for _ in range(2):
        writer = start(store, 100_000, "killed")
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(chance.random() / 4)
        writer.kill()
        told += 1 + len(writer.communicate()[0].split(b"\n")[:-1])
    events = store.load("s").events
    assert len(events) >= told > 3
    assert store.append("s", said("afterwards")) == len(events) + 1
    assert [event.seq for event in store.load("s").events] == list(range(1, len(events) + 2))
    store.close()
    assert verify_store(store.recorder.home).exit_code == 0


def test_a_recorder_of_our_own_may_add_to_the_session(store: JournalStore) -> None:
    store.create(RUNNING)
    store.append("s", said("a"))
    with Recorder(store.recorder.home.folder) as recorder:
        recorder.session("headless", "s").step("feedback", content={"text": "good"})
    assert store.append("s", said("b")) == 2
    assert [event.content for event in store.load("s").events] == ["a", "b"]


def test_a_file_that_was_imported_goes_on_live(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    Archive.make(home)
    archive = Archive(home)
    Importer(archive, adapters(), UTC).run(recognise([GOLDEN], adapters()))
    archive.close()
    with SessionManager(home=home.folder) as manager:
        session: Session = manager.get(GOLDEN.stem)
        assert session.current_seq_id() == 56
        assert session.add_event(Event(type="warning", content="later")) == 57
        assert len(session.events) == 57
