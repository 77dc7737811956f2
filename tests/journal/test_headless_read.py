from __future__ import annotations

import json
from pathlib import Path

import pytest

from tallystick.errors import FormatError, NotFoundError, SourceError
from tallystick.journal import headless_read
from tallystick.journal.headless_read import detect_format, read_log

RECORDINGS = Path(__file__).parents[1] / "recordings" / "headless"
[GOLDEN] = sorted((RECORDINGS / "2026-03").rglob("*.jsonl"))
[LEGACY] = sorted((RECORDINGS / "2026-03-legacy").rglob("*.json"))


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
    monkeypatch.setattr(headless_read, "LONGEST_LINE", 1000)
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
    monkeypatch.setattr(headless_read, "LARGEST_DOCUMENT", 10)
    path = tmp_path / "s.json"
    path.write_text('{"events":[]}')
    with pytest.raises(SourceError, match="the limit is"):
        read_log(path)
