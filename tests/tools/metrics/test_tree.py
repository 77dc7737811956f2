import re

import pytest

from tools.metrics.source import Counts, count
from tools.metrics.tree import kept, table
from tools.same.trees import ROOT


def test_the_figures_of_both_trees_are_kept_and_shown() -> None:
    before, after = kept("before"), kept("after")
    assert set(before) == set(after)
    lines = list(table(before, after, ("before", "after")))
    assert len(lines) == len(before) + 2
    assert "| longest import chain | 38 |" in "\n".join(lines)


ELSE = re.compile(r"\belse\b(?! *:)")
TWICE = re.compile(r"\bif\b.*\belse\b(?! *:).*\bif\b.*\belse\b(?! *:)")


def sources() -> list[str]:
    paths = sorted((ROOT / "src/tallystick").rglob("*.py"))
    return [path.read_text("utf-8") for path in paths if "samples" not in path.parts]


def test_choices_between_two_values_stay_few() -> None:
    """By the words alone: each choice has an `else` without a colon, so there are not more of them."""
    text = "\n".join(sources())
    lines = [line for line in text.splitlines() if line.strip()]
    assert 1000 * len(ELSE.findall(text)) / len(lines) <= 20, "the aim is 15: write an `if` statement"
    assert sum(bool(TWICE.search(line)) for line in lines) <= 35, "the aim is none: write `if` and `elif`"


@pytest.mark.soak
def test_choices_between_two_values_stay_few_in_the_syntax_too() -> None:
    whole = Counts()
    for text in sources():
        whole.add(count(text))
    assert whole.conditional_in_1000 <= 20, "the aim is 15: write an `if` statement"
    assert whole.nested_conditional_expressions <= 35, "the aim is none: write `if` and `elif`"
