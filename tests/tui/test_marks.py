"""Checkpoints as rows: where they are, and whether they hold."""

import sqlite3

from tallystick.journal.home import Home
from tallystick.review.browse import Reader
from tallystick.tui.marks import Marked, mark_pieces, marks_of


def told(mark: Marked) -> str:
    return "".join(text for text, _ in mark_pieces(mark))


def marks(store: Home) -> list[Marked]:
    session = next(sid for sid, _ in store.sessions() if sid.startswith("78dde6e5"))
    reader = Reader(store)
    found = marks_of(reader, session)
    reader.close()
    return found


def test_the_newest_comes_first_with_its_place_and_its_label(store: Home) -> None:
    found = marks(store)
    assert [mark.entry.position for mark in found] == [41, 38, 4]
    assert all(mark.holds for mark in found)
    assert told(found[0]).split() == ["✔", "at", "41", "phase", found[0].entry.hash[:8], "draft"]


def test_one_whose_entry_is_another_now_is_said_to_be_broken(store: Home) -> None:
    database = sqlite3.connect(store.graph)
    database.execute("UPDATE checkpoints SET position_hash = ? WHERE position = 38", ("0" * 64,))
    database.commit()
    database.close()
    found = marks(store)
    assert [mark.holds for mark in found] == [True, False, True]
    assert "✕ broken" in told(found[1])
