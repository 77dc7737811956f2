"""What is kept of sessions' states from one recorder to the next, as far as an erasure has to remove it.

Owns the mark that says what was erased last: a state that was begun before it may hold what is gone. Must not know what is
in a state.
"""

from __future__ import annotations

from tallystick.errors import JournalError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import Home
from tallystick.journal.opening import read_whole

_MARK = "erased"


def erasure_mark(home: Home) -> str:
    """What was erased last; nothing, if nothing was."""
    try:
        return read_whole(home.states / _MARK).decode("ascii", "replace")
    except (OSError, JournalError):
        return ""


def forget_states(home: Home, mark: str) -> None:
    """Remove all that is kept, and have those who hold a state in memory make it again.

    Args:
        mark: another text than at each erasure before.

    Raises:
        JournalError: the disk refused.
    """
    home.make_folder(home.states)
    replace_file(home.states / _MARK, [mark.encode("ascii", "replace")])
    for path in home.states.iterdir():
        if path.name != _MARK:
            path.unlink(missing_ok=True)
    if home.instructions.is_dir():  # texts that agents loaded: one may hold what was erased
        for path in home.instructions.iterdir():
            path.unlink(missing_ok=True)
