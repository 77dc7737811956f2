"""Ids of entries in little memory are found as a dictionary would find them."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from tallystick.recording.source_ids import SourceIds

IDS = st.none() | st.text(max_size=3) | st.sampled_from(["", "a", "call", "call/result", "\ud800"])


@given(st.lists(IDS, max_size=200), st.lists(st.tuples(st.text(max_size=2), st.integers(0, 9)), max_size=20))
def test_it_finds_what_a_dictionary_finds(ids: list[str | None], aliases: list[tuple[str, int]]) -> None:
    kept, known = SourceIds(), dict[str, int]()
    for n, one in enumerate(ids):
        kept.add(one)
        if one is not None:
            known[one] = n
        for alias, entry in aliases[n : n + 1]:
            kept.also(alias, entry)
            known.setdefault(alias, entry)
    assert [kept.of(n) for n in range(len(kept))] == ids
    assert {name: kept.find(name) for name in known} == known
    assert kept.find("never") is None


def test_an_entry_takes_less_than_a_hundred_bytes() -> None:
    ids = [f"toolu_{number:024}/result" for number in range(20_000)]
    tracemalloc.start()
    try:
        kept = SourceIds()
        for one in ids:
            kept.add(one)
        assert tracemalloc.get_traced_memory()[0] / len(ids) < 100
    finally:
        tracemalloc.stop()
