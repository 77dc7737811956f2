"""What is written into the cells of notebooks, decided end to end."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tallystick.model.decision import Effect
from tallystick.model.step import Json
from tallystick.policy.notebooks import is_notebook
from tests.support.cases import each, each_case
from tests.support.working import Work

RULE = "inspection.writes-dangerous"


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Work]:
    with Work(tmp_path_factory.mktemp("machine")) as made:
        yield made


def edit(work: Work, source: str, kind: str = "code") -> dict[str, Json]:
    return {
        "notebook_path": str(work.project / "a.ipynb"),
        "new_source": source,
        "cell_type": kind,
        "edit_mode": "insert",
    }


@each_case("source")
def test_a_cell_that_would_be_refused_if_it_ran_is_warned_of(work: Work, source: str) -> None:
    said = work.ask("NotebookEdit", edit(work, source))
    assert (said.effect, RULE in said.rules) == (Effect.WARN, True)
    whole = json.dumps({"cells": [{"cell_type": "code", "source": source.splitlines(keepends=True)}]})
    assert RULE in work.ask("Write", {"file_path": str(work.project / "b.ipynb"), "content": whole}).rules


@each_case("source, kind")
def test_ordinary_cells_and_text_for_people_are_silent(work: Work, source: str, kind: str) -> None:
    assert work.ask("NotebookEdit", edit(work, source, kind)).effect is Effect.ALLOW


def test_a_notebook_is_known_by_its_name() -> None:
    assert is_notebook("/p/A.IPYNB")
    assert not is_notebook("/p/a.ipynb.md")


@each("name", ["source", "code", "cell_source"])
def test_a_cell_that_is_run_is_judged_as_what_it_does(work: Work, name: str) -> None:
    said = work.ask("mcp__jupyter__insert_execute_code_cell", {"cell_index": 1, name: "!cat ~/.ssh/id_rsa"})
    assert said.effect is Effect.DENY
