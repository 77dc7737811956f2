from __future__ import annotations

import stat

import pytest

from tallystick.errors import JournalError
from tallystick.journal.home import Home
from tallystick.journal.kept_states import erasure_mark, forget_states


def test_what_is_kept_is_removed_and_the_mark_says_what_was_erased_last(home: Home) -> None:
    assert erasure_mark(home) == ""
    home.make_folder(home.states)
    (home.states / "a.state").write_bytes(b"x")
    forget_states(home, "7")
    assert [path.name for path in home.states.iterdir()] == ["erased"]
    assert erasure_mark(home) == "7"
    assert stat.S_IMODE((home.states / "erased").stat().st_mode) == 0o600
    forget_states(home, "9")
    assert erasure_mark(home) == "9"


def test_a_disk_that_refuses_is_told_of(home: Home) -> None:
    home.states.write_text("a file where the folder would be")
    with pytest.raises(JournalError):
        forget_states(home, "7")
