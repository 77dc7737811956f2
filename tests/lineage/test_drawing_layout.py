"""Where boxes stand."""

from __future__ import annotations

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from tallystick.lineage.drawing_layout import Layout, Size, lay_out

Arrows = list[tuple[int, int]]


@st.composite
def nets(draw: st.DrawFn) -> tuple[list[Size], Arrows]:
    count = draw(st.integers(1, 14))
    place = st.integers(0, count - 1)
    sizes = [Size(draw(st.integers(40, 200)), draw(st.integers(20, 60))) for _ in range(count)]
    return sizes, draw(st.lists(st.tuples(place, place), max_size=30))


def overlap(layout: Layout, sizes: list[Size], one: int, other: int) -> bool:
    here, there = layout.spots[one], layout.spots[other]
    wide = (sizes[one].width + sizes[other].width) / 2
    tall = (sizes[one].height + sizes[other].height) / 2
    return abs(here.x - there.x) < wide - 1e-6 and abs(here.y - there.y) < tall - 1e-6


@given(nets())
def test_no_two_boxes_overlap(net: tuple[list[Size], Arrows]) -> None:
    sizes, arrows = net
    layout = lay_out(sizes, arrows)
    assert not any(overlap(layout, sizes, one, other) for one, other in combinations(range(len(sizes)), 2))


@given(nets())
def test_everything_lies_within_the_size(net: tuple[list[Size], Arrows]) -> None:
    sizes, arrows = net
    layout = lay_out(sizes, arrows)
    for spot, size in zip(layout.spots, sizes, strict=True):
        assert size.width / 2 - 1e-6 <= spot.x <= layout.size.width - size.width / 2 + 1e-6
        assert size.height / 2 - 1e-6 <= spot.y <= layout.size.height - size.height / 2 + 1e-6


@given(nets())
def test_each_arrow_goes_from_its_source_to_its_target_without_turning(net: tuple[list[Size], Arrows]) -> None:
    sizes, arrows = net
    layout = lay_out(sizes, arrows)
    assert len(layout.ways) == len(arrows)
    for (source, target), way in zip(arrows, layout.ways, strict=True):
        assert (way[0], way[-1]) == (layout.spots[source], layout.spots[target])
        steps = [there.x - here.x for here, there in pairwise(way)]
        assert source == target or all(step > 0 for step in steps) or all(step < 0 for step in steps)


@given(nets())
def test_the_same_picture_is_laid_out_alike(net: tuple[list[Size], Arrows]) -> None:
    assert lay_out(*net) == lay_out(*net)


@given(st.integers(1, 14).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_arrows_run_forwards_where_nothing_goes_round_in_a_circle(net: tuple[int, Arrows]) -> None:
    count, pairs = net
    arrows = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    layout = lay_out([Size(10, 10)] * count, arrows)
    assert all(layout.spots[source].x < layout.spots[target].x for source, target in arrows)


def test_arrows_that_need_not_cross_do_not() -> None:
    # Two chains, whose boxes come in an order that would cross them twice.
    arrows = [(0, 3), (1, 2), (2, 5), (3, 4)]
    spots = lay_out([Size(10, 10)] * 6, arrows).spots
    for (one, to), (other, there) in ((arrows[0], arrows[1]), (arrows[3], arrows[2])):
        assert (spots[one].y < spots[other].y) == (spots[to].y < spots[there].y)


def test_a_picture_of_nothing_has_no_size() -> None:
    assert lay_out([], []) == Layout((), (), Size(0, 0))


def test_a_large_picture_is_laid_out_too() -> None:
    count = 400
    arrows = [(number, (number * 7 + 3) % count) for number in range(count)] + [(0, number) for number in range(count)]
    layout = lay_out([Size(100, 40)] * count, arrows)
    assert len(layout.spots) == count
