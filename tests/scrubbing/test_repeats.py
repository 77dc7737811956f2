"""Values that were found, wherever else they stand."""

from __future__ import annotations

import base64
from urllib.parse import quote

from tallystick.model.step import Json, Step
from tallystick.scrubbing.repeats import Repeats
from tallystick.scrubbing.step import scrub_step
from tests.scrubbing.scrubbing import scrubbed
from tests.support.cases import each

VALUE = "Tr0ub4dor&3-x"
FORMS = {
    "plain": VALUE,
    "base64": base64.b64encode(VALUE.encode()).decode(),
    "a pair in base64": base64.b64encode(f"alice:{VALUE}".encode()).decode(),
    "hex": VALUE.encode().hex(),
    "capital hex": VALUE.encode().hex().upper(),
    "an address": quote(VALUE, safe=""),
}


@each("form", FORMS)
def test_a_value_found_once_is_found_again(form: str) -> None:
    clean = scrubbed(f"I will send {FORMS[form]} now.\npassword={VALUE}\n")
    assert FORMS[form] not in clean
    assert clean.startswith("I will send ‹secret:password› now.")


def test_a_value_is_found_again_in_another_value_of_the_same_step() -> None:
    values: dict[str, Json] = {
        "content.input": {"command": f"login {VALUE}"},
        "content.output": {"env": {"PASSWORD": VALUE}},
    }
    clean = scrub_step(Step(session="s", type="tool_call", values=values))
    assert VALUE not in str(clean.values)
    assert clean.meta["scrubbed"] == 2


def test_a_value_is_found_again_in_a_long_text() -> None:
    text = f"{'lorem ipsum ' * 20_000}{VALUE} {'dolor ' * 20_000}"
    assert VALUE not in scrubbed(f"password={VALUE}\n{text}")


def test_a_part_of_a_word_is_not_the_value() -> None:
    repeats = Repeats()
    repeats.add(b"swordfish", "password")
    text = b"swordfishes and a swordfish"
    assert list(repeats.spans(text, repeats.between(text, 0, len(text)))) == [(18, 27, "password")]


def test_words_that_are_no_password_are_not_looked_for() -> None:
    repeats = Repeats()
    for value in (b"changeme", b"password", b"12345678", b"abc", b"x" * 600):
        repeats.add(value, "password")
    assert len(repeats) == 0


def test_what_may_be_an_id_is_not_looked_for() -> None:
    text = '{"id": "20261122_032937_29368a", "session_key": "20261122_032937_29368a"}'
    assert '"id": "20261122_032937_29368a"' in scrubbed(text)


def test_a_member_after_one_that_says_pass_is_not_its_value() -> None:
    text = '{"check":"deterministic","pass":true,"action":"allow"}'
    assert scrubbed(text) == text


def test_a_search_remembers_so_many_values_and_no_more() -> None:
    repeats = Repeats()
    for number in range(1000):
        repeats.add(f"Val#{number}!ueX".encode(), "password")
    assert len(repeats) == 64
