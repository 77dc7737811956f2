from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tallystick.capture.watch_tree import Root
from tallystick.errors import UsageError
from tallystick.ingest.watch import FolderWatch, Whose, Working, only_one, watched_roots
from tallystick.ingest.watch_steps import AGENT, Watched
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.effect import FileEffect
from tallystick.model.recorded import Recorded
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.verify import verify_store
from tests.capture.watching import wait_for


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    return work


# Roots ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def user(tmp_path: Path) -> Path:
    user = tmp_path / "user"
    (user / ".ssh").mkdir(parents=True)
    (user / ".config" / "gcloud").mkdir(parents=True)
    return user


def test_sensitive_folders_are_watched_where_they_are(user: Path, work: Path) -> None:
    assert watched_roots([work, work], user) == [
        Root(str(work)),
        Root(str(user / ".ssh"), True),
        Root(str(user / ".config" / "gcloud"), True),
    ]
    assert watched_roots([work], user, sensitive=False) == [Root(str(work))]


def test_a_sensitive_folder_inside_a_given_one_stays_sensitive(user: Path) -> None:
    assert Root(str(user / ".ssh"), True) in watched_roots([user], user, sensitive=False)
    assert watched_roots([user / ".ssh"], user, sensitive=False) == [Root(str(user / ".ssh"), True)]
    (user / ".ssh" / "keys").mkdir()
    assert watched_roots([user / ".ssh" / "keys"], user)[0].is_sensitive


def test_what_is_no_folder_cannot_be_watched(work: Path, user: Path) -> None:
    (work / "a").touch()
    for path in (work / "a", work / "nothing"):
        with pytest.raises(UsageError):
            watched_roots([path], user)


# One run --------------------------------------------------------------------------------------------------------------


class Run:
    """A watch of `work` in a thread."""

    def __init__(self, home: Home, work: Path, ask: Callable[[], list[Working]]) -> None:
        self.home = home
        self.seen: list[FileEffect] = []
        self.done: Watched | None = None
        self.stop = threading.Event()
        self.ready = threading.Event()
        self._work = work
        self._ask = ask

    def run(self) -> None:
        watch = FolderWatch(self.home, [Root(str(self._work))], pid=os.getpid(), ask=self._ask)
        self.done = watch.run(
            self.stop, seen=lambda batch: self.seen.extend(batch.effects), ready=lambda _: self.ready.set()
        )

    def steps(self, agent: str) -> list[Recorded]:
        found = [list(read_session(self.home, sid)) for sid, _ in self.home.sessions()]
        return next(steps for steps in found if steps[0].meta["agent"] == agent)


@contextmanager
def running(home: Home, work: Path, ask: Callable[[], list[Working]] = list) -> Iterator[Run]:
    run = Run(home, work, ask)
    thread = threading.Thread(target=run.run)
    thread.start()
    try:
        assert run.ready.wait(120)
        yield run
    finally:
        run.stop.set()
        thread.join()


def test_a_run_is_a_session_with_what_was_watched_and_seen(home: Home, work: Path) -> None:
    with running(home, work) as run:
        (work / "a").write_text("a")
        wait_for(lambda: run.seen)
    steps = run.steps(AGENT)
    assert [step.type for step in steps] == ["session_start", "file_effect", "session_end"]
    assert (steps[0].meta["kind"], steps[0].meta["source"], steps[0].meta["pid"]) == ("root", "watch", os.getpid())
    assert steps[0].values == {"personal.cwd": str(work), "content.paths": [str(work)]}
    assert steps[1].values["content.path"] == str(work / "a")
    assert run.done is not None
    assert (run.done.effects, run.done.writes, run.done.in_sessions) == ({"create": 1}, 1, 0)
    assert verify_store(home).exit_code == 0


def test_effects_go_to_the_session_of_the_agent_that_works_there(home: Home, work: Path) -> None:
    with SessionWriter(home) as session_writer:
        session_writer.open(Opening(session="s", agent="codex"))
    with running(home, work, lambda: [Working("codex", "s", str(work))]) as run:
        (work / "a").write_text("a")
        wait_for(lambda: run.seen)
    assert [step.type for step in run.steps("codex")] == ["session_start", "file_effect"]
    assert [step.type for step in run.steps(AGENT)] == ["session_start", "session_end"]
    assert run.done is not None
    assert run.done.in_sessions == 1
    assert verify_store(home).exit_code == 0


def test_a_store_inside_the_folder_does_not_record_itself(work: Path) -> None:
    with running(Home(work / ".tally"), work) as run:
        (work / "a").touch()
        wait_for(lambda: run.seen)
    assert [effect.path for effect in run.seen] == [str(work / "a")]


ROOTS = [Root("/w"), Root("/home/dev/.ssh", True)]


def test_the_one_live_session_below_the_folders_is_it() -> None:
    one = Working("claude-code", "s", "/w/sub")
    assert only_one([one, Working("codex", "t", "/elsewhere"), Working("codex", "u", "/www")], ROOTS) == one
    assert only_one([one, Working("codex", "t", "/w")], ROOTS) is None
    assert only_one([], ROOTS) is None
    assert only_one([Working("codex", "t", "/home/dev/.ssh")], ROOTS) is None


def test_a_sub_agent_is_no_second_session() -> None:
    one = Working("claude-code", "s", "/w")
    assert only_one([one, Working("claude-code", "s/agent-1", "/w")], ROOTS) == one
    assert only_one([one, Working("codex", "s/agent-1", "/w")], ROOTS) is None


def test_effects_are_recorded_with_the_agent_as_long_as_its_session_lasts(home: Home) -> None:
    now = 0.0
    live = [Working("codex", "s", "/w")]
    with SessionWriter(home) as session_writer:
        own = session_writer.open(Opening(session="o", agent=AGENT, source=Source.WATCH))
        theirs = session_writer.open(Opening(session="s", agent="codex"))
        whose = Whose(session_writer, own, lambda: only_one(live, ROOTS), clock=lambda: now)
        assert whose().sid == theirs.sid
        session_writer.add_to(theirs, Step(session="s", type="session_end"))
        assert whose().sid == own.sid
        live.clear()
        now = 0.5
        assert whose().sid == own.sid


def test_a_live_session_that_is_not_recorded_is_not_made_up(home: Home) -> None:
    with SessionWriter(home) as session_writer:
        own = session_writer.open(Opening(session="o", agent=AGENT, source=Source.WATCH))
        assert Whose(session_writer, own, lambda: Working("codex", "s", "/w"))().sid == own.sid
    assert len(list(home.sessions())) == 1


def test_who_is_live_is_asked_once_a_second(home: Home) -> None:
    times = [0.0]
    asked = []

    def ask() -> None:
        asked.append(times[-1])

    with SessionWriter(home) as session_writer:
        own = session_writer.open(Opening(session="o", agent=AGENT, source=Source.WATCH))
        whose = Whose(session_writer, own, ask, clock=lambda: times[-1])
        for at in (0.0, 0.5, 0.9, 1.0, 1.5, 2.1):
            times.append(at)
            whose()
    assert asked == [0.0, 1.0, 2.1]
