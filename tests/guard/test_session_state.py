from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.guard.call_effects import CallEffects, recorded_deed
from tallystick.guard.live_world import LiveWorld
from tallystick.guard.session_families import SessionFamilies
from tallystick.guard.session_state import SessionState
from tallystick.journal.home import Home
from tallystick.model.decision import Call
from tallystick.policy.calls.reader import read_call
from tallystick.policy.settings import Settings
from tallystick.policy.taint.untrusted_input import Hearing
from tests.support.working import AGENT, Work


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with Work(tmp_path) as work:
        yield work


def read(call: Call) -> CallEffects:
    reading = read_call(call, LiveWorld(), home="/home/dev", workspace=call.cwd)
    return recorded_deed(reading, LiveWorld(), Settings())


def new(home: Home) -> SessionState:
    return SessionState(home, Hearing(), read, lambda _: False)


def follow(story: SessionState, work: Work, session: str = "now") -> SessionState:
    kin = SessionFamilies(work.home, lambda: None)
    story.follow(kin.journals(kin.family(AGENT, session)))
    return story


def told(story: SessionState) -> tuple[object, ...]:
    """All that is known of a story, to be compared."""
    files = {name: story.files.made(name) for name in ("/a", "/b", "/c")}
    return (
        files,
        story.sensitive,
        story.calls,
        story.network_calls,
        story.request,
        story.workspace,
        story.approved,
        story.hosts,
    )


def some_work(work: Work) -> Iterator[None]:
    """One thing after another."""
    work.begin("now")
    yield
    work.call("Bash", {"command": "echo x > /a; cp /a /b"}, is_judged=False)
    yield
    work.call("Bash", {"command": "mv /b /c"}, is_judged=False, success=False)
    yield
    work.call("Bash", {"command": "gh auth token"}, is_judged=False, result="ghp_abcdefghijklmnopqrstuvwxyz0123456789")
    yield
    work.prompt("now", "And now?")
    work.begin("child", parent="now")
    work.call("Bash", {"command": "curl https://example.org/ > /c"}, session="child", is_judged=False)
    yield
    work.call("Bash", {"command": "rm /a"}, is_judged=False, result=None)
    yield


def test_a_story_read_in_pieces_is_the_story_read_at_once(work: Work) -> None:
    piecewise = new(work.home)
    for _ in some_work(work):
        follow(piecewise, work)
    assert told(piecewise) == told(follow(new(work.home), work))
    assert piecewise.calls == 5


def test_following_twice_changes_nothing(work: Work) -> None:
    for _ in some_work(work):
        pass
    story = follow(new(work.home), work)
    known = told(story)
    assert told(follow(story, work)) == known


def test_what_takes_too_long_is_read_by_the_next(work: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in some_work(work):
        pass
    whole = told(follow(new(work.home), work))
    monkeypatch.setattr("tallystick.guard.session_state._PATIENCE_S", 0.0)
    story = new(work.home)
    follow(story, work)
    assert told(story) != whole
    for _ in range(30):
        follow(story, work)
    assert told(story) == whole


def test_a_journal_that_was_written_anew_is_not_read_again(work: Work) -> None:
    for _ in some_work(work):
        pass
    story = follow(new(work.home), work)
    known = told(story)
    for path in work.home.journals.rglob("*.jsonl"):
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)
    assert told(follow(story, work)) == known


def test_a_result_that_is_kept_beside_the_journal_is_read(work: Work) -> None:
    work.begin("now")
    work.call(
        "WebFetch", {"url": "https://example.org/", "prompt": "x"}, is_judged=False, result="a long page " * 40_000
    )
    story = follow(new(work.home), work)
    assert [heard.source for heard in story.hearing.texts] == ["https://example.org/"]


def test_calls_of_the_last_minute_are_counted(work: Work) -> None:
    work.call("Bash", {"command": "cat a"}, is_judged=False)
    work.call("Bash", {"command": "curl https://example.org/"}, is_judged=False)
    story = follow(new(work.home), work)
    assert story.recent(0) == (1, 1)
    assert story.recent(1 << 62) == (0, 0)


def test_calls_whose_results_nobody_tells_count_when_the_next_one_is_made(work: Work) -> None:
    work.call("Bash", {"command": "gh auth token"}, is_judged=False, result=None)
    story = follow(new(work.home), work)
    assert story.sensitive == ()
    work.call("Bash", {"command": "ls"}, is_judged=False, result=None)
    assert len(follow(story, work).sensitive) == 1
