from __future__ import annotations

from tallystick.journal.archive import Archive
from tallystick.journal.erase import Grounds, erase
from tallystick.journal.file import JournalFile
from tallystick.journal.follow import follow_file
from tallystick.journal.home import Home
from tallystick.model.ids import SessionId
from tests.journal.conftest import say


def test_following_sees_what_comes_and_ends_with_the_session(home: Home, journal: JournalFile) -> None:
    said = ["b", "c"]

    def wait(_: float) -> None:
        if said:
            say(journal, said.pop(0))
        else:
            journal.append({"type": "session_end", "source": "sdk"})

    say(journal, "a")
    seen = [step for step in follow_file(home, journal.path, start_n=1, wait=wait) if step is not None]
    assert [step.values.get("content.text") for step in seen] == ["a", "b", "c", None]
    assert seen[-1].type == "session_end"


def test_a_rewritten_file_is_followed_without_seeing_steps_twice(
    home: Home, archive: Archive, journal: JournalFile
) -> None:
    say(journal, "a")
    turns = iter(range(3))

    def wait(_: float) -> None:
        turn = next(turns)
        if turn == 0:
            erase(archive, SessionId(journal.sid), 1, frozenset({"content.text"}), Grounds("request", "asked"))
            say(journal, "b")
        else:
            journal.append({"type": "session_end", "source": "sdk"})

    seen = [step.n for step in follow_file(home, journal.path, wait=wait) if step is not None]
    assert seen == [0, 1, 2, 3]


def test_following_can_be_stopped(home: Home, journal: JournalFile) -> None:
    assert [step.n for step in follow_file(home, journal.path, stop=lambda: True) if step is not None] == [0]
