"""The graph around something, in all forms."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.ask.test_why import told as told
from tests.cli.conftest import Tally, TallyJson
from tests.support.asking import DATA, REPORT, SUMMARY, Told

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg.encode()).iter(f"{SVG}text")]


def test_the_picture_shows_prompt_file_and_later_prompt(tally: Tally, told: Told) -> None:
    shown = texts(tally("graph", SUMMARY, "--format", "svg").stdout)
    assert any("docs/summary.md" in text for text in shown)
    assert "“Sum up the sales in data/sales.csv.”" in shown
    assert "“Write a report on the summary.”" in shown
    assert any(text.startswith("went into 0.") for text in shown)
    assert f"{told.first[:8]}:1" in " ".join(shown)


def test_a_picture_goes_to_a_file(tally: Tally, told: Told) -> None:
    result = tally("graph", SUMMARY, "--format", "svg", "-o", "summary.svg")
    assert result.stdout == ""
    assert "summary.svg: " in result.stderr
    assert texts((told.folder / "summary.svg").read_text("utf-8"))


def test_text_shows_both_ways(tally: Tally, told: Told) -> None:
    lines = tally("graph", SUMMARY).stdout.splitlines()
    up, down = lines.index("causes"), lines.index("results")
    assert up == 0
    assert any("sales.csv" in line for line in lines[:down])
    assert any("report.md" in line for line in lines[down:])
    only = tally("graph", SUMMARY, "--direction", "down").stdout
    assert "sales.csv" not in only


@pytest.mark.parametrize(("form", "begins"), [("dot", "digraph"), ("mermaid", "flowchart LR")])
def test_other_programs_are_given_their_languages(tally: Tally, told: Told, form: str, begins: str) -> None:
    shown = tally("graph", SUMMARY, "--format", form).stdout
    assert shown.startswith(begins)
    assert "docs/summary" in shown.replace("#46;", ".")


def test_json_is_the_same_by_either_option(tally: Tally, tally_json: TallyJson, told: Told) -> None:
    by_option = tally_json("graph", SUMMARY)
    assert json.loads(tally("graph", SUMMARY, "--format", "json").stdout)["data"] == by_option
    assert by_option["direction"] == "both"
    tally("graph", SUMMARY, "--format", "json", "-o", "all.json")
    assert json.loads((told.folder / "all.json").read_text("utf-8"))["data"] == by_option
    drawn = tally_json("graph", SUMMARY, "--format", "dot")
    assert drawn["drawn"].startswith("digraph")


def test_several_starts_are_drawn_together(tally_json: TallyJson, told: Told) -> None:
    found = tally_json("graph", DATA, REPORT, "--direction", "up")
    assert len(found["start"]) >= 2
    assert {node["title"] for node in found["nodes"]} >= {f"{told.folder}/{DATA}", f"{told.folder}/{REPORT}"}


def test_a_picture_that_was_cut_says_so(tally: Tally, told: Told) -> None:
    result = tally("graph", REPORT, "--format", "svg", "--depth", "1")
    assert "… cut here" in texts(result.stdout)
    assert "not complete" in result.stderr


def test_a_start_is_needed_and_must_be_known(tally: Tally, told: Told, tmp_path: Path) -> None:
    assert tally("graph").exit_code == 64
    assert tally("graph", "nothing.at.all").exit_code == 1
    assert tally("graph", SUMMARY, "--format", "png").exit_code == 64
    assert tally("graph", SUMMARY, "--format", "svg", "-o", tmp_path / "none" / "x.svg").exit_code == 1
