"""One table of keys: what it says is what is bound, shown and written down."""

import re
from pathlib import Path

from tallystick.tui.app import Browser
from tallystick.tui.keys import PANES, SIGNS, bindings, hints
from tallystick.tui.rows import Rows
from tallystick.tui.tree import Tree

ALL = [key for _, keys in PANES for key in keys]


def test_every_action_of_the_table_is_there() -> None:
    for key in ALL:
        if key.action:
            assert hasattr(Browser, f"action_{key.action.partition('(')[0]}"), key


def test_no_key_means_two_things() -> None:
    taken: list[str] = []
    for binding in [*bindings(), *Rows.BINDINGS, *Tree.BINDINGS]:
        assert not isinstance(binding, tuple)
        taken += binding.key.split(",")
    assert sorted(taken) == sorted(set(taken))


def test_every_key_is_shown_once_and_says_what_it_does() -> None:
    shown = [key.shown for key in ALL]
    assert len(shown) == len(set(shown))
    assert all(key.does for key in ALL)


def test_leaving_and_the_help_are_the_first_hints() -> None:
    assert [word for _, word in hints()][:2] == ["quit", "help"]


def test_the_page_has_every_key_and_every_sign() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tui.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(.+?)` \| (.+) \|$", page, re.MULTILINE))
    assert rows == {**{key.shown: key.does for key in ALL}, **dict(SIGNS)}
