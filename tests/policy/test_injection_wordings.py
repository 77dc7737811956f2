"""The table of wordings is sound: each can be found at all, and costs little."""

import re

import pytest

from tallystick.policy.injection_wordings import Wording, wordings
from tallystick.policy.prompt_injection import TAGS
from tests.support.cases import each

NAMED = [pytest.param(one, id=f"{one.tag}-{n}") for n, one in enumerate(wordings())]


@each("wording", NAMED)
def test_a_wording_belongs_to_a_tag_that_is_explained(wording: Wording) -> None:
    assert wording.tag in TAGS
    assert wording.needs
    assert wording.parts


def test_every_tag_but_that_of_what_is_not_seen_has_wordings() -> None:
    assert {one.tag for one in wordings()} == TAGS.keys() - {"hidden-text"}


@each("wording", NAMED)
def test_no_part_is_found_in_nothing_and_no_name_in_it_was_left_as_it_is(wording: Wording) -> None:
    for part in wording.parts:
        assert part.search("") is None
        assert re.search(r"<[A-Z]+>|_", part.pattern) is None
