from __future__ import annotations

import json
from pathlib import Path

import pytest

from tallystick.journal.headless import FileStore
from tests.journal.test_log_reader import check_same
from tests.sessions.session_events import said


def line(seq: int, content: str = "x", **more: object) -> str:
    return json.dumps({"_type": "event", "seq": seq, "type": "user", "content": content, **more}) + "\n"


ODD_LINES = {
    "numbers that go back": line(1) + line(3) + line(2),
    "a number twice": line(1) + line(1, "y") + line(2),
    "a gap": line(4) + line(9),
    "no number": line(0) + line(0),
    "keys in capitals": '{"_TYPE":"event","SEQ":1,"TYPE":"user"}\n' + line(2),
    "half a line": line(1) + '{"_type":"event","se',
    "no end of line": line(1) + line(2).rstrip(),
    "no JSON": line(1) + "junk\n" + line(2),
    "an event without a member": '{"_type":"event","seq":1}\n' + line(2),
    "another header": '{"_type":"header","id":"other"}\n{"_type":"header","id":"s"}\n' + line(1),
    "an unknown record": '{"_type":"later"}\n' + line(1),
    "blank lines": line(1) + "\n\n" + line(2),
    "nothing": "",
}


@pytest.mark.parametrize("name", ODD_LINES)
def test_a_file_in_which_something_is_odd_is_read_as_the_whole_is(tmp_path: Path, name: str) -> None:
    store = FileStore(tmp_path)
    path = tmp_path / "s.jsonl"
    path.write_text(ODD_LINES[name])
    reader = store.reader("s")
    check_same(reader, store.load("s"))
    with path.open("a") as file:
        file.write("\n" + line(30, "later"))
    check_same(reader, store.load("s"))


def test_an_older_document_is_read_and_what_is_added_to_it_too(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(
        json.dumps({"id": "s", "events": [{"seq": 1, "type": "user"}], "status": "running"})
    )
    store = FileStore(tmp_path)
    reader = store.reader("s")
    check_same(reader, store.load("s"))
    store.append("s", said("added"))
    check_same(reader, store.load("s"))
    assert len(reader.events()) == 2
