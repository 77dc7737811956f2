from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path

import pytest

from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.model.step import Json, Opening, Step
from tallystick.recording.writer import Writer
from tests.cli.conftest import DISCOUNT, Tally, TallyJson

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202emodel\nforged  1  $0"


def test_what_was_spent_by_model(full: Path, tally: Tally) -> None:
    result = tally("cost")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["MODEL", "CALLS", "INPUT", "CACHE", "READ", "CACHE", "WRITE", "OUTPUT", "COST"]
    assert lines[1].startswith("claude-opus-5-5")
    assert "$0." in lines[1]
    assert any(line.startswith("total") and "+ ?" in line for line in lines)
    assert lines[-2].startswith("no price for triage (759 tokens)")
    assert all(len(line) <= 120 for line in lines)


@pytest.mark.parametrize("by", ["model", "session", "agent", "day", "month", "project", "request"])
def test_each_way_of_asking_has_lines_that_come_to_the_total(full: Path, tally_json: TallyJson, by: str) -> None:
    found = tally_json("cost", "--by", by, "--limit", "1000")
    assert found["by"] == by
    assert sum(row["spending"]["cost_picousd"] or 0 for row in found["rows"]) == found["total"]["cost_picousd"]
    assert all(row["query"].startswith("SELECT ") for row in found["rows"])


def test_the_steps_behind_a_number_are_found_by_its_statement(full: Path, tally_json: TallyJson) -> None:
    found = tally_json("cost", DISCOUNT, "--by", "session")
    steps = tally_json("sql", found["rows"][0]["query"])
    assert len(steps["rows"]) == found["rows"][0]["spending"]["calls"] > 0
    assert len(tally_json("sql", found["query"])["rows"]) == found["total"]["calls"]


def test_a_session_is_meant_with_its_sub_agents_unless_they_are_left_out(full: Path, tally_json: TallyJson) -> None:
    whole = tally_json("cost", DISCOUNT)["total"]
    alone = tally_json("cost", DISCOUNT, "--no-children")["total"]
    assert (whole["cost_microusd"], whole["calls"]) == (227_492, 16)  # as Claude Code's own account has it
    assert alone["calls"] == 13


def test_prices_may_be_given(full: Path, tally_json: TallyJson, tally: Tally) -> None:
    args = ("cost", DISCOUNT, "--cost", "claude-opus-5-5:0,1000")
    total = tally_json(*args)["total"]
    assert total["cost_microusd"] == 1000 * total["output"]
    refused = tally("cost", "--cost", "claude-opus-5-5")
    assert refused.exit_code == 64
    assert "IN,OUT" in refused.output
    (full / ".tally" / "prices.toml").write_text('"claude-opus-5-5" = "0,1"\n')
    assert tally_json("cost", DISCOUNT)["total"]["cost_microusd"] == total["output"]


def test_a_damaged_list_of_prices_is_named(full: Path, tally: Tally) -> None:
    (full / ".tally" / "prices.toml").write_text("x = [")
    result = tally("cost")
    assert result.exit_code == 1
    assert "prices.toml" in result.stderr


def test_times_and_limits(full: Path, tally: Tally, tally_json: TallyJson) -> None:
    assert tally_json("cost", "--until", "2020-01-01")["rows"] == []
    assert "nothing was spent" in tally("cost", "--until", "2020-01-01").stdout
    some = tally("cost", "--limit", "2")
    assert len([line for line in some.stdout.splitlines() if "$" in line and not line.startswith("for ")]) == 3
    assert "more line" in some.stderr
    assert tally("cost", "no-such-session").exit_code != 0


def test_text_of_agents_forges_no_line_and_moves_no_cursor(user: Path, tally: Tally) -> None:
    home = Home(user / ".tally")
    Archive.make(home)
    writer = Writer(Archive(home), UTC)
    session, _ = writer.open(Opening(session="s", agent="demo", values={"personal.cwd": HOSTILE}))
    tokens: dict[str, Json] = {"input": 5, "output": 7}
    session.add(Step(session="s", type="user", source_id="u", values={"content.text": HOSTILE}, opens_request=True))
    session.add(Step(session="s", type="model_call", source_id="c", meta={"model": HOSTILE, "tokens": tokens}))
    writer.close()
    for by in ("model", "session", "agent", "project", "request"):
        result = tally("cost", "--by", by)
        assert result.exit_code == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(result.stdout.replace("\x1b[2m", "").replace("\x1b[0m", ""))
        assert len(result.stdout.splitlines()) == 5
        assert not any(line.startswith("forged") for line in result.stdout.splitlines())
        assert json.loads(tally("cost", "--by", by, "--json").stdout)["data"]["total"]["calls"] == 1


def test_months_come_in_order(full: Path, tally_json: TallyJson) -> None:
    found = tally_json("cost", "--month")
    months = [row["key"] for row in found["rows"]]
    assert found["by"] == "month"
    assert months == sorted(months)
    assert "2026-11" in months
