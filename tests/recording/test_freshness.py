from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.anchors.kept import Kept
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.step import Step
from tallystick.recording.freshness import FIELD, began_after, keep_newest, newest
from tallystick.recording.session_writer import SessionWriter


def first_values(home: Home, session: str) -> object:
    with SessionWriter(home) as session_writer:
        taken = session_writer.add("demo", Step(session=session, type="user", values={"content.text": "x"}))
    return next(iter(read_session(home, taken.session))).values.get(FIELD)


def test_a_journal_begins_with_the_newest_word_from_outside(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    assert first_values(home, "before") is None
    kept = Kept(note=b"x", receipt="token 7", at="2026-11-22T00:00:00.000000Z", digest="ab" * 32)
    keep_newest(home, "tsa", "https://tsa.example.org", kept)
    assert first_values(home, "after") == {
        "kind": "tsa",
        "target": "https://tsa.example.org",
        "receipt": "token 7",
        "at": "2026-11-22T00:00:00.000000Z",
        "digest": "ab" * 32,
    }


@pytest.mark.parametrize("text", ["", "[]", "{", '{"kind": 7}', '{"other": "x"}'])
def test_what_is_no_such_file_is_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "trust").mkdir()
    (tmp_path / "trust" / "newest.json").write_text(text)
    assert newest(Home(tmp_path)) == {}


def test_a_session_says_after_what_it_began(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    kept = Kept(note=b"x", receipt="token 7", at="2026-11-22T00:00:00.000000Z", digest="ab" * 32)
    assert first_values(home, "before") is None
    keep_newest(home, "tsa", "https://tsa.example.org", kept)
    first_values(home, "after")
    sids = {next(iter(read_session(home, sid))).meta["source_session"]: sid for sid, _ in home.sessions()}
    assert began_after(home, sids["before"]) == {}
    assert began_after(home, sids["after"])["receipt"] == "token 7"
    assert began_after(home, "00" * 16) == {}
