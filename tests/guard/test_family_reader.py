from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tallystick.guard.call_effects import recorded_deed
from tallystick.guard.family_reader import FamilyReader
from tallystick.guard.live_world import LiveWorld
from tallystick.guard.session_families import FamilyJournal, SessionFamilies
from tallystick.journal.erase import Grounds, erase
from tallystick.journal.home import Home
from tallystick.model.decision import Call
from tallystick.model.ids import SessionId
from tallystick.policy.calls.reader import read_call
from tallystick.policy.settings import Settings
from tallystick.state.effects import CallEffects
from tallystick.state.reducer import Knowledge
from tests.support.working import AGENT, Work


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with Work(tmp_path) as work:
        yield work


def read(call: Call) -> CallEffects:
    reading = read_call(call, LiveWorld(), home="/home/dev", workspace=call.cwd)
    return recorded_deed(reading, LiveWorld(), Settings())


def new(home: Home) -> FamilyReader:
    return FamilyReader(home, Knowledge(read=read))


def journals(work: Work, session: str = "now") -> Sequence[FamilyJournal]:
    families = SessionFamilies(work.home, lambda: None)
    return families.journals(families.family(AGENT, session))


def follow(reader: FamilyReader, work: Work) -> FamilyReader:
    assert reader.follow(journals(work))
    return reader


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


def test_what_is_read_in_pieces_is_what_is_read_at_once(work: Work) -> None:
    piecewise = new(work.home)
    for _ in some_work(work):
        follow(piecewise, work)
    assert piecewise.state == follow(new(work.home), work).state
    assert piecewise.state.calls == 5


def test_a_reader_that_goes_on_from_another_ones_state_knows_the_same(work: Work) -> None:
    reader = new(work.home)
    for _ in some_work(work):
        follow(reader, work)
        reader = FamilyReader(work.home, Knowledge(read=read), reader.state, dict(reader.positions))
    assert reader.state == follow(new(work.home), work).state


def test_following_twice_changes_nothing(work: Work) -> None:
    for _ in some_work(work):
        pass
    reader = follow(new(work.home), work)
    known, steps = reader.state, reader.steps
    assert follow(reader, work).state == known
    assert reader.steps == steps


def test_what_takes_too_long_is_read_by_the_next(work: Work) -> None:
    for _ in some_work(work):
        pass
    whole = follow(new(work.home), work)
    reader = new(work.home)
    assert not reader.follow(journals(work), until=0.0)
    assert reader.steps == 1
    assert not reader.follow(journals(work), until=0.0, least=5)
    assert reader.steps == 5
    while not reader.follow(journals(work), until=0.0):
        pass
    assert (reader.state, reader.positions) == (whole.state, whole.positions)


def test_a_journal_that_was_written_again_is_not_read_again(work: Work) -> None:
    for _ in some_work(work):
        pass
    reader = follow(new(work.home), work)
    known, steps = reader.state, reader.steps
    for path in work.home.journals.rglob("*.jsonl"):
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)
    assert follow(reader, work).state == known
    assert reader.steps == steps


def test_after_an_erasure_it_is_read_on_where_it_was(work: Work) -> None:
    """The lines before are shorter now."""
    work.call("Bash", {"command": "echo hello > /a"}, is_judged=False, result="a long result " * 50)
    reader = follow(new(work.home), work)
    (start, path), *_ = journals(work)
    n = reader.positions[start.sid].n
    work.session_writer.seal()
    erase(
        work.session_writer.archive,
        SessionId(start.sid),
        n - 1,
        frozenset(("content.output",)),
        Grounds("request", "x"),
    )
    steps = reader.steps
    work.call("Bash", {"command": "echo x > /b"}, is_judged=False, result=None)
    assert follow(reader, work).steps == steps + 1
    assert reader.state.files.made("/b") is not None
    assert path.stat().st_ino == reader.positions[start.sid].inode


def test_another_journal_in_the_place_of_the_one_that_was_read_makes_the_state_again(work: Work) -> None:
    work.call("Bash", {"command": "echo hello > /a"}, is_judged=False)
    reader = follow(new(work.home), work)
    (start, path), *_ = journals(work)
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    path.write_bytes(b"".join(lines[:-2]))
    assert follow(reader, work).state == follow(new(work.home), work).state
    assert reader.positions[start.sid].n == len(lines) - 2
    path.write_bytes(b"".join(lines))


def test_a_result_that_is_kept_beside_the_journal_is_read(work: Work) -> None:
    work.begin("now")
    work.call(
        "WebFetch", {"url": "https://example.org/", "prompt": "x"}, is_judged=False, result="a long page " * 40_000
    )
    state = follow(new(work.home), work).state
    assert [heard.source for heard in state.heard.texts] == ["https://example.org/"]


def test_calls_of_the_last_minute_are_counted(work: Work) -> None:
    work.call("Bash", {"command": "cat a"}, is_judged=False)
    work.call("Bash", {"command": "curl https://example.org/"}, is_judged=False)
    state = follow(new(work.home), work).state
    assert state.recent(0) == (1, 1)
    assert state.recent(1 << 62) == (0, 0)


def test_of_a_family_of_very_many_journals_some_are_looked_at_each_time(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tallystick.guard.family_reader._MOST_LOOKED_AT", 4)
    names = [f"now~{number}" for number in range(12)]
    for name in names:
        work.begin(name)
    reader = follow(new(work.home), work)
    monkeypatch.setattr("tallystick.guard.family_reader._LATELY_S", 0.0)
    work.prompt(names[7], "And then?")
    assert reader.follow(journals(work), own=names[7])
    assert reader.state.request == 13
    for name in names:
        work.prompt(name, "And now?")
    for _ in range(6):
        reader.follow(journals(work))
    assert reader.state.request == 25


def test_calls_whose_results_nobody_tells_count_when_the_next_one_is_made(work: Work) -> None:
    work.call("Bash", {"command": "gh auth token"}, is_judged=False, result=None)
    reader = follow(new(work.home), work)
    assert reader.state.sensitive == ()
    work.call("Bash", {"command": "ls"}, is_judged=False, result=None)
    assert len(follow(reader, work).state.sensitive) == 1
