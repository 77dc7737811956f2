"""Identifiers, and the references that people type."""

from __future__ import annotations

import pytest

from tallystick.errors import UsageError
from tallystick.model.ids import HASH, SESSION_ID, StepReference, parse_step_reference
from tests.support.cases import each

SID, DIGEST = "0a" * 16, "0b" * 32


def test_ids_are_hex_digits_in_lower_case_and_nothing_around_them() -> None:
    assert SESSION_ID.match(SID)
    assert HASH.match(DIGEST)
    for wrong in ("", SID[:-1], SID + "0", SID.upper(), SID + "\n", " " + SID[1:], SID[:-1] + "g", SID[:-1] + "٣"):
        assert not SESSION_ID.match(wrong)
    for wrong in ("", DIGEST[:-1], DIGEST + "0", DIGEST.upper(), DIGEST + "\n", DIGEST[:-1] + "g"):
        assert not HASH.match(wrong)


@each(
    "text, expected",
    [
        ("a3f9", StepReference(hash="a3f9")),
        (DIGEST, StepReference(hash=DIGEST)),
        (f"{SID}#{DIGEST}", StepReference(session=SID, hash=DIGEST)),
        ("a3f9#12ab", StepReference(session="a3f9", hash="12ab")),
        ("a3f9:0", StepReference(session="a3f9", n=0)),
        ("a3f9:12", StepReference(session="a3f9", n=12)),
        ("a3f9:" + "9" * 16, StepReference(session="a3f9", n=10**16 - 1)),
        ("my session:4", StepReference(session="my session", n=4)),
        ("agent:7/sub:4", StepReference(session="agent:7/sub", n=4)),
        ("a#b#12ab", StepReference(session="a#b", hash="12ab")),
        ("ses_01#12ab", StepReference(session="ses_01", hash="12ab")),
        ("x#y:3", StepReference(session="x#y", n=3)),
    ],
)
def test_a_step_is_named_in_three_ways(text: str, expected: StepReference) -> None:
    assert parse_step_reference(text) == expected


@each(
    "text",
    [
        "",
        "a3f",
        "A3F9",
        "a3f9g",
        DIGEST + "0",
        ":4",
        "#12ab",
        "a3f9:",
        "a3f9:-1",
        "a3f9:x",
        "a3f9:" + "1" * 17,
        "a3f9#",
        "a3f9#12a",
        "a3f9#" + DIGEST + "0",
        "a3f9:٣",
        "a3f9:1 ",
        "a3f9: 1",
        "session",
        "a3f9\n",
    ],
)
def test_what_names_no_step_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as found:
        parse_step_reference(text)
    assert found.value.hint
