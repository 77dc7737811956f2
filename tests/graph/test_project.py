from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import JournalError
from tallystick.graph.graph import Graph, Mode
from tallystick.graph.journals import Depth, Journal
from tallystick.graph.project import forget, project
from tallystick.graph.queries import indexed_sessions, unsearchable_sessions
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.journal.read import read_file
from tallystick.model.step import Json
from tests.graph.making import Line, Session, erased, everything
from tests.graph.stories import stories
from tests.support.graphs import new_graph
from tests.support.laws import examples


def told(name: str = "one", *, steps: int = 5) -> Session:
    session = Session(name)
    session.begin()
    for n in range(1, steps):
        session.prompt(f"{name} word{n}")
    return session


def found(graph: Graph, word: str) -> int:
    """How many steps have a word."""
    return len(graph.rows("SELECT rowid FROM search WHERE search MATCH ?", (word,)))


def sizes(graph: Graph) -> dict[str, int]:
    return {row.session: row.size for row in indexed_sessions(graph)}


# Any way of projecting gives the same rows -------------------------------------------------------------------------


def fresh(stories: Sequence[Session]) -> dict[str, list[tuple[object, ...]]]:
    """What an index says that is made in one go."""
    with TemporaryDirectory() as folder, new_graph(Path(folder) / "graph.db") as graph:
        project(graph, [session.journal() for session in stories])
        return everything(graph)


class Crash(Exception):
    """The process dies."""


def crashing(journal: Journal, after: int) -> Journal:
    """The journal, in the reading of which the process dies."""

    def read(start: int) -> Iterator[Line]:
        for count, line in enumerate(journal.read(start)):
            if count == after:
                raise Crash
            yield line  # type: ignore[misc]

    return msgspec.structs.replace(journal, read=read)


@given(stories(), st.data())
@settings(deadline=None, max_examples=examples(36))
def test_any_order_and_any_pieces_give_the_same_index(stories: list[Session], data: st.DataObject) -> None:
    with TemporaryDirectory() as folder, new_graph(Path(folder) / "graph.db") as graph:
        done = {session.sid: 0 for session in stories}
        while behind := [session for session in stories if done[session.sid] < len(session.lines)]:
            some = data.draw(st.lists(st.sampled_from(behind), min_size=1, unique_by=lambda session: session.sid))
            for session in some:
                done[session.sid] = data.draw(st.integers(done[session.sid] + 1, len(session.lines)))
            depth = data.draw(st.sampled_from(Depth))
            project(graph, [session.journal(steps=done[session.sid]) for session in some], depth=depth)
        project(graph, [session.journal() for session in stories])
        assert everything(graph) == fresh(stories)


@given(stories(), st.integers(1, 4), st.data())
@settings(deadline=None, max_examples=examples(36))
def test_a_crash_at_any_step_changes_nothing_in_the_end(
    stories: list[Session], steps_a_transaction: int, data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("tallystick.graph.project._STEPS_A_TRANSACTION", steps_a_transaction)
        patch.setattr("tallystick.graph.project._STEPS_A_WRITE", data.draw(st.integers(1, 3)))
        path = Path(folder) / "graph.db"
        for _ in range(3):
            victim = data.draw(st.sampled_from(stories))
            after = data.draw(st.integers(0, len(victim.lines) - 1))
            journals = [
                crashing(session.journal(), after) if session is victim else session.journal() for session in stories
            ]
            abandoned = Graph(path, Mode.WRITE)
            try:
                project(abandoned, journals)
            except Crash:
                pass
            finally:
                abandoned.close()
        with Graph(path, Mode.WRITE) as graph:
            project(graph, [session.journal() for session in stories])
            assert everything(graph) == fresh(stories)


@given(stories(), st.integers(1, 12), st.booleans())
@settings(deadline=None, max_examples=examples(36))
def test_a_crash_between_any_two_writes_changes_nothing_in_the_end(
    stories: list[Session], after: int, is_before_commit: bool
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("tallystick.graph.project._STEPS_A_TRANSACTION", 3)
        patch.setattr("tallystick.graph.project._STEPS_A_WRITE", 1)
        patch.setattr("tallystick.graph.projection.relation_builder._THINGS_A_CHUNK", 1)
        patch.setattr("tallystick.graph.projection.relation_builder._CHUNKS_A_TRANSACTION", 1)
        path = Path(folder) / "graph.db"
        abandoned = new_graph(path)
        commit, commits = abandoned.commit, 0

        def commit_and_die() -> None:
            nonlocal commits
            commits += 1
            if commits == after and is_before_commit:
                raise Crash
            commit()
            if commits == after:
                raise Crash

        patch.setattr(abandoned, "commit", commit_and_die)
        try:
            project(abandoned, [session.journal() for session in stories])
        except Crash:
            pass
        finally:
            abandoned.close()
        with Graph(path, Mode.WRITE) as graph:
            project(graph, [session.journal() for session in stories])
            assert everything(graph) == fresh(stories)


@given(stories(), st.integers(1, 4), st.integers(1, 4))
@settings(deadline=None, max_examples=examples(30))
def test_two_processes_that_project_at_once_give_the_same_index(
    stories: list[Session], steps_a_transaction: int, ahead: int
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("tallystick.graph.project._STEPS_A_TRANSACTION", steps_a_transaction)
        patch.setattr("tallystick.graph.project._STEPS_A_WRITE", 1)
        path = Path(folder) / "graph.db"
        with new_graph(path) as slow, Graph(path, Mode.WRITE) as quick:
            commit, commits = slow.commit, 0

            def commit_and_wait() -> None:
                nonlocal commits
                commit()
                commits += 1
                if commits == ahead:  # the other one gets in between two transactions
                    project(quick, [session.journal() for session in stories])

            patch.setattr(slow, "commit", commit_and_wait)
            project(slow, [session.journal() for session in stories])
            assert everything(slow) == fresh(stories)


# What is read, and what is not --------------------------------------------------------------------------------------


def test_a_journal_that_has_not_changed_is_not_opened(graph: Graph) -> None:
    session = told()
    project(graph, [session.journal()])

    def read(start: int) -> Iterator[Line]:
        raise AssertionError(f"read from {start}")

    done = project(graph, [msgspec.structs.replace(session.journal(), read=read)])
    assert (done.sessions, done.steps, done.failures) == (0, 0, ())


def test_of_a_journal_that_has_grown_only_the_new_lines_are_read(graph: Graph) -> None:
    session = told()
    project(graph, [session.journal(steps=3)])
    seen: list[int] = []
    done = project(graph, [session.journal()], progress=seen.append)
    assert (done.sessions, done.steps) == (1, 2)
    assert sum(seen) == session.lines[-1].end - session.lines[2].end


def test_rows_can_come_first_and_their_text_later(graph: Graph) -> None:
    one, two = told("one"), told("two")
    done = project(graph, [one.journal(), two.journal()], depth=Depth.ROWS)
    assert done.unsearchable == 2
    assert found(graph, "word1") == 0
    done = project(graph, [one.journal()])
    assert (done.unsearchable, unsearchable_sessions(graph), found(graph, "word1")) == (1, 1, 1)
    project(graph, [two.journal()])
    assert everything(graph) == fresh([one, two])


def test_an_empty_journal_is_no_session_yet(graph: Graph) -> None:
    session = told()
    done = project(graph, [session.journal(steps=0)])
    assert (done.sessions, done.failures, sizes(graph)) == (0, (), {})
    project(graph, [session.journal()])
    assert sizes(graph) == {session.sid: 5}


def test_of_two_files_for_one_session_the_first_counts(graph: Graph) -> None:
    session = told()
    for _ in range(2):
        project(graph, [session.journal(inode=1), session.journal(steps=2, inode=2)])
        assert sizes(graph) == {session.sid: 5}


# Files that are not what they were ---------------------------------------------------------------------------------


def test_an_erased_value_is_nowhere_in_the_index(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    session, other = told(), told("two")
    session.prompt("the password is xyzzy-plugh")
    session.add("assistant", text="thank you, xyzzy-plugh it is")
    with Graph(path, Mode.WRITE) as graph:
        project(graph, [session.journal(), other.journal()])
        assert found(graph, "xyzzy") == 2
        assert graph.rows("SELECT n FROM requests WHERE original_user_prompt LIKE '%xyzzy%'") == [(5,)]
        without = erased(erased(session, 5, "content.text"), 6, "content.text")
        done = project(graph, [without.journal(inode=2), other.journal()])
        assert (done.unsearchable, found(graph, "xyzzy"), found(graph, "word1")) == (0, 0, 2)
        assert graph.rows("SELECT n FROM requests WHERE original_user_prompt LIKE '%xyzzy%'") == []
        assert everything(graph) == fresh_at(without, other)
        for file in tmp_path.iterdir():
            assert b"xyzzy" not in file.read_bytes()
            assert b"plugh" not in file.read_bytes()


def fresh_at(without: Session, other: Session) -> dict[str, list[tuple[object, ...]]]:
    with TemporaryDirectory() as folder, new_graph(Path(folder) / "graph.db") as graph:
        project(graph, [without.journal(inode=2), other.journal()])
        return everything(graph)


def test_after_an_erasure_the_text_of_other_sessions_is_missed_until_they_are_projected(graph: Graph) -> None:
    one, two = told("one"), told("two")
    project(graph, [one.journal(), two.journal()])
    done = project(graph, [erased(one, 1, "content.text").journal(inode=2)])
    assert (done.unsearchable, found(graph, "word2")) == (1, 1)
    done = project(graph, [one.journal(inode=2), two.journal()], depth=Depth.TEXT)
    assert (done.unsearchable, found(graph, "word2")) == (0, 2)


def test_projecting_rows_is_enough_to_forget_an_erased_value(graph: Graph) -> None:
    one = told("one")
    project(graph, [one.journal()])
    done = project(graph, [erased(one, 1, "content.text").journal(inode=2)], depth=Depth.ROWS)
    assert (done.unsearchable, found(graph, "word1")) == (1, 0)


def test_rows_made_by_other_rules_are_made_again(graph: Graph) -> None:
    session = told()
    project(graph, [session.journal()])
    graph.change("UPDATE sessions SET rules = 'of before', title = 'old'")
    project(graph, [session.journal()])
    assert everything(graph) == fresh([session])


def test_a_journal_that_was_changed_in_place_is_read_again_from_the_beginning(graph: Graph) -> None:
    session = told(steps=8)
    project(graph, [session.journal(steps=5)])
    shifted = Session(sid=session.sid)
    shifted.lines = [Line(line.step, line.offset + line.step.n, line.end + line.step.n + 1) for line in session.lines]
    done = project(graph, [shifted.journal()])
    assert (done.failures, done.unsearchable) == ((), 0)
    assert everything(graph) == fresh([shifted])


def test_a_journal_whose_last_line_is_another_is_read_again(graph: Graph) -> None:
    session = told(steps=5)
    project(graph, [session.journal()])
    other = broken(session, 4, {"hash": "f" * 64})
    other.prompt("and on")
    project(graph, [other.journal()])
    assert everything(graph) == fresh([other])


def test_a_journal_that_was_cut_is_read_again(graph: Graph) -> None:
    session, other = told(steps=8), told("two")
    project(graph, [session.journal(), other.journal()])
    done = project(graph, [session.journal(steps=3), other.journal()])
    assert (sizes(graph), done.unsearchable) == ({session.sid: 3, other.sid: 5}, 0)
    assert everything(graph) == fresh([_first(session, 3), other])


def _first(session: Session, steps: int) -> Session:
    copy = Session(session.name, sid=session.sid)
    copy.lines = session.lines[:steps]
    return copy


def test_another_history_in_the_same_file_is_noticed_when_its_text_is_read(graph: Graph) -> None:
    session = told(steps=4)
    project(graph, [session.journal()], depth=Depth.ROWS)
    other = Session(sid=session.sid)
    other.lines = [
        Line(msgspec.structs.replace(line.step, hash=f"{line.step.n:064x}", prev=f"{line.step.n - 1:064x}"), *rest)
        for line in session.lines
        for rest in [(line.offset, line.end)]
    ]
    project(graph, [other.journal()])
    assert everything(graph) == fresh([other])


def test_a_shorter_history_is_noticed_when_its_text_is_read(graph: Graph) -> None:
    session = told(steps=8)
    project(graph, [session.journal()], depth=Depth.ROWS)
    project(graph, [session.journal(steps=3)])
    assert everything(graph) == fresh([_first(session, 3)])


# Journals that cannot be read to their end --------------------------------------------------------------------------


def broken(session: Session, at: int, change: dict[str, Json]) -> Session:
    copy = Session(session.name, sid=session.sid)
    copy.lines = [
        msgspec.structs.replace(line, step=msgspec.structs.replace(line.step, **change)) if line.step.n == at else line
        for line in session.lines
    ]
    return copy


@pytest.mark.parametrize("change", [{"n": 7}, {"prev": "f" * 64}, {"session": "f" * 32}])
def test_what_comes_before_an_entry_that_does_not_follow_stands(graph: Graph, change: dict[str, Json]) -> None:
    session, other = told(), told("two")
    for _ in range(2):  # and it is no reason to start over, again and again
        done = project(graph, [broken(session, 3, change).journal(), other.journal()])
        assert [(failure.session, failure.n) for failure in done.failures] == [(session.sid, 3)]
        assert (sizes(graph), done.unsearchable) == ({session.sid: 3, other.sid: 5}, 0)
        assert found(graph, "word2") == 2
    project(graph, [session.journal(), other.journal()])
    assert everything(graph) == fresh([session, other])


def test_a_journal_that_begins_with_nothing_of_ours_is_reported(graph: Graph) -> None:
    done = project(graph, [broken(told(), 0, {"n": 1}).journal()])
    assert [failure.n for failure in done.failures] == [0]
    assert sizes(graph) == {}


def test_a_journal_that_cannot_be_read_for_now_keeps_its_rows(graph: Graph) -> None:
    session = told()
    project(graph, [session.journal(steps=3)])

    def read(start: int) -> Iterator[Line]:
        raise JournalError("permission denied")

    done = project(graph, [msgspec.structs.replace(session.journal(), read=read)])
    assert [(failure.n, failure.why) for failure in done.failures] == [(3, "permission denied")]
    assert (sizes(graph), found(graph, "word2")) == ({session.sid: 3}, 1)


def test_forgotten_sessions_leave_nothing(graph: Graph) -> None:
    one, two = told("one"), told("two")
    project(graph, [one.journal(), two.journal()])
    forget(graph, [one.sid, "f" * 32])
    assert sizes(graph) == {two.sid: 5}
    assert unsearchable_sessions(graph) == 1
    project(graph, [two.journal()])
    assert everything(graph) == fresh([two])


def test_no_byte_of_what_was_forgotten_stays_in_the_files(tmp_path: Path) -> None:
    secret = Session("secret", agent="xyzzy-agent")
    secret.begin()
    for n in range(300):
        secret.prompt(f"xyzzy{n} plugh{n % 7}", source_id=f"xyzzy-{n}")
    with new_graph(tmp_path / "graph.db") as graph:
        project(graph, [secret.journal(), told().journal()])
        forget(graph, [secret.sid])
        data = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        assert [word for word in ("xyzzy", "plugh", secret.sid) if word.encode() in data] == []


def test_much_text_is_written_piece_by_piece(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.graph.project._CHARACTERS_A_WRITE", 20)
    monkeypatch.setattr("tallystick.graph.project._CHARACTERS_A_TRANSACTION", 50)
    session = told(steps=40)
    seen: list[int] = []
    project(graph, [session.journal()], progress=seen.append)
    assert len(seen) > 10
    assert everything(graph) == fresh([session])


def test_the_first_steps_of_many_can_be_read_while_the_others_are_projected(tmp_path: Path) -> None:
    session = told(steps=1_500)
    seen: list[dict[str, int]] = []
    with new_graph(tmp_path / "graph.db") as graph, Graph(tmp_path / "graph.db") as other:
        project(graph, [session.journal()], progress=lambda _: seen.append(sizes(other)))
    assert seen == [{}, {session.sid: 1_000}]


# On real files -----------------------------------------------------------------------------------------------------


def test_the_journals_of_a_store_are_projected_as_they_grow(tmp_path: Path, graph: Graph) -> None:
    home = Home(tmp_path / "store")
    Archive.make(home)
    archive = Archive(home)
    opening = {"type": "session_start", "agent": "demo", "kind": "root", "source": "sdk", "source_session": "s"}
    file, _ = archive.make_journal(opening, {}, ())

    def journal() -> Journal:
        status = file.path.stat()
        return Journal(
            session=file.sid,
            inode=status.st_ino,
            size_bytes=status.st_size,
            read=lambda start: read_file(home, file.path, start=start, load_blobs=True),
        )

    for number in range(3):
        file.append({"type": "user", "source": "sdk"}, {"content.text": f"number{number} " + "long " * 20_000})
        assert project(graph, [journal()]).failures == ()
        assert (sizes(graph), found(graph, f"number{number}")) == ({file.sid: number + 2}, 1)
    with file.path.open("ab") as torn:
        torn.write(b'{"entry":{"half')
    assert project(graph, [journal()]).failures == ()
    with file.path.open("ab") as torn:
        torn.write(b"\n")
    assert [failure.n for failure in project(graph, [journal()]).failures] == [4]
    assert sizes(graph) == {file.sid: 4}
    archive.close()
