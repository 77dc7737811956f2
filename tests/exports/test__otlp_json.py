"""The JSON of OTLP."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tallystick.exports._otlp_json import SPANS_A_LINE, Note, Span, microseconds, request_lines, span_id, trace_id
from tallystick.model.step import Json
from tests.exports.spans import attributes, decoded, spans_of

HASH = "4cf9f0a72c9de4bc" + "0" * 48
VALUES = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(min_size=1),
    st.lists(st.text(), min_size=1),
    st.dictionaries(st.text(), st.integers(), min_size=1),
)


def made(**more: Json) -> Span:
    members: dict[str, Json] = {
        "span": HASH,
        "parent": None,
        "name": "x",
        "began_us": 5,
        "ended_us": 7,
        "attributes": {},
    }
    return Span(**members | more)


def lines(*spans: Span) -> list[bytes]:
    return list(request_lines("s", spans, resource={"service.name": "a"}, scope={"name": "t"}, schema_url="u"))


@given(st.dictionaries(st.text(min_size=1), VALUES))
def test_a_receiver_reads_the_attributes_that_were_written(values: dict[str, Json]) -> None:
    (span,) = spans_of(lines(made(attributes=values)))
    found = attributes(span.attributes)
    assert found.keys() == values.keys()
    for key, value in values.items():
        if isinstance(value, dict):
            assert json.loads(found[key]) == value
        elif isinstance(value, int) and abs(value) >= 1 << 63:
            assert found[key] == str(value)
        else:
            assert found[key] == value


@given(st.integers(-(1 << 80), 1 << 80), st.integers(-(1 << 80), 1 << 80))
def test_no_time_breaks_a_span_and_none_ends_before_it_began(began: int, ended: int) -> None:
    (span,) = spans_of(lines(made(began_us=began, ended_us=ended, notes=[Note(began, "n", {})])))
    assert 0 <= span.start_time_unix_nano <= span.end_time_unix_nano < 1 << 63


def test_a_span_has_the_digits_of_its_step_by_which_it_can_be_shown() -> None:
    (span,) = spans_of(lines(made(parent="f" * 64, link=("other", "e" * 64), error="why", is_call_out=True)))
    assert span.span_id.hex() == HASH[:16]
    assert span.parent_span_id.hex() == "f" * 16
    assert (span.links[0].trace_id.hex(), span.links[0].span_id.hex()) == (trace_id("other"), "e" * 16)
    assert (span.kind, span.status.code, span.status.message) == (3, 2, "why")


def test_no_id_is_all_zeros_which_would_be_none() -> None:
    assert int(span_id("0" * 64), 16) > 0
    assert len(span_id("0" * 64)) == 16


def test_many_spans_are_several_requests() -> None:
    found = lines(*(made() for _ in range(SPANS_A_LINE + 1)))
    assert [len(decoded(line).resource_spans[0].scope_spans[0].spans) for line in found] == [SPANS_A_LINE, 1]
    assert all(line.endswith(b"\n") and b"\n" not in line[:-1] for line in found)


def test_times_are_read_as_the_record_writes_them() -> None:
    assert microseconds("1970-01-01T00:00:01.000002Z") == 1_000_002
    assert [microseconds(value) for value in (None, 7, "", "2026-02-31T00:00:00.000000Z", "2026-01-01T00:00:00")] == [
        None
    ] * 5
