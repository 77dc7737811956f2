"""Settings on the screen: what is refused is not written."""

from textual.pilot import Pilot

from tallystick.journal.home import Home
from tallystick.workspace.indexing import open_index
from tallystick.workspace.settings import SETTINGS, read_setting, set_setting
from tests.tui.conftest import play, press, seen, write

KEYS = [setting.key for setting in SETTINGS]


async def go_to(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "s")
    await write(pilot, "j" * KEYS.index(key))


def test_every_setting_is_there_with_value_and_default_and_meaning(store: Home) -> None:
    set_setting(store, "output.limit", "7")

    async def script(pilot: Pilot[None]) -> list[str]:
        await press(pilot, "s")
        found = [seen(pilot)]
        for _ in SETTINGS:
            await press(pilot, "j")
            found.append(seen(pilot))
        return found

    shown = " ".join(" ".join(play(store, script, size=(120, 40))).split())
    for setting in SETTINGS:
        assert setting.key in shown
        assert " ".join(setting.does.split())[:60] in shown
    assert "output.limit 7 set; the default is 50" in shown


def test_a_good_value_is_written_and_shown(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> str:
        await go_to(pilot, "output.limit")
        await press(pilot, "enter")
        await write(pilot, "12")
        await press(pilot, "enter")
        return seen(pilot)

    assert "✔ output.limit = 12" in play(store, script)
    assert read_setting(store, "output.limit") == 12
    with open_index(store) as index:
        sealed = index.graph.rows(
            "SELECT n FROM steps WHERE type = 'config_change' AND source_id LIKE 'config/%/output.limit'"
        )
    assert len(sealed) == 1, "each edit is a step"


def test_a_bad_value_is_refused_with_the_reason_before_anything_is_written(store: Home) -> None:
    async def script(pilot: Pilot[None]) -> tuple[str, str]:
        await go_to(pilot, "output.limit")
        await press(pilot, "enter")
        await write(pilot, "many")
        await press(pilot, "enter")
        refused = seen(pilot)
        await press(pilot, "escape")
        return refused, seen(pilot)

    refused, _ = play(store, script)
    assert "✕ output.limit cannot be set to 'many'" in refused
    assert "it must be a whole number from 1 on" in refused
    assert not store.config.exists()


def test_the_default_comes_back(store: Home) -> None:
    set_setting(store, "output.pager", "never")

    async def script(pilot: Pilot[None]) -> str:
        await go_to(pilot, "output.pager")
        await press(pilot, "u")
        return seen(pilot)

    assert "✔ output.pager = auto, the default" in play(store, script)
    assert read_setting(store, "output.pager") == "auto"


def test_a_file_that_cannot_be_read_is_told_with_what_to_do(store: Home) -> None:
    store.config.write_text("this is = = no toml")

    async def script(pilot: Pilot[None]) -> str:
        await press(pilot, "s", "enter", "u")
        return seen(pilot)

    text = play(store, script, size=(160, 40))
    assert "fix the file" in text


def test_a_value_that_a_line_cannot_hold_is_not_begun_with(store: Home) -> None:
    store.config.write_text('[policy]\nhosts = ["\\u001b[31mred"]\n')

    async def script(pilot: Pilot[None]) -> str:
        await go_to(pilot, "policy.hosts")
        shown = seen(pilot)
        await press(pilot, "enter")
        return shown

    assert "␛[31mred" in play(store, script)
