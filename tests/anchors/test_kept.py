from __future__ import annotations

from tallystick.anchors.kept import Guarded, Kept


def test_what_a_place_keeps_is_genuine_unless_something_speaks_against_it() -> None:
    kept = Kept(note=b"x", receipt="1")
    assert (kept.at, kept.unreadable, kept.false) == (None, None, None)
    assert Guarded(keeps=None, says="").keeps is None
