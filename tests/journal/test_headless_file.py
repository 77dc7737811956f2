from __future__ import annotations

import json
import os
import resource
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import FormatError, JournalError, NotFoundError, SourceError
from tallystick.journal import headless_file
from tallystick.journal.headless_file import LogFile, detect_format, read_log
from tallystick.sessions.session_log import Event, Log, event_members, event_record, header_record, safe_members

RECORDINGS = Path(__file__).parents[1] / "recordings" / "headless"
[GOLDEN] = sorted((RECORDINGS / "2026-03").rglob("*.jsonl"))
[LEGACY] = sorted((RECORDINGS / "2026-03-legacy").rglob("*.json"))


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


# The two forms --------------------------------------------------------------------------------------------------------


def test_the_golden_session_is_read_whole() -> None:
    read = read_log(GOLDEN)
    log = read.as_log()
    assert read.problems == ()
    assert [event.seq for event in log.events] == list(range(1, 57))
    assert len({event.type for event in log.events}) == 23
    assert (log.workflow_name, log.status, log.inputs) == ("release-notes", "complete", {"version": "2.4.0"})
    assert sorted(log.outputs) == ["draft", "review"]


def test_both_forms_give_the_same_events_but_for_the_errors_that_one_loses() -> None:
    lines, document = read_log(GOLDEN), read_log(LEGACY)
    assert document.problems == ()
    different = [
        (new.seq, bool(new.error), bool(old.error))
        for new, old in zip(*(lines[1], document[1]), strict=True)
        if new != old
    ]
    assert different == [(26, False, True), (52, False, True)]
    assert lines.as_log().outputs == document.as_log().outputs
    assert lines.as_log().created_at == document.as_log().created_at


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.jsonl", None, "jsonl"),
        ("a.json", None, "json"),
        ("a.json", b'{"_type":"header"}', "json"),
        ("a", b'{"_type":"header"}', "jsonl"),
        ("a", b'{"id":"s","events":[]}', "json"),
        ("a", b"neither", "json"),
        ("a.JSONL", b'{"id":"s"}', "json"),
        ("a", b" " * 256 + b'{"_type":"header"}', "json"),
    ],
)
def test_the_form_of_a_file_is_found_by_the_agents_rules(
    tmp_path: Path, name: str, content: bytes | None, found: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    assert detect_format(tmp_path / name) == found


def test_an_empty_file_without_a_name_has_no_form_and_a_missing_one_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(FormatError, match="empty"):
        detect_format(tmp_path / "empty")
    with pytest.raises(NotFoundError, match="missing"):
        detect_format(tmp_path / "missing")
    with pytest.raises(NotFoundError, match=r"missing\.jsonl"):
        read_log(tmp_path / "missing.jsonl")
    with pytest.raises(SourceError, match="cannot read"):
        read_log(tmp_path)


# What files are like ---------------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_told_and_what_stands_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(GOLDEN.read_bytes()[:9000])
    read = read_log(path)
    assert [event.seq for event in read.events] == list(range(1, len(read.events) + 1))
    assert len(read.events) > 10
    [problem] = read.problems
    assert problem.kind == "torn_tail"
    assert GOLDEN.read_bytes()[: problem.offset].endswith(b"\n")


def test_a_last_line_that_only_lacks_its_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(GOLDEN.read_bytes().rstrip(b"\n"))
    assert read_log(path) == read_log(GOLDEN)


def test_a_line_that_is_none_is_told_and_skipped(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        b'\n{"_type":"event","seq":1,"type":"user"}\nnonsense\n\xff\n[1]\n  \n{"_type":"event","seq":2,"type":"user"}\n'
    )
    read = read_log(path)
    assert [event.seq for event in read.events] == [1, 2]
    assert [(problem.kind, problem.offset) for problem in read.problems[:3]] == [
        ("bad_line", 41),
        ("bad_line", 50),
        ("bad_line", 52),
    ]


def test_a_line_that_is_too_long_is_told_and_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headless_file, "LONGEST_LINE", 1000)
    path = tmp_path / "s.jsonl"
    lines = [
        json.dumps({"_type": "event", "seq": seq, "type": "user", "content": "x" * seq * 600}) for seq in (1, 2, 1)
    ]
    path.write_text("\n".join(lines[:2]) + "\n" + json.dumps({"_type": "event", "seq": 3, "type": "user"}) + "\n")
    read = read_log(path)
    assert [event.seq for event in read.events] == [1, 3]
    assert [problem.kind for problem in read.problems] == ["bad_line", "no_header", "number_gap"]


def test_an_error_on_an_event_is_read_though_the_agents_own_reader_loses_it(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"_type":"event","seq":1,"type":"tool_result","error":"no such file"}\n')
    assert read_log(path).events[0].error == "no such file"


def test_numbers_and_texts_are_read_as_they_are_whatever_their_size(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"_type":"event","seq":1,"type":"tool_call","args":{"n":12345678901234567890,"s":"\\ud800"}}\n')
    assert read_log(path).events[0].args == {"n": 12345678901234567890, "s": "\ud800"}


def test_bytes_that_are_no_text_are_read_as_the_agents_reader_does(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"_type":"event","seq":1,"type":"user","content":"a\xffb"}\n')
    assert read_log(path).events[0].content == "a\ufffdb"


def test_what_is_nested_without_end_is_no_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"_type":"event","seq":1,"type":"user","args":{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}}\n")
    assert read_log(path).problems[0].kind == "bad_line"


@pytest.mark.parametrize("content", [b"", b"[]", b"5", b'{"id":"s","events":[', b"\xff"])
def test_a_document_that_is_no_object_cannot_be_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match="not a JSON object"):
        read_log(path)


def test_a_document_is_a_header_events_and_a_footer() -> None:
    read = read_log(LEGACY)
    assert read.header is not None
    assert read.footer is not None
    assert (read.header.id, read.header.status) == (LEGACY.stem, "")
    assert (read.footer.id, read.footer.status) == ("", "complete")


def test_a_number_without_end_is_no_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"_type":"event","seq":1,"type":"user","args":{"n":' + "1" * 100_000 + "}}\n")
    assert read_log(path).problems[0].kind == "bad_line"


def test_a_document_may_lack_anything(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"events":[5,{"seq":1,"type":"user"}],"Status":"failed"}')
    read = read_log(path)
    assert (read.as_log().status, len(read.events)) == ("failed", 1)
    assert [problem.kind for problem in read.problems] == ["unknown_record"]


def test_a_document_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headless_file, "LARGEST_DOCUMENT", 10)
    path = tmp_path / "s.json"
    path.write_text('{"events":[]}')
    with pytest.raises(SourceError, match="the limit is"):
        read_log(path)
