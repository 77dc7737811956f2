"""Settings on the command line."""

from pathlib import Path

import pytest

from tests.cli.conftest import Tally, TallyJson


def test_all_settings_are_shown_with_what_they_do(tally: Tally, tally_json: TallyJson) -> None:
    shown = tally("config", "show").stdout
    for item in tally_json("config", "show"):
        assert item["key"] in shown
        assert item["does"] in shown
        assert item["is_default"]


def test_a_setting_is_changed_read_and_given_back(tally: Tally, user: Path) -> None:
    assert tally("config", "set", "output.limit", "3").stdout == "output.limit = 3\n"
    assert tally("config", "get", "output.limit").stdout == "3\n"
    assert Path(tally("config", "path").stdout.strip()).read_text() == "[output]\nlimit = 3\n"
    assert tally("config", "unset", "output.limit").stdout == "output.limit = 50 (the default)\n"


def test_a_limit_that_is_set_is_obeyed(tally: Tally, full: Path) -> None:
    tally("config", "set", "output.limit", "3")
    assert len(tally("log", "-v").stdout.splitlines()) == 3
    assert len(tally("session", "list").stdout.splitlines()) == 4
    assert len(tally("log", "-v", "--limit", "5").stdout.splitlines()) == 5


@pytest.mark.parametrize(
    "words", ["get no.such", "set no.such 1", "unset no.such", "set output.pager x", "set output.limit -1"]
)
def test_a_mistake_is_64(tally: Tally, words: str) -> None:
    result = tally("config", *words.split())
    assert result.exit_code == 64
    assert "No such option" not in result.stderr
