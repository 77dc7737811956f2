"""PROV-JSON as the `prov` library reads it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prov.model import Literal, ProvDocument

from tallystick.exports._prov_document import Document, qualified, time_of_ms
from tallystick.model.step import Json

VALUES = st.one_of(
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)


def read(document: Document) -> ProvDocument:
    text = document.text()
    assert text.endswith(b"\n")
    assert b"\n" not in text[:-1]
    return ProvDocument.deserialize(content=text.decode(), format="json")


@given(VALUES)
def test_a_reader_gets_the_value_that_was_written(value: Json) -> None:
    document = Document()
    document.add("entity", "e", {"tally:value": value, "tally:none": None})
    (entity,) = read(document).get_records()
    ((name, found),) = entity.attributes
    plain = int(found.value) if isinstance(found, Literal) else found
    assert (str(name), plain, type(plain)) == ("tally:value", value, type(value))


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.text(st.characters(exclude_categories=["Cs"])))
def test_names_of_others_become_names_that_differ_as_they_do(one: str, other: str) -> None:
    document = Document()
    names = [document.add_named("agent", "model", said, {}) for said in (one, other)]
    assert (names[0] == names[1]) is (one == other)
    assert len(list(read(document).get_records())) == len(set(names))
    assert all(len(name) < 120 for name in names)


def test_a_record_is_added_once_and_may_still_change() -> None:
    document = Document()
    first = document.add("activity", "a", {"prov:startTime": "2026-01-01T00:00:00Z"})
    assert document.add("activity", "a", {"tally:other": 1}) is first
    document.values("activity", "a")["prov:endTime"] = "2026-01-01T00:00:01Z"
    assert document.has("activity", "a")
    assert not document.has("entity", "a")
    (activity,) = read(document).get_records()
    assert [str(time) for time in activity.args] == ["2026-01-01 00:00:00+00:00", "2026-01-01 00:00:01+00:00"]


def test_relations_join_records_by_their_roles() -> None:
    document = Document()
    document.add("entity", "e", {"prov:type": qualified("prov:Collection")})
    document.add("activity", "a", {})
    document.relate("used", {"prov:activity": "a", "prov:entity": "e"}, {"tally:confidence": 0.5})
    used = next(record for record in read(document).get_records() if record.is_relation())
    assert [str(end) for end in used.args[:2]] == ["tally:a", "tally:e"]


@given(st.integers(-(1 << 70), 1 << 70))
def test_any_number_is_some_time(at_ms: int) -> None:
    assert len(time_of_ms(at_ms)) == len("2026-01-01T00:00:00.000Z")
