"""The help: every key and every sign, from the tables that the bindings are made of."""

from __future__ import annotations

from tallystick.tui.keys import PANES, SIGNS
from tallystick.tui.theme import BOLD, DIM, PLAIN, Piece

_FIRST = "Everything shown is read from the journals. Only settings can be changed here."


def help_text() -> list[list[Piece]]:
    """The help, line by line."""
    lines: list[list[Piece]] = [[(_FIRST, DIM)]]
    for title, keys in PANES:
        lines += [[], [(title, BOLD)]]
        lines += [[(f"  {key.shown:<10}", BOLD), (key.does, PLAIN)] for key in keys]
    lines += [[], [("Signs", BOLD)]]
    lines += [[(f"  {signs:<12}", BOLD), (meaning, PLAIN)] for signs, meaning in SIGNS]
    return lines
