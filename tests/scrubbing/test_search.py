"""Values in which the search for secrets would take too long."""

import json
from hashlib import sha256

from tallystick.model.step import Json
from tallystick.scrubbing.json_values import scrub_json, scrub_raw
from tallystick.scrubbing.search import Search
from tests.support.cases import each

FLOOD = "".join(f"cookie: {number} " for number in range(1000))
PASSWORD = "password=Sw0rdf1sh!x9"


def kept(data: bytes) -> str:
    return f"\x10tally:unsearched:{len(data)}:{sha256(data).hexdigest()}"


@each("value", [FLOOD, [FLOOD, 1], {"a": FLOOD, "ü": PASSWORD}, "\ud800" + FLOOD])
def test_of_a_value_beyond_the_budget_only_length_and_digest_are_kept(value: Json) -> None:
    search = Search(500)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert search.clean(value, scrub_json) == kept(text.encode("utf-8", "surrogatepass"))
    assert search.told() == {"unsearched": 1}


def test_raw_bytes_are_measured_as_they_are() -> None:
    assert Search(500).clean(FLOOD.encode(), scrub_raw) == kept(FLOOD.encode())


def test_what_is_kept_stays_the_same_when_it_is_searched_again() -> None:
    once = Search(500).clean(FLOOD, scrub_json)
    again = Search(500)
    assert again.clean(once, scrub_json) == once
    assert not again


@each("first, last", [(FLOOD, PASSWORD), (PASSWORD, FLOOD)])
def test_one_value_beyond_the_budget_takes_no_other_with_it(first: str, last: str) -> None:
    search = Search(500)
    cleaned = [search.clean(value, scrub_json) for value in (first, last)]
    assert "password=‹secret:password›" in cleaned
    assert search.told() == {"scrubbed": 1, "unsearched": 1}


def test_a_value_that_is_not_kept_adds_no_secrets_to_the_count() -> None:
    search = Search(500)
    search.clean("".join(f"{PASSWORD}{number}\n" for number in range(1000)), scrub_json)
    assert search.told() == {"unsearched": 1}


def test_where_nothing_is_found_nothing_is_told() -> None:
    search = Search()
    value: Json = ["plain", 1]
    assert search.clean(value, scrub_json) is value
    assert not search
    assert search.told() == {}
