"""The help has all there is, and ends by the keys that one expects."""

import pytest
from textual.pilot import Pilot

from tallystick.journal.home import Home
from tallystick.tui.help import help_text
from tallystick.tui.keys import PANES, SIGNS
from tallystick.tui.pages import Page
from tests.tui.conftest import app_of, play, press


def test_every_key_and_every_sign_is_in_it() -> None:
    text = "\n".join("".join(part for part, _ in line) for line in help_text())
    for _, keys in PANES:
        for key in keys:
            assert key.shown in text
            assert key.does in text
    for signs, meaning in SIGNS:
        assert signs in text
        assert meaning in text


@pytest.mark.parametrize("key", ["escape", "q", "question_mark"])
def test_it_is_left_by(store: Home, key: str) -> None:
    async def script(pilot: Pilot[None]) -> list[bool]:
        await press(pilot, "question_mark")
        opened = isinstance(app_of(pilot).screen, Page)
        await press(pilot, key)
        return [opened, isinstance(app_of(pilot).screen, Page)]

    assert play(store, script) == [True, False]
