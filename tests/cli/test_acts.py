"""Acts on the terminal."""

from datetime import timedelta, timezone

import click
import pytest

from tallystick.ask.acts import NewestActs, newest_acts
from tallystick.cli.acts import act_text
from tallystick.display.text import width_of
from tallystick.graph.log import LogFilter
from tallystick.journal.home import Home
from tallystick.workspace.indexing import open_index


@pytest.fixture
def newest(indexed_samples: Home) -> NewestActs:
    with open_index(indexed_samples) as index:
        return newest_acts(indexed_samples, index.graph, LogFilter(limit=500), whole=True)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_wider_than_asked(newest: NewestActs, width: int) -> None:
    assert max(width_of(click.unstyle(line)) for line in act_text(newest, width)) <= width


def test_times_are_in_the_zone_that_is_asked_for(newest: NewestActs) -> None:
    lines = [click.unstyle(line) for line in act_text(newest, 120, zone=timezone(timedelta(hours=2)))]
    assert "(local time) ──" in next(line for line in lines if "──" in line)
    assert any(line.startswith("00:40:") for line in lines)


def test_nothing_says_so() -> None:
    assert list(act_text(NewestActs((), has_more=False, lost=0), 80)) == ["no steps"]
