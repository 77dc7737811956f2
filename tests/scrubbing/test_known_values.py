"""Values that were found before, known again by digests alone."""

from __future__ import annotations

import json
import random
import string

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Step
from tallystick.scrubbing import known_values as known_module
from tallystick.scrubbing.budget import Counts
from tallystick.scrubbing.finding import scrub_text
from tallystick.scrubbing.known_values import KnownValues, may_be_kept
from tallystick.scrubbing.members import scrub_members
from tallystick.scrubbing.step import scrub_step, secrets_of
from tests.scrubbing.test_repeats import FORMS
from tests.support.cases import each

KEY = bytes(range(32))
VALUE = "Tr0ub4dor&3-x"


def after(*values: str) -> KnownValues:
    """What another process knows that read what was kept of some values."""
    first, second = KnownValues(KEY), KnownValues(KEY)
    first.learn({value.encode(): "password" for value in values})
    for line in first.new_lines():
        second.take(line)
    return second


def scrubbed(text: str, known: KnownValues) -> str:
    return scrub_text(text, Counts(known=known))


def test_a_value_found_in_one_step_is_found_in_another() -> None:
    known = KnownValues(KEY)
    scrub_step(Step(session="a", type="tool_call", values={"content.args": f"export DB_PASSWORD={VALUE}"}), known)
    values: dict[str, Json] = {"content.text": f"Log in with {VALUE}, please.", "content.list": ["x", {VALUE: 1}]}
    clean = scrub_step(Step(session="b", type="user", values=values), known)
    assert VALUE not in str(clean.values)
    assert clean.meta == {"scrubbed": 2}


ENCODED = {name: form for name, form in FORMS.items() if name != "a pair in base64"}
WRITTEN = {**ENCODED, "with a line end, in base64": "VHIwdWI0ZG9yJjMteAo", "in HTML": "Tr0ub4dor&amp;3-x"}


@each("form", WRITTEN)
@each("around", ["{}", "say {}, then", "({})", '"{}".', "\\n{}\\n", "a\n{}\nb", "x={};", "%20{}%20"])
def test_a_value_is_found_in_every_spelling_wherever_it_is(around: str, form: str) -> None:
    text = around.format(WRITTEN[form])
    assert WRITTEN[form] not in scrubbed(text, after(VALUE))
    assert after(VALUE).may_be_in(json.dumps({"text": text}).encode())


@each("text", [f"x{VALUE}", f"{VALUE}y", VALUE[:-1], VALUE.lower(), "Tr0ub4dor&4-x", "aa1aa1aaa&1-a"])
def test_what_is_only_like_a_value_stays(text: str) -> None:
    assert scrubbed(text, after(VALUE)) == text


@given(st.text(string.ascii_letters + string.digits + "!#$%&*+=@^~_-./:\"'\\{}", min_size=8, max_size=60), st.data())
def test_any_value_that_is_worth_it_is_found_in_any_text(value: str, data: st.DataObject) -> None:
    if may_be_kept(value.encode()):
        before, behind = (data.draw(st.text(" \n\"'(),", max_size=3000)) for _ in range(2))
        found = list(after(value).find(f"{before}{value}{behind}".encode()))
        assert (len(before), len(before) + len(value), "password") in found


@each(
    "value",
    [
        "changeme",
        "password1",
        "hunter2",
        "localhost:5432",
        "2026-11-23",
        "my-app-secret-v2",
        "swordfish",
        "x9!k2",
        "a" * 40,
    ],
)
def test_what_may_be_anything_is_not_remembered(value: str) -> None:
    assert not may_be_kept(value.encode())
    assert len(after(value)) == 0


def test_what_looks_like_an_id_or_has_a_form_of_its_own_is_not_remembered() -> None:
    known = KnownValues(KEY)
    known.learn({VALUE.encode(): "token", VALUE.encode() * 2: "github-token"})
    assert known.new_lines() == []


def test_nothing_of_a_value_is_kept_but_its_outline_and_digests() -> None:
    known = KnownValues(KEY)
    known.learn({VALUE.encode(): "password"})
    (line,) = known.new_lines()
    assert VALUE[:3] not in line
    other = KnownValues(KEY[::-1])
    other.learn({VALUE.encode(): "password"})
    assert other.new_lines() != [line]


def test_so_many_values_are_known_and_the_oldest_go_first() -> None:
    chance = random.Random(3)
    values = ["".join(chance.choices(string.ascii_letters + string.digits, k=14)) + "7Q" for _ in range(40)]
    known = KnownValues(KEY)
    for value in values:
        known.learn({value.encode(): "password"})
    lines = known.lines()
    few = KnownValues(KEY)
    for _ in range(known_module.MOST_VALUES // 39 + 1):
        for line in lines:
            few.take(line)
    assert len(few) == 40
    many = KnownValues(KEY)
    for number in range(known_module.MOST_VALUES + 5):
        many.learn({f"Va!{number}ueX9qZ".encode(): "password"})
    assert len(many) == known_module.MOST_VALUES
    assert not many.may_be_in(b"Va!0ueX9qZ")
    assert many.may_be_in(b"Va!9ueX9qZ")


def test_a_flood_of_values_in_one_step_does_not_drive_out_the_others() -> None:
    known = after(VALUE)
    text = "".join(f"PASSWORD=Va!{number}ueX9qZ\n" for number in range(1000))
    scrub_step(Step(session="a", type="tool_call", values={"content.args": text}), known)
    assert len(known) == 17


@each("line", ["", "password", "password AAAA", "password ====", "other AAEADSZJ", "\0", "password " + "A" * 43])
def test_a_damaged_line_is_left_out(line: str) -> None:
    known = KnownValues(KEY)
    known.take(line)
    assert len(known) == 0


def test_events_of_a_session_log_and_scans_know_them_too() -> None:
    assert scrub_members({"type": "a", "text": f"use {VALUE}"}, after(VALUE))["text"] == "use ‹secret:password›"
    step = Recorded(session="s", n=1, hash="", prev="", parents=(), meta={}, values={"content.text": f"use {VALUE}"})
    assert secrets_of(step, after(VALUE)) == {"content.text": {"password": 1}}
