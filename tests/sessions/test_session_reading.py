from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.step import Json
from tallystick.sessions.session_reading import Assembly, ReadLog
from tests.support.cases import each_case


def event(seq: int, **members: Json) -> dict[str, Json]:
    return {"_type": "event", "seq": seq, "type": "warning", **members}


def assembled(*records: dict[str, Json], header: bool = True) -> ReadLog:
    assembly = Assembly()
    if header:
        assembly.take({"_type": "header", "id": "s"}, 0)
    for offset, record in enumerate(records, start=1):
        assembly.take(record, offset)
    return assembly.finish()


def kinds(read: ReadLog) -> list[str]:
    return [problem.kind for problem in read.problems]


def test_the_last_footer_counts() -> None:
    read = assembled(
        {"_type": "footer", "status": "running"}, {"_type": "footer", "status": "complete", "outputs": {"a": 1}}
    )
    assert read.footer is not None
    assert (read.as_log().status, read.as_log().outputs) == ("complete", {"a": 1})
    assert kinds(read) == []


def test_a_later_header_of_the_same_session_says_what_was_not_known_before() -> None:
    read = assembled({"_type": "header", "id": "s", "inputs": {"v": "1"}}, {"_type": "header", "id": "other"})
    assert read.header is not None
    assert (read.header.id, read.header.inputs) == ("s", {"v": "1"})
    assert kinds(read) == ["extra_header"]


def test_without_header_and_footer_there_is_still_a_log() -> None:
    read = assembled(event(1), header=False)
    assert (read.header, read.footer, kinds(read)) == (None, None, ["no_header"])
    log = read.as_log("named-by-its-file")
    assert (log.id, log.status, len(log.events)) == ("named-by-its-file", "", 1)


@given(st.permutations(range(1, 30)))
def test_events_come_in_the_order_of_their_numbers(order: list[int]) -> None:
    read = assembled(*[event(seq) for seq in order])
    assert [found.seq for found in read.events] == list(range(1, 30))
    assert set(kinds(read)) <= {"out_of_order"}
    assert (kinds(read) == []) == (order == sorted(order))


def test_an_event_without_a_number_stays_behind_the_one_it_was_written_after() -> None:
    read = assembled(event(2), event(0, content="x"), event(1), event(0, content="y"), event(3))
    assert [(found.seq, found.content) for found in read.events] == [(1, ""), (2, ""), (0, "x"), (0, "y"), (3, "")]


def test_copies_are_dropped_and_told_and_clashes_are_kept_and_told() -> None:
    read = assembled(
        event(1, content="a"), event(1, content="b"), event(1, content="b"), event(1, content="a"), event(2)
    )
    assert [(found.seq, found.content) for found in read.events] == [(1, "a"), (1, "b"), (2, "")]
    assert sorted(kinds(read)) == ["duplicate_event", "duplicate_event", "number_clash"]


def test_numbers_that_are_missing_are_told() -> None:
    read = assembled(event(2), event(3), event(7))
    assert [problem.detail for problem in read.problems] == [
        "events 1 to 1 are not there",
        "events 4 to 6 are not there",
    ]


@each_case("first, second, told")
def test_a_clock_that_went_back_is_told(first: str, second: str, told: list[str]) -> None:
    assert kinds(assembled(event(1, timestamp=first), event(2, timestamp=second))) == told


def test_records_that_are_none_are_told() -> None:
    read = assembled({"_type": "other"}, {"_type": "event"}, {"x": 1})
    assert kinds(read) == ["unknown_record", "empty_event", "unknown_record"]


def test_no_more_than_a_thousand_problems_are_told_one_by_one() -> None:
    read = assembled(*[{"_type": "other"}] * 1_500)
    assert len(read.problems) == 1_001
    assert read.problems[-1].kind == "too_many"
    assert read.problems[-1].detail.startswith("500 ")
