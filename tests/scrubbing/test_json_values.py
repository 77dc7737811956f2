"""Secrets in JSON values and raw bytes."""

from __future__ import annotations

import random

from hypothesis import example, given
from hypothesis import strategies as st

from tallystick.model.raw import NestedText, NumberText
from tallystick.model.step import Json
from tallystick.scrubbing.budget import Budget, Counts
from tallystick.scrubbing.json_values import scrub_json, scrub_raw, scrub_repeats
from tests.scrubbing.labelled_set import filled, labelled_set
from tests.scrubbing.scrubbing import scrubbed_value
from tests.support.cases import each
from tests.support.odd_characters import ODD

TOKEN = filled("gh{}p_{alnum:36}", random.Random(6))
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(max_size=12),
        st.sampled_from([line.text for line in labelled_set(1)]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["password", "token", "name", "value", "key", "n", TOKEN]), inner, max_size=3),
    ),
    max_leaves=8,
)


@each(
    "value, clean",
    [
        ({"password": "hunter2", "n": 1}, {"password": "‹secret:password›", "n": 1}),
        ({"password": 123456}, {"password": "‹secret:password›"}),
        ({"a": [{"clientSecret": "aZ3kQ9xW2mV7"}]}, {"a": [{"clientSecret": "‹secret:secret›"}]}),
        (
            {"headers": {"Authorization": "Basic dXNlcjpwYXNz"}},
            {"headers": {"Authorization": "Basic ‹secret:authorization›"}},
        ),
        (
            {"env": [{"name": "API_KEY", "value": "aZ3kQ9xW2"}]},
            {"env": [{"name": "API_KEY", "value": "‹secret:secret›"}]},
        ),
        (["tool", "--token", "aZ3kQ9xW2mV7", "-v"], ["tool", "--token", "‹secret:secret›", "-v"]),
        ([["X-Api-Key", "aZ3kQ9xW2mV7"]], [["X-Api-Key", "‹secret:secret›"]]),
        ({"token": TOKEN}, {"token": "‹secret:github-token›"}),
        ({TOKEN: 1}, {"‹secret:github-token›": 1}),
        ({"private_key": "-" * 5 + "no key"}, {"private_key": "-" * 5 + "no key"}),
        ({"password": {"type": "string"}, "token_type": "bearer", "max_tokens": 4096}, None),
        (
            {"sha": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "session_id": "0b1f6c1e-9d3a-4a6e-8f0a-3f1d2c4b5a69"},
            None,
        ),
    ],
)
def test_a_member_is_replaced_if_its_key_or_its_form_says_so(value: Json, clean: Json) -> None:
    assert scrubbed_value(value) == (clean if clean is not None else value)


def test_keys_that_become_the_same_keep_their_members() -> None:
    other = filled("gh{}p_{alnum:36}", random.Random(8))
    assert scrubbed_value({TOKEN: 1, other: 2}) == {"‹secret:github-token›": 1, "‹secret:github-token›~2": 2}


@each("odd", list(ODD.values()), ids=list(ODD))
def test_no_character_hides_the_secret_beside_it(odd: str) -> None:
    clean = scrubbed_value({"output": f"{odd} {TOKEN} {odd}", f"{odd}": [f"password=hunter2x9 {odd}"]})
    assert clean["output"] == f"{odd} ‹secret:github-token› {odd}"
    assert "hunter2x9" not in repr(clean)


def test_what_is_left_of_a_deep_part_is_still_the_text_of_one() -> None:
    clean = scrubbed_value([NestedText(f'["{TOKEN}"]'), NumberText("12345678901234567890")])
    assert clean == ['["‹secret:github-token›"]', "12345678901234567890"]
    assert [type(item) for item in clean] == [NestedText, NumberText]


def test_a_value_without_secrets_is_the_very_same_object() -> None:
    value = {"a": ["b", {"c": "no token here"}], "password": ""}
    assert scrub_json(value, Counts()) is value


@given(VALUES)
@example({"ghp_YK0fFWqcajQLE9WVxuXbrFZmU3A6IIRgmKJS": "0ࠀ𐀀"})  # a marker is no name that says "secret"
def test_scrubbing_a_value_twice_is_scrubbing_it_once(value: Json) -> None:
    once = scrubbed_value(value)
    assert scrubbed_value(once) == once


@each("encoding", ["utf-8", "utf-16"])
def test_raw_text_is_scrubbed_in_its_own_encoding(encoding: str) -> None:
    data = f"line\nTOKEN={TOKEN}\nend\n".encode(encoding)
    assert scrub_raw(data, Counts()).decode(encoding) == "line\nTOKEN=‹secret:github-token›\nend\n"


def test_bytes_that_are_no_text_lose_only_what_is_known_by_its_form() -> None:
    data = b"\x00\xff\x01password=hunter2x9 " + TOKEN.encode() + b"\x00"
    clean = scrub_raw(data, Counts())
    assert TOKEN.encode() not in clean
    assert b"hunter2x9" in clean


def test_a_picture_stays_as_it_is() -> None:
    picture = b"\x89PNG\r\n\x1a\n" + random.Random(9).randbytes(2_000_000)
    assert scrub_raw(picture, Counts()) is picture


@each("at", [0, 62, 63, 64, 65, 127, 200, 298])
def test_a_secret_in_a_long_list_or_object_is_found_wherever_it_is(at: int) -> None:
    items: list[Json] = [f"item {number}" for number in range(300)]
    items[at : at + 2] = ["--password", "Sw0rdf1sh!x9"]
    assert scrubbed_value(items) == [*items[: at + 1], "‹secret:password›", *items[at + 2 :]]
    members: dict[str, Json] = {f"key{number}": f"item {number}" for number in range(300)}
    members[f"key{at}"] = {"password": "Sw0rdf1sh!x9"}
    assert scrubbed_value(members) == {**members, f"key{at}": {"password": "‹secret:password›"}}


def test_a_value_found_at_the_end_of_a_long_list_is_found_at_its_beginning() -> None:
    items: list[Json] = ["use Sw0rdf1sh!x9 here", *("item" for _ in range(300)), "password=Sw0rdf1sh!x9"]
    counts = Counts()
    assert "Sw0rd" not in str(scrub_repeats(scrub_json(items, counts), counts))
    assert counts.total() == 2


def test_short_strings_that_are_many_times_in_a_value_are_searched_once() -> None:
    counts = Counts(Budget(20_000))
    value: Json = {"password": "Sw0rdf1sh!x9", "names": ["password: ", "ghp_"] * 5000}
    assert "Sw0rd" not in str(scrub_json(value, counts))
