from tools.metrics.source import Counts, count
from tools.metrics.tree import kept, table
from tools.same.trees import ROOT


def test_the_figures_of_both_trees_are_kept_and_shown() -> None:
    before, after = kept("before"), kept("after")
    assert set(before) == set(after)
    lines = list(table(before, after, ("before", "after")))
    assert len(lines) == len(before) + 2
    assert "| longest import chain | 38 |" in "\n".join(lines)


def test_choices_between_two_values_stay_few() -> None:
    whole = Counts()
    for path in sorted((ROOT / "src/tallystick").rglob("*.py")):
        if "samples" not in path.parts:
            whole.add(count(path.read_text("utf-8")))
    assert whole.conditional_in_1000 <= 20, "the aim is 15: write an `if` statement"
    assert whole.nested_conditional_expressions <= 35, "the aim is none: write `if` and `elif`"
