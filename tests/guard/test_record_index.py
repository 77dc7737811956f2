"""What the index says of files, now and before a time; one that is not there knows nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.guard.record_index import RecordIndex
from tallystick.journal.read import read_session
from tallystick.policy.taint.untrusted_input import Found
from tallystick.state.steps import moment_of
from tests.support.working import Work

SCRIPT = "#!/bin/sh\necho hello\n"


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with Work(tmp_path) as work:
        yield work


def index_of(work: Work) -> RecordIndex:
    return RecordIndex(work.home, lambda _: False)


def moment(work: Work, session: str) -> int:
    """When a session's first call was made."""
    found = [step for sid, _ in work.home.sessions() for step in read_session(work.home, sid)]
    of = {step.session for step in found if step.member("source_session") == session}
    return next(moment_of(step) for step in found if step.session in of and step.type == "tool_call")


def test_a_change_is_known_before_the_one_that_followed(work: Work) -> None:
    work.wrote("a.sh", SCRIPT, session="first")
    work.wrote("a.sh", SCRIPT + "more\n", session="second")
    index, path, at_us = index_of(work), str(work.project / "a.sh"), moment(work, "second")
    now, then = index.last_change(path), index.last_change(path, at_us)
    assert now is not None
    assert then is not None
    assert (now.session != then.session, then.n) == (True, 2)
    assert len(index.makers(path)) == 2
    assert [one.session for one in index.makers(path, at_us)] == [then.session]
    assert index.last_change(path, moment(work, "first")) is None


def test_an_approval_counts_from_the_moment_of_its_question(work: Work) -> None:
    work.wrote("a.sh", SCRIPT, session="first")
    work.call("Bash", {"command": "sh a.sh"}, session="second")
    index, at_us = index_of(work), moment(work, "second")
    digest = work.watched("a.sh")
    assert index.is_approved(digest)
    assert not index.is_approved(digest, at_us - 1)
    assert not index.is_approved("sha256:" + "0" * 64)


def test_a_step_is_in_it_or_not(work: Work) -> None:
    work.call("Bash", {"command": "git status"})
    ((sid, _),) = work.home.sessions()
    assert index_of(work).has_step(sid, 2)
    assert not index_of(work).has_step(sid, 40)


def test_without_an_index_nothing_is_known(work: Work) -> None:
    work.is_indexed = False
    work.wrote("a.sh", SCRIPT)
    index, path = index_of(work), str(work.project / "a.sh")
    work.home.graph.unlink(missing_ok=True)
    assert index.graph() is None
    assert (index.last_change(path), index.makers(path), index.is_approved("sha256:0")) == (None, [], False)
    assert index.taint(path, is_deep=False) == Found()
    assert not index.has_step("a", 0)


def test_while_a_call_is_judged_the_index_is_the_one_that_was_there_at_its_beginning(work: Work) -> None:
    work.call("Bash", {"command": "git status"})
    ((sid, _),) = work.home.sessions()
    index = index_of(work)
    with index.fixed():
        assert index.has_step(sid, 2)
        work.home.graph.rename(work.home.graph.with_suffix(".aside"))
        assert index.has_step(sid, 2)
    assert not index.has_step(sid, 2)
