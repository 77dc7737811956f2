from tools.metrics.source import Counts, count

MODULE = '''
"""A module."""

from __future__ import annotations

TABLE = {
    "a": ("b", "c"),
    "d": ("e", "f"),
    "g": frozenset({"h"}),
}
NAME = "one"
CHOSEN = tuple(
    name
    for name in TABLE
    if name
)


def decides(self, a, b, c, *, d, e):
    """What it decides."""
    if a and b or c:
        return [item for item in d if item]
    for item in e:
        try:
            yield item if a else b if c else d
        except ValueError:
            pass


def plain(a, b, c, d, e): ...
'''


def test_each_measure_follows_its_definition() -> None:
    found = count(MODULE)
    # two functions, if, for, except, `and`, `or`, two conditional expressions, two comprehensions with a condition each
    assert found.decisions == 2 + 3 + 2 + 2 + 2 + 2
    assert found.conditional_expressions == 2
    assert found.nested_conditional_expressions == 1
    assert found.wide_functions == 1
    assert found.assignment_lines == 5 + 1 + 5
    assert found.table_lines == 5
    assert found.lines == len(MODULE.splitlines())
    assert found.text_lines == sum(bool(line.strip()) for line in MODULE.splitlines())


def test_counts_add_up() -> None:
    whole = Counts()
    for _ in range(3):
        whole.add(count(MODULE))
    assert whole.modules == 3
    assert whole.decisions == 3 * count(MODULE).decisions
    assert whole.decisions_in_100 == count(MODULE).decisions_in_100
