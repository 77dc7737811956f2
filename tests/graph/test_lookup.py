from __future__ import annotations

import pytest

from tallystick.errors import AmbiguousError, NotFoundError, UsageError
from tallystick.graph.graph import Graph
from tallystick.graph.lookup import Known, find_step, known_step, matching_sessions, resolve_session
from tallystick.graph.project import project
from tallystick.model.ids import StepReference, parse_step_reference
from tests.graph.making import Session


def told(name: str, sid: str, *, agent: str = "demo", start: float = 0) -> Session:
    session = Session(name, sid=sid.ljust(32, "0"), agent=agent, start=start)
    session.begin()
    session.prompt("hello", source_id=f"{name}/1")
    session.add("assistant", {"source_id": "shared"}, text="hi")
    return session


ONE = told("3f2a9c00-1111", "abcd1", start=10)
CHILD = told("3f2a9c00-1111/task", "abcd2", start=20)
NEXT = told("3f2a9c00-1111~1", "abcd3", start=30)
TWIN = told("3f2a9c00-2222", "ef", start=40)
OTHER = told("0000-other", "12", agent="other", start=50)
SAME = told("0000-other", "34", agent="demo", start=60)
ALL = (ONE, CHILD, NEXT, TWIN, OTHER, SAME)


@pytest.fixture
def index(graph: Graph) -> Graph:
    project(graph, [session.journal() for session in ALL])
    return graph


@pytest.mark.parametrize(
    ("text", "session"),
    [
        (ONE.sid, ONE),
        (ONE.sid.upper(), ONE),
        ("abcd1", ONE),
        ("ABCD2", CHILD),
        ("3f2a9c00-1111", ONE),
        ("3f2a9c00-1", ONE),
        ("3f2a9c00-1111/task", CHILD),
        ("3f2a9c00-1111/", CHILD),
        ("3f2a9c00-1111~", NEXT),
        ("ef00", TWIN),
    ],
)
def test_a_session_is_named_by_either_id_or_its_beginning(index: Graph, text: str, session: Session) -> None:
    assert resolve_session(index, text).session == session.sid


@pytest.mark.parametrize("text", ["", "abc", "ef0", "abcd9", "zzzz", "3f2a9c00-1111/tusk", "%", "abcd_", "a" * 5000])
def test_what_names_no_session_is_said_so(index: Graph, text: str) -> None:
    with pytest.raises(NotFoundError):
        resolve_session(index, text)


@pytest.mark.parametrize(
    ("text", "sessions"),
    [("abcd", (NEXT, CHILD, ONE)), ("3f2a", (TWIN, ONE)), ("0000-other", (SAME, OTHER)), ("0000", (SAME, OTHER))],
)
def test_an_ambiguous_name_lists_its_sessions(index: Graph, text: str, sessions: tuple[Session, ...]) -> None:
    assert [row.session for row in matching_sessions(index, text)] == [session.sid for session in sessions]
    with pytest.raises(AmbiguousError, match=f"{len(sessions)} sessions") as error:
        resolve_session(index, text)
    assert all(session.sid[:12] in str(error.value) for session in sessions)


def test_a_very_ambiguous_name_lists_some_of_its_sessions(graph: Graph) -> None:
    project(graph, [told(f"own{n:02}", f"aaaa{n:02}").journal() for n in range(20)])
    assert len(matching_sessions(graph, "aaaa")) == 10
    with pytest.raises(AmbiguousError, match="more than 10 sessions"):
        resolve_session(graph, "aaaa")


def test_a_name_that_is_no_unicode_is_refused(index: Graph) -> None:
    with pytest.raises(UsageError):
        resolve_session(index, "abc\udcff")


@pytest.mark.parametrize(
    "text",
    [
        f"{ONE.sid}:2",
        "abcd1:2",
        "3f2a9c00-1111:2",
        ONE.lines[2].step.hash,
        ONE.lines[2].step.hash[:12],
        f"abcd1#{ONE.lines[2].step.hash[:8]}",
    ],
)
def test_a_step_is_named_in_any_of_the_ways_of_the_format(index: Graph, text: str) -> None:
    line = ONE.lines[2]
    place = find_step(index, parse_step_reference(text))
    assert (place.session, place.n, place.hash, place.offset) == (ONE.sid, 2, line.step.hash, line.offset)


@pytest.mark.parametrize(
    "reference",
    [
        StepReference(session=ONE.sid, n=3),
        StepReference(session="ffff", n=0),
        StepReference(session=TWIN.sid, hash=ONE.lines[2].step.hash),
        StepReference(hash="0" * 64),
        StepReference(hash="0"),
        StepReference(),
    ],
)
def test_a_step_that_is_not_there_is_said_so(index: Graph, reference: StepReference) -> None:
    with pytest.raises(NotFoundError):
        find_step(index, reference)


def test_a_short_hash_that_several_steps_have_lists_them(graph: Graph) -> None:
    session = Session()
    session.begin()
    for _ in range(600):
        session.add("assistant")
    by_beginning: dict[str, list[str]] = {}
    for line in session.lines:
        by_beginning.setdefault(line.step.hash[:4], []).append(line.step.hash)
    beginning, hashes = max(by_beginning.items(), key=lambda item: len(item[1]))
    assert len(hashes) > 1
    project(graph, [session.journal()])
    with pytest.raises(AmbiguousError, match=f"{len(hashes)} steps") as error:
        find_step(graph, StepReference(hash=beginning))
    assert all(digest[:16] in str(error.value) for digest in hashes)


def test_an_event_is_known_by_its_agent_and_id(index: Graph) -> None:
    assert known_step(index, "demo", "3f2a9c00-1111/1") == Known(ONE.sid, 1, ONE.lines[1].step.hash)
    assert known_step(index, "other", "3f2a9c00-1111/1") is None
    assert known_step(index, "demo", "nothing") is None


def test_of_several_entries_for_one_event_the_first_recorded_is_known(index: Graph) -> None:
    assert known_step(index, "demo", "shared") == Known(ONE.sid, 2, ONE.lines[2].step.hash)
    assert known_step(index, "other", "shared") == Known(OTHER.sid, 2, OTHER.lines[2].step.hash)
