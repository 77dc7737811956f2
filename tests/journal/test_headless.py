from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.errors import FormatError, JournalError, NotFoundError, UsageError
from tallystick.journal import headless_file
from tallystick.journal.headless import FileStore
from tallystick.journal.headless_file import read_log
from tallystick.sessions.session_log import Event, EventMeta, safe_members
from tests.journal.test_headless_file import GOLDEN, LEGACY
from tests.sessions.session_events import EVENTS, RUNNING, said
from tests.support.laws import examples

WRITER = Path(__file__).with_name("log_writer.py")


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "sessions")


# Byte for byte --------------------------------------------------------------------------------------------------------


def test_the_golden_session_is_written_byte_for_byte_but_for_its_superseded_footers(store: FileStore) -> None:
    golden = GOLDEN.read_bytes().splitlines()
    footers = [line for line in golden if b'"_type":"footer"' in line]
    log = read_log(GOLDEN).as_log()
    store.save(log)
    assert (store.folder / f"{log.id}.jsonl").read_bytes().splitlines() == [
        line for line in golden if line not in footers[:-1]
    ]


def test_the_golden_session_is_written_byte_for_byte_as_it_happens(store: FileStore) -> None:
    golden = GOLDEN.read_bytes().splitlines(keepends=True)
    log = read_log(GOLDEN).as_log()
    times = [
        re.findall(rb'"updated_at":"([^"]+)"', line)[-1].decode() for line in golden if b'"_type":"footer"' in line
    ]
    began = msgspec.structs.replace(log, events=(), status="running", outputs={}, updated_at=times[0])
    store.create(began)
    for number, event in enumerate(log.events, start=1):
        assert store.append(log.id, safe_members(event)) == number
        if number in (45, 56):
            store.sync(log.id, updated_at=times[1 if number == 45 else 2])
    store.update(msgspec.structs.replace(log, updated_at=times[3]))
    written = (store.folder / f"{log.id}.jsonl").read_bytes().splitlines(keepends=True)
    assert written == golden


def test_the_error_of_an_event_is_written_and_read(store: FileStore) -> None:
    log = read_log(LEGACY).as_log()
    store.save(log)
    assert store.load(log.id) == log
    assert [event.seq for event in store.load(log.id).events if event.error] == [26, 52]


@pytest.mark.parametrize(("original", "name"), [(GOLDEN, "renamed.jsonl"), (LEGACY, "renamed.json")])
def test_a_file_that_was_renamed_is_read_and_written_under_its_name(
    store: FileStore, original: Path, name: str
) -> None:
    shutil.copy(original, store.folder / name)
    log = store.load("renamed")
    assert log.id == read_log(original).as_log().id
    assert store.append(log.id, safe_members(Event(type="user", content="late"))) == 57
    assert store.load(log.id).events[-1].content == store.load("renamed").events[-1].content == "late"
    assert {path.stem for path in store.folder.iterdir()} == {"renamed"}


def test_a_copy_beside_its_original_is_a_session_of_its_own(store: FileStore) -> None:
    log = read_log(GOLDEN).as_log()
    store.save(log)
    shutil.copy(store.folder / f"{log.id}.jsonl", store.folder / "copy.jsonl")
    assert store.load("copy").id == "copy"
    store.append("copy", safe_members(Event(type="user", content="late")))
    assert (len(store.load("copy").events), len(store.load(log.id).events)) == (57, 56)


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
@given(events=st.lists(EVENTS, max_size=6), data=st.data())
def test_what_is_saved_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, events: list[Event], data: st.DataObject
) -> None:
    store = FileStore(tmp_path_factory.mktemp("files"))
    numbered = tuple(msgspec.structs.replace(event, seq=number) for number, event in enumerate(events, start=1))
    first = data.draw(st.integers(0, len(numbered)))
    store.save(msgspec.structs.replace(RUNNING, events=numbered[:first]))
    store.save(msgspec.structs.replace(RUNNING, events=numbered))
    assert [safe_members(event) for event in store.load("s").events] == [safe_members(event) for event in numbered]


# Nothing twice, nothing lost ------------------------------------------------------------------------------------------


def test_saving_again_or_from_a_second_store_appends_no_event_again(store: FileStore) -> None:
    log = read_log(GOLDEN).as_log()
    for _ in range(2):
        store.save(log)
        FileStore(store.folder).save(log)
    assert store.load(log.id) == log
    assert read_log(store.folder / f"{log.id}.jsonl").problems == ()


def test_an_event_whose_number_another_one_has_gets_a_new_one(store: FileStore) -> None:
    first = msgspec.structs.replace(RUNNING, events=(Event(type="user", seq=1, content="a"),))
    other = msgspec.structs.replace(RUNNING, events=(Event(type="user", seq=1, content="b"),))
    store.save(first)
    store.save(other)
    store.save(first)
    assert [(event.seq, event.content) for event in store.load("s").events] == [(1, "a"), (2, "b")]


def test_what_json_cannot_hold_is_saved_once(store: FileStore) -> None:
    args = {"nan": float("nan"), "lone": "\ud800", "mark": "\x10tally:nan", "at": Path("/x"), "big": 2**70}
    log = msgspec.structs.replace(RUNNING, events=(Event(type="user", seq=1, args=args),))
    store.save(log)
    before = (store.folder / "s.jsonl").read_bytes()
    store.save(log)
    assert (store.folder / "s.jsonl").read_bytes().count(b'"_type":"event"') == before.count(b'"_type":"event"') == 1
    [event] = store.load("s").events
    assert event.args == {**args, "nan": "\x10tally:nan", "lone": "\ufffd", "at": "<pathlib.PosixPath>"}
    other = FileStore(store.folder / "other")
    other.save(store.load("s"))
    assert (other.folder / "s.jsonl").read_bytes() == before


def test_events_without_numbers_are_numbered_in_order_and_not_saved_again(store: FileStore) -> None:
    log = msgspec.structs.replace(RUNNING, events=tuple(Event(type="user", content=text) for text in "abc"))
    store.save(log)
    store.save(log)
    assert [(event.seq, event.content) for event in store.load("s").events] == [(1, "a"), (2, "b"), (3, "c")]


def test_one_event_that_cannot_be_written_does_not_hold_up_the_next(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(headless_file, "LONGEST_LINE", 2 << 20)
    store.create(RUNNING)
    with pytest.raises(FormatError, match="a line of 3 MB; the limit is 2 MB"):
        store.append("s", said("x" * (3 << 20)))
    assert store.append("s", said("next")) == 1


def test_a_line_of_megabytes_is_written_and_read(store: FileStore) -> None:
    store.create(RUNNING)
    store.append("s", said("x" * (3 << 20)))
    assert len(store.load("s").events[0].content) == 3 << 20


def test_secrets_are_replaced_before_anything_is_written(store: FileStore) -> None:
    store.create(RUNNING)
    members = safe_members(Event(type="tool_call", args={"env": {"API_KEY": "sk-ant-api03-" + "a1B2" * 20}}))
    store.append("s", members)
    text = (store.folder / "s.jsonl").read_text()
    assert "sk-ant-api03" not in text
    assert "‹secret:" in text


def test_how_a_session_stands_survives_and_the_last_word_counts(store: FileStore) -> None:
    store.create(RUNNING)
    store.update(msgspec.structs.replace(RUNNING, state={"b": 1, "a": [True, None]}, inputs={"v": "1"}))
    assert (store.load("s").state, store.load("s").inputs, store.load("s").status) == (
        {"a": [True, None], "b": 1},
        {"v": "1"},
        "running",
    )
    store.update(msgspec.structs.replace(RUNNING, status="failed", error="no", outputs={"o": "1"}, result="r"))
    loaded = store.load("s")
    assert (loaded.status, loaded.error, loaded.outputs, loaded.result) == ("failed", "no", {"o": "1"}, "r")


def test_a_flush_does_not_undo_what_another_process_said_of_the_session(store: FileStore) -> None:
    store.create(RUNNING)
    store.append("s", said())
    other = FileStore(store.folder)
    other.update(msgspec.structs.replace(RUNNING, status="complete"))
    store.append("s", said())
    store.sync("s", updated_at="2026-03-25T09:00:01Z")
    assert store.load("s").status == "complete"


def test_a_flush_with_nothing_new_writes_no_footer(store: FileStore) -> None:
    store.create(RUNNING)
    before = (store.folder / "s.jsonl").read_bytes()
    store.sync("s", updated_at="2026-03-25T09:00:01Z")
    assert (store.folder / "s.jsonl").read_bytes() == before


# Files ----------------------------------------------------------------------------------------------------------------


def test_folders_and_files_are_for_this_user_only(store: FileStore) -> None:
    store.create(RUNNING)
    assert store.folder.stat().st_mode & 0o777 == 0o700
    assert (store.folder / "s.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("session", ["", "../x", "a/b", ".hidden", "a\n", "\x1b[2J", "x" * 300])
def test_an_id_that_is_no_name_of_a_file_is_refused(store: FileStore, session: str) -> None:
    with pytest.raises(UsageError, match="cannot be the id"):
        store.create(msgspec.structs.replace(RUNNING, id=session))
    with pytest.raises(UsageError, match="cannot be the id"):
        store.load(session)


def test_what_is_not_there_is_not_found(store: FileStore) -> None:
    with pytest.raises(NotFoundError, match="no session nothing"):
        store.load("nothing")
    with pytest.raises(NotFoundError, match="no session nothing"):
        store.append("nothing", said())


def test_the_sessions_of_a_folder_are_its_files_of_either_form(store: FileStore) -> None:
    assert store.sessions() == []
    for name in ("b.jsonl", "a.json", "a.jsonl", "a.jsonl.torn", "notes.md", "-x.jsonl"):
        store.folder.joinpath(name).touch()
    assert store.sessions() == ["a", "b"]


def test_a_folder_that_cannot_be_read_says_so(store: FileStore) -> None:
    store.folder.rmdir()
    with pytest.raises(JournalError, match="cannot read the folder"):
        store.sessions()


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match="cannot make the folder"):
        FileStore(tmp_path / "file" / "sessions")


def test_an_older_document_is_found_and_goes_on_as_lines(store: FileStore) -> None:
    older = store.folder / LEGACY.name
    older.write_bytes(LEGACY.read_bytes())
    log = store.load(LEGACY.stem)
    assert len(log.events) == 56
    assert store.append(log.id, said("late")) == 57
    assert older.read_bytes() == LEGACY.read_bytes()
    assert store.load(log.id).events[:-1] == log.events


def test_more_sessions_than_can_be_open_are_written_one_after_the_other(store: FileStore) -> None:
    names = [f"s{number}" for number in range(100)]
    for name in names:
        store.create(msgspec.structs.replace(RUNNING, id=name))
    for _ in range(2):
        for name in names:
            store.append(name, said())
    store.settle()
    store.close()
    assert {len(store.load(name).events) for name in names} == {2}


# Many writers ---------------------------------------------------------------------------------------------------------


def test_many_threads_leave_no_gap(store: FileStore) -> None:
    store.create(RUNNING)
    numbers: list[int] = []
    threads = [
        threading.Thread(target=lambda: numbers.extend(store.append("s", said()) for _ in range(100))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(1, 801))
    assert read_log(store.folder / "s.jsonl").problems == ()


def start(store: FileStore, events: int, name: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(WRITER), "files", str(store.folder), "s", str(events), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=Path(__file__).parents[2])


def test_two_processes_leave_no_gap_and_write_nothing_twice(store: FileStore) -> None:
    store.create(RUNNING)
    writers = [start(store, 150, name) for name in ("one", "two")]
    numbers = [int(line) for writer in writers for line in writer.communicate()[0].split()]
    assert sorted(numbers) == list(range(1, 301))
    read = read_log(store.folder / "s.jsonl")
    assert [event.seq for event in read.events] == list(range(1, 301))
    assert {event.content.split("-")[0] for event in read.events} == {"one", "two"}


def test_after_a_kill_everything_acknowledged_is_there_and_the_file_goes_on(store: FileStore) -> None:
    store.create(RUNNING)
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
    assert len(events) >= told > 2
    assert store.append("s", said()) == len(events) + 1
    read = read_log(store.folder / "s.jsonl")
    assert [event.seq for event in read.events] == list(range(1, len(events) + 2))
    assert {problem.kind for problem in read.problems} <= {"clock_back"}


def test_on_a_full_disk_nothing_is_torn_and_closing_says_what_is_missing(store: FileStore) -> None:
    store.create(RUNNING)
    writer = start(store, 40, "small-disk")
    out, error = writer.communicate()
    assert writer.returncode == 1
    assert b"not recorded yet" in error
    read = read_log(store.folder / "s.jsonl")
    assert [event.seq for event in read.events] == [int(line) for line in out.split()] != []
    assert read.problems == ()


# Failing system calls -------------------------------------------------------------------------------------------------

STRACE = shutil.which("strace")


def can_trace() -> bool:
    probe = [str(STRACE), "-qq", "-o", "/dev/null", "true"]
    return STRACE is not None and subprocess.run(probe, capture_output=True, check=False).returncode == 0


def under_a_fault(store: FileStore, fault: str) -> None:
    """Whatever call on its file fails, what a writer acknowledged is there, in order, and the file goes on."""
    store.create(RUNNING)
    path = store.folder / "s.jsonl"
    trace = [str(STRACE), "-f", "-qq", "-o", "/dev/null", "-P", str(path), "-e", f"inject={fault}"]
    command = [sys.executable, str(WRITER), "files", str(store.folder), "s", "12", "traced"]
    done = subprocess.run(
        [*trace, *command], capture_output=True, timeout=120, check=False, cwd=Path(__file__).parents[2]
    )
    told = [int(line) for line in done.stdout.split()]
    assert {event.seq for event in store.load("s").events} >= set(told)
    store.append("s", said("afterwards"))
    read = read_log(path)
    assert [event.seq for event in read.events] == list(range(1, len(read.events) + 1))
    assert {problem.kind for problem in read.problems} <= {"clock_back"}
    assert len(read.events) == 13 or done.returncode != 0


needs_strace = pytest.mark.skipif(not can_trace(), reason="strace is not installed, or may not trace here")


@needs_strace
@pytest.mark.parametrize(
    "fault",
    [
        "fdatasync:error=EIO:when=1",
        *(
            pytest.param(fault, marks=pytest.mark.soak)
            for fault in (
                "write:error=EIO:when=3",
                "write:error=ENOSPC:when=5+2",
                "write:signal=SIGKILL:when=4",
                "write:retval=7:when=3",
                "flock:error=EIO:when=3",
                "flock:error=EIO:when=4",
                "openat:error=EMFILE:when=2",
            )
        ),
    ],
)
def test_a_failing_call_loses_nothing_that_was_acknowledged(store: FileStore, fault: str) -> None:
    under_a_fault(store, fault)


@needs_strace
@pytest.mark.soak
@pytest.mark.parametrize("nth", range(1, 13))
@pytest.mark.parametrize("call", ["fdatasync", "flock", "openat", "read", "write"])
@pytest.mark.parametrize("fault", ["error=EIO", "error=ENOSPC", "signal=SIGKILL"])
def test_any_failing_call_loses_nothing_that_was_acknowledged(
    store: FileStore, call: str, nth: int, fault: str
) -> None:
    under_a_fault(store, f"{call}:{fault}:when={nth}")


def test_where_the_agents_reader_takes_text_alone_other_values_are_written_as_text(store: FileStore) -> None:
    values = {"n": 1, "list": ["é", None], "text": "as it is"}
    store.create(msgspec.structs.replace(RUNNING, inputs=values, outputs=values))
    store.append("s", safe_members(Event(type="subagent_start", meta=EventMeta(subagent_inputs=values))))
    loaded, texts = store.load("s"), {"n": "1", "list": '["é", null]', "text": "as it is"}
    assert loaded.events[0].meta == EventMeta(subagent_inputs=texts)
    assert (loaded.inputs, loaded.outputs) == (texts, texts)
    before = (store.folder / "s.jsonl").read_bytes()
    store.update(msgspec.structs.replace(RUNNING, inputs=values))
    assert (store.folder / "s.jsonl").read_bytes().count(b'"header"') == before.count(b'"header"')


def test_meta_of_every_kind_is_written_as_the_agent_writes_it(store: FileStore) -> None:
    store.create(RUNNING)
    meta = EventMeta(subagent_inputs={"b": "<x>", "a": "1"}, entropy=4.0)
    store.append(
        "s",
        safe_members(Event(type="subagent_start", timestamp="2026-03-25T09:00:00Z", meta=meta, args={"z": 1, "y": 2})),
    )
    line = (store.folder / "s.jsonl").read_text().splitlines()[-1]
    assert '"args":{"y":2,"z":1}' in line
    assert '"meta":{"entropy":4,"subagent_inputs":{"a":"1","b":"\\u003cx\\u003e"}}' in line
