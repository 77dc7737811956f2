"""Prompts that only agree, and what they agree to."""

from __future__ import annotations

from tallystick.lineage.assents import agreed_to, is_assent
from tests.support.cases import each

AGREEING = ["yes", "Yes, please!", "continue", "ok go ahead", "LGTM", "2", "b)", "option 1", "do it", "sí", "继续"]
ASKING = ["", "no", "yes, and rename the class", "fix the tests", "it", "on the", "continue with phase 3 of it", "17.5"]


@each("prompt", AGREEING)
def test_a_prompt_that_only_agrees_is_one(prompt: str) -> None:
    assert is_assent(prompt)


@each("prompt", ASKING)
def test_a_prompt_that_asks_for_something_itself_is_none(prompt: str) -> None:
    assert not is_assent(prompt)


def test_yes_agrees_to_the_last_question() -> None:
    said = "I looked at it.\n\n**Shall I delete the cache?**\n\n- it is 3 GB\n- it is old"
    assert agreed_to("yes", said) == "Shall I delete the cache?"


def test_continue_goes_on_from_the_last_line_where_nothing_was_asked() -> None:
    assert agreed_to("continue", "Step 1 is done.\nNext I write the tests.\n\n") == "Next I write the tests."
    assert agreed_to("continue", "\n\n") == ""


def test_a_choice_is_the_line_that_it_names() -> None:
    said = "Two ways:\n1. Keep the file\n2) Delete the file\nWhich one?"
    assert agreed_to("2", said) == "2) Delete the file"
    assert agreed_to("option 1", said) == "1. Keep the file"
    assert agreed_to("7", said) == "Which one?"
