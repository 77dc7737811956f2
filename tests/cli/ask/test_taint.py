"""Where something came from, as a person asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Tally, TallyJson
from tests.support.tainting import PAGE, Tainted, bring_in


@pytest.fixture
def told(user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tainted:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return bring_in(user / ".tally", folder)


def test_a_guide_leads_to_the_page(tally: Tally, told: Tainted) -> None:
    lines = tally("taint", "guide.md", env={"COLUMNS": "200"}).stdout.splitlines()
    assert lines[0] == f"{told.path('guide.md')}  untrusted  b{told.guided:04}  {told.second[:8]}:{told.guided}"
    assert lines[1].startswith(f"└─ quotes {told.path('plan.md')}  untrusted  b{told.planned:04}")
    assert lines[2].startswith(f"   └─ quotes {PAGE}  untrusted  b{told.fetched:04}  {told.first[:8]}:{told.fetched}")


def test_what_stands_above_is_referred_to(tally: Tally, told: Tainted) -> None:
    shown = tally("taint", "both.md", env={"COLUMNS": "200"}).stdout
    assert shown.count("(see above)") == 1


def test_a_step_by_a_short_name_of_its_session(tally: Tally, told: Tainted) -> None:
    shown = tally("taint", f"{told.third[:6]}:{told.mixed}").stdout
    assert shown.startswith("Bash  untrusted")
    assert "list.txt" in shown


def test_json_has_the_whole_tree(tally_json: TallyJson, told: Tainted) -> None:
    found = tally_json("taint", "guide.md")
    assert (found["trust"], found["is_sensitive"]) == ("untrusted", False)
    node = found["roots"][0]["children"][0]["children"][0]
    assert (node["source"], node["depth"], node["n"], node["session"]) == (PAGE, 2, told.fetched, told.first)


def test_nothing_tainted_says_so(tally: Tally, told: Tainted) -> None:
    shown = tally("taint", "build.log").stdout
    assert "trusted" in shown
    assert "no untrusted or secret source is recorded" in shown


def test_a_name_that_means_nothing_says_what_is_near(tally: Tally, told: Tainted) -> None:
    done = tally("taint", "giude.md")
    assert done.exit_code == 1
    assert "giude.md" in done.stderr
    assert "guide.md" in done.stderr


def test_a_session_shows_what_is_found_about_its_calls(tally: Tally, told: Tainted) -> None:
    shown = tally("taint", told.third, env={"COLUMNS": "200"}).stdout
    assert f"Bash  untrusted  {told.third[:8]}:{told.mixed}" in shown
    assert "settings.env goes into mixed.txt" in shown
    assert "no call of it follows" in tally("taint", told.first).stdout


def test_help_has_an_example(tally: Tally) -> None:
    assert "tally taint docs/plan.md" in tally("taint", "--help").stdout
