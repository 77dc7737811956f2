from __future__ import annotations

import pytest

from tallystick.errors import JournalError
from tallystick.journal.home import Home
from tallystick.journal.keys import load_key, make_key


def test_a_key_is_kept_and_loaded(home: Home) -> None:
    home.key.unlink()
    made = make_key(home, b"\x05" * 32)
    assert load_key(home).public == made.public
    with pytest.raises(JournalError, match="cannot write"):
        make_key(home, b"\x06" * 32)


def test_a_broken_key_is_a_clear_error(home: Home) -> None:
    home.key.write_text("not hex")
    with pytest.raises(JournalError, match="cannot be read"):
        load_key(home)
