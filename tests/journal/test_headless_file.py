from __future__ import annotations

import os
import resource
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import JournalError
from tallystick.journal.headless_file import LogFile
from tallystick.journal.headless_read import read_log
from tallystick.sessions.session_log import Event, Log, event_members, event_record, header_record, safe_members
from tests.journal.test_headless_read import GOLDEN


@pytest.fixture
def file(tmp_path: Path) -> LogFile:
    made = LogFile(tmp_path / "s.jsonl")
    assert made.make()
    return made


def add(file: LogFile, content: str = "x") -> int:
    with file.locked():
        seq = file.last_seq + 1
        file.append(event_record({**event_members(Event(type="user", content=content)), "seq": seq}))
        return seq


def test_a_file_is_made_once_and_for_this_user_only(file: LogFile) -> None:
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert not LogFile(file.path).make()


def test_numbers_go_on_whoever_appends(file: LogFile) -> None:
    other = LogFile(file.path)
    assert [add(file), add(other), add(other), add(file)] == [1, 2, 3, 4]
    assert [event.seq for event in read_log(file.path).events] == [1, 2, 3, 4]


def test_numbers_go_on_from_the_highest_and_not_from_the_last(file: LogFile) -> None:
    file.path.write_text(
        '{"_type":"event","seq":7,"type":"user"}\n{"_TYPE":"event","SEQ":9,"type":"user"}\n{"_type":"event","seq":3,"type":"user"}\n'
    )
    assert add(file) == 10


def test_what_stands_in_the_file_is_known(file: LogFile) -> None:
    with file.locked():
        file.append(header_record(Log(id="s", inputs={"a": "b"})))
    add(file)
    other = LogFile(file.path)
    with other.locked():
        assert other.header is not None
        assert (other.header.inputs, other.footer, other.is_footed) == ({"a": "b"}, None, False)


@given(cut=st.integers(0, GOLDEN.stat().st_size))
def test_whatever_is_torn_off_the_prefix_is_read_and_what_is_appended_follows(cut: int) -> None:
    whole = GOLDEN.read_bytes()
    folder = Path(os.environ["HOME"]) / f"torn-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    path = folder / "s.jsonl"
    beside = path.with_name("s.jsonl.torn")
    beside.unlink(missing_ok=True)
    path.write_bytes(whole[:cut])
    before = read_log(path)
    lines = whole[:cut].count(b"\n") + (cut < len(whole) and whole[cut : cut + 1] == b"\n")
    assert len(before.events) == whole[: len(b"\n".join(whole.split(b"\n")[:lines]))].count(b'"_type":"event"')
    appended = add(LogFile(path), "afterwards")
    after = read_log(path)
    assert after.events[:-1] == before.events
    assert (after.events[-1].seq, after.events[-1].content) == (appended, "afterwards")
    assert not [problem for problem in after.problems if problem.kind in ("torn_tail", "bad_line")]
    tail = beside.read_bytes() if beside.exists() else b""
    kept = path.read_bytes()[: cut - len(tail.removesuffix(b"\n"))]
    assert whole[:cut] == kept + tail.removesuffix(b"\n")


def test_half_a_line_is_kept_beside_the_file_for_this_user_only(file: LogFile) -> None:
    add(file)
    with file.path.open("ab") as stream:
        stream.write(b'{"_type":"event","seq":2,"ty')
    assert add(file) == 2
    beside = file.path.with_name("s.jsonl.torn")
    assert beside.read_bytes() == b'{"_type":"event","seq":2,"ty\n'
    assert beside.stat().st_mode & 0o777 == 0o600
    assert read_log(file.path).events[1].content == "x"


def test_a_file_that_was_taken_away_is_not_made_again(file: LogFile) -> None:
    add(file)
    file.path.unlink()
    with pytest.raises(JournalError, match="cannot append"):
        add(file)
    assert not file.path.exists()


def test_a_file_that_was_replaced_is_opened_anew(file: LogFile) -> None:
    add(file)
    other = file.path.with_name("other")
    other.write_text('{"_type":"event","seq":5,"type":"user"}\n')
    other.rename(file.path)
    assert add(file) == 6


def test_a_file_that_was_cut_gives_no_number_twice(file: LogFile) -> None:
    assert [add(file), add(file)] == [1, 2]
    os.truncate(file.path, 0)
    assert add(file) == 3


@pytest.fixture
def full_disk() -> Iterator[None]:
    """A disk on which files end after 2,000 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("full_disk")
def test_of_a_line_that_the_disk_does_not_take_nothing_stays(file: LogFile) -> None:
    assert add(file) == 1
    size = file.path.stat().st_size
    with pytest.raises(JournalError, match=r"accepted|large"):
        add(file, "x" * 5_000)
    assert file.path.stat().st_size == size
    assert add(file) == 2
    assert read_log(file.path).problems[0].kind == "no_header"


def test_a_forked_child_and_its_parent_do_not_write_into_each_other(file: LogFile) -> None:
    add(file)
    child = os.fork()
    if child == 0:
        for _ in range(200):
            add(file, "child " * 300)
        os._exit(0)
    for _ in range(200):
        add(file, "parent " * 300)
    assert os.waitpid(child, 0)[1] == 0
    read = read_log(file.path)
    assert [event.seq for event in read.events] == list(range(1, 402))


def test_a_lock_that_another_thread_held_at_a_fork_does_not_hold_the_child(file: LogFile) -> None:
    add(file)
    held, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with file.locked():
            held.set()
            leave.wait(120)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(120)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if add(file) == 2 else 1)
    leave.set()
    holder.join()
    assert os.waitpid(child, 0)[1] == 0


def test_arguments_from_anywhere_are_one_line(file: LogFile) -> None:
    with file.locked():
        members = safe_members(Event(type="tool_call", args={"lone": "\ud800\n", "nan": float("nan")}))
        file.append(event_record({**members, "seq": 1}))
    assert file.path.read_bytes().count(b"\n") == 1
    assert read_log(file.path).events[0].args["lone"] == "\ufffd\n"
