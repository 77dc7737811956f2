"""Which lines of what a call wrote stand in a text that was shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.lineage.overlap import brought_in, hardly_chance, lines_in
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

LINE = "total_price = sum(widget.price for widget in basket)"


def step(args: Json) -> Recorded:
    return Recorded(session="s", n=1, hash="h", prev="", parents=(), meta={}, values={"content.args": args})


def test_lines_that_an_edit_did_not_bring_in_are_not_its() -> None:
    args = {
        "file_path": "/w/a",
        "old_string": f"{LINE}\nreturn total_price",
        "new_string": f"{LINE}\nreturn total_price + delivery_cost",
    }
    assert brought_in(step(args)) == {"return total_price + delivery_cost"}


def test_of_a_patch_the_lines_with_a_plus_count() -> None:
    patch = (
        f"*** Begin Patch\n*** Update File: a\n@@ def total\n-return nothing_at_all\n+{LINE}\n unchanged_line_here()\n"
    )
    assert brought_in(step(patch)) == {LINE}


def test_lines_in_both_are_found_with_numbers_before_them_and_without() -> None:
    lines = brought_in(step({"content": f"import os\n{LINE}\n"}))
    assert lines & lines_in(f"     1→import os\n     2→    {LINE}\n").keys() == {LINE}
    assert lines & lines_in(f"def f():\n    {LINE}\n").keys() == {LINE}
    assert lines & lines_in(f"src/basket.py:12:{LINE}").keys() == set()


def test_lines_of_everyday_words_prove_nothing() -> None:
    lines = brought_in(step({"content": "import sys and os\nreturn None in for\n"}))
    assert len(lines) == 2
    assert not hardly_chance(sorted(lines))
    assert hardly_chance([LINE, "widget_17 = Widget(colour=blue)"])


@given(
    st.recursive(
        st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    )
)
def test_arguments_of_any_shape_are_looked_through(args: Json) -> None:
    for line in brought_in(step(args)):
        assert line == line.strip()
        assert len(line) >= 12


def test_arguments_of_any_depth_are_looked_through() -> None:
    deep: Json = LINE
    for _ in range(5_000):
        deep = [deep]
    assert brought_in(step(deep)) == {LINE}
