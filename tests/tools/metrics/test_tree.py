from tools.metrics.tree import kept, table


def test_the_figures_of_both_trees_are_kept_and_shown() -> None:
    before, after = kept("before"), kept("after")
    assert set(before) == set(after)
    lines = list(table(before, after, ("before", "after")))
    assert len(lines) == len(before) + 2
    assert "| longest import chain | 38 |" in "\n".join(lines)
