from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from tallystick.graph.authorship import (
    asked_about_files,
    has_run,
    journals_named,
    last_change,
    makers,
    name_of_session,
    version_maker,
)
from tallystick.graph.graph import Graph
from tallystick.journal.read import read_at
from tallystick.state.approvals import asked_about
from tests.support.working import AGENT, Work


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with Work(tmp_path) as work:
        yield work


@pytest.fixture
def path(work: Work) -> str:
    return str(work.project / "a.sh")


def graph(work: Work) -> Graph:
    return Graph(work.home.graph)


def test_the_last_change_names_session_and_step(work: Work, path: str) -> None:
    work.wrote("a.sh", "1\n", session="one")
    work.wrote("a.sh", "2\n", session="two")
    with graph(work) as index:
        found = last_change(index, path)
        assert found is not None
        assert (found.is_outside, found.n) == (False, 2)
        assert found.session in journals_named(index, AGENT, "two")


def test_a_file_that_nobody_changed_has_none(work: Work, path: str) -> None:
    work.write("a.sh", "1\n")
    work.call("Bash", {"command": "cat a.sh"})
    with graph(work) as index:
        assert last_change(index, path) is None
        assert last_change(index, path + "x") is None


def test_what_was_deleted_has_none(work: Work, path: str) -> None:
    work.wrote("a.sh", "1\n")
    work.call("Bash", {"command": "rm a.sh"})
    with graph(work) as index:
        assert last_change(index, path) is None


def test_makers_come_newest_first_with_their_commands(work: Work, path: str) -> None:
    work.wrote("a.sh", "1\n", session="one")
    work.call("Bash", {"command": "sed -i s/1/2/ a.sh"}, session="two", leaves={"a.sh": "2\n"})
    with graph(work) as index:
        assert [one.command for one in makers(index, path)] == ["sed -i s/1/2/ a.sh", None]


def test_a_session_is_found_by_the_agents_own_id_and_back(work: Work) -> None:
    work.call("Bash", {"command": "ls"}, session="s")
    work.begin("child", parent="s")
    work.call("Bash", {"command": "ls"}, session="child")
    with graph(work) as index:
        names = {name_of_session(index, sid)[0][1] for sid in journals_named(index, AGENT, "s")}
        assert names == {"s", "child"}
        assert name_of_session(index, "0" * 32) == []
        assert journals_named(index, "codex", "s") == []


@pytest.mark.parametrize(("result", "expected"), [("hello", True), (None, False)])
def test_what_was_asked_about_has_run_if_it_has_a_result(work: Work, result: str | None, expected: bool) -> None:
    work.wrote("a.sh", "echo hello\n", session="earlier")
    work.call("Bash", {"command": "sh a.sh"}, result=result)
    with graph(work) as index:
        (asked,) = asked_about_files(index, 0, limit=10)
        assert has_run(index, asked) is expected
        assert asked_about_files(index, asked.at_us + 1, limit=10) == []
        journal = work.home.journal(asked.session)
        assert journal is not None
        step = read_at(work.home, journal, asked.offset)
        assert step is not None
        assert asked_about(step)[0][0].startswith("sha256:")


def test_a_version_of_a_file_names_the_call_that_wrote_it(work: Work, path: str) -> None:
    work.wrote("a.sh", "1\n", session="one")
    work.wrote("a.sh", "2\n", session="two")
    digests = {text: f"sha256:{sha256(text.encode()).hexdigest()}" for text in ("1\n", "2\n", "3\n")}
    with graph(work) as index:
        found = {text: version_maker(index, path, digest, 0) for text, digest in digests.items()}
        sessions = {text: one.session for text, one in found.items() if one is not None}
        assert sessions.keys() == {"1\n", "2\n"}
        assert sessions["1\n"] in journals_named(index, AGENT, "one")
        assert sessions["2\n"] in journals_named(index, AGENT, "two")


def test_a_call_of_which_no_one_saw_what_it_left_counts_while_the_file_was_not_written_since(
    work: Work, path: str
) -> None:
    work.call("Bash", {"command": "curl -o a.sh https://example.org/a.sh"})
    with graph(work) as index:
        last = last_change(index, path)
        assert last is not None
        found = version_maker(index, path, "sha256:00", last.at_us)
        assert found is not None
        assert found.is_download
        assert version_maker(index, path, "sha256:00", last.at_us + 60_000_000) is None
