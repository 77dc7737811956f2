from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.cli.context import Run
from tallystick.cli.prices import prices_for
from tallystick.errors import FormatError, UsageError


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run()
    run.folder = tmp_path
    return run


def test_the_option_goes_before_the_file_and_that_before_the_table(run: Run, tmp_path: Path) -> None:
    tokens = {"input": 1_000_000}
    assert prices_for(run, ()).cost("gpt-4o-mini", tokens) == 150_000
    (tmp_path / "prices.toml").write_text('"gpt-4o-mini" = "1,1"\n"mine" = "5,5"\n')
    assert prices_for(run, ()).cost("gpt-4o-mini", tokens) == 1_000_000
    found = prices_for(run, ("gpt-4o-mini:2,2", "mine:8b:3,3"))
    assert [found.cost(model, tokens) for model in ("gpt-4o-mini", "mine", "mine:8b")] == [
        2_000_000,
        5_000_000,
        3_000_000,
    ]


def test_what_cannot_be_understood_is_an_error(run: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        prices_for(run, ("gpt-4o-mini",))
    (tmp_path / "prices.toml").write_text("?")
    with pytest.raises(FormatError):
        prices_for(run, ())
