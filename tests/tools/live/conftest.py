"""The runs that the tests look at: each happens once, when the first test asks for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tools.live import install, matrix, recorded
from tools.live.matrix import Row
from tools.live.recorded import Observed
from tools.live.run import RECIPES, Recipe

Runs = Callable[[str, Recipe], Observed]
_FORBIDDEN = ("shell", "edit", "subagent", "ask", "mcp", "settings")


@pytest.fixture(scope="session", params=RECIPES, ids=lambda recipe: recipe.name)
def recipe(request: pytest.FixtureRequest) -> Recipe:
    """A way to run an agent that is installed."""
    found: Recipe = request.param
    agent = install.agent_named(found.agent)
    if install.program(agent) is None:
        pytest.skip(f"{agent.name} {agent.version} is not installed in {install.place()}: make agents")
    return found


@pytest.fixture(scope="session")
def ran() -> set[str]:
    """The agents that ran to their end in this session of tests."""
    return set()


@pytest.fixture(scope="session")
def rows() -> Iterator[dict[str, Row]]:
    """What is shown of each recipe; written to the file that TALLY_MATRIX names when the tests are over."""
    found: dict[str, Row] = {}
    yield found
    if path := os.environ.get("TALLY_MATRIX"):
        matrix.write(found, Path(path))


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory, ran: set[str]) -> Runs:
    """A function that gives the run of some kind for a recipe, and makes it if nobody asked for it before."""
    done: dict[tuple[str, str], Observed] = {}

    def get(kind: str, recipe: Recipe) -> Observed:
        if (kind, recipe.name) not in done:
            folder = tmp_path_factory.mktemp(f"{recipe.name}-{kind}".replace("/", "-"))
            done[kind, recipe.name] = _make(kind, recipe, folder)
            if not done[kind, recipe.name].ran.command("agent").killed:
                ran.add(recipe.agent)
        return done[kind, recipe.name]

    return get


_RUNS: dict[str, Callable[..., Observed]] = {
    "everything": recorded.everything,
    "doubled": partial(recorded.everything, installed=2),
    "interrupted": recorded.interrupted,
    "family": recorded.family,
    "stopped": recorded.stopped,
    "unguarded": partial(recorded.refused, recording=False),
    "refused": partial(recorded.refused, recording=True),
    "leaking": recorded.leaking,
    "working day": recorded.working_day,
}


def _make(kind: str, recipe: Recipe, folder: Path) -> Observed:
    """The run of a kind: its name and, after a slash, what it takes besides."""
    name, _, given = kind.partition("/")
    return _RUNS[name](recipe, folder, *([given] if given else []))
