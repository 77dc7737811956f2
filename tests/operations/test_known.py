from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from tallystick.operations.known import KnownSteps


def digest(n: int) -> bytes:
    return sha256(str(n).encode()).digest()


def test_an_entry_is_found_by_its_newest_source_id() -> None:
    known = KnownSteps()
    known.add(digest(0), offset=0, parents=(), source_id="a")
    known.add(digest(1), offset=10, parents=(), source_id=None)
    known.add(digest(2), offset=20, parents=(), source_id="a")
    assert known.find("a") == 2
    assert known.find("b") is None
    assert known.hash_at(1) == digest(1).hex()
    assert known.offset_of(2) == 20
    assert known.number_of(digest(1).hex()) == 1
    assert known.number_of("0" * 64) is None
    assert known.number_of(f"{'0' * 32}#{digest(1).hex()}") is None
    assert len(known) == 3


@given(st.lists(st.integers(0, 40), min_size=1, max_size=80))
def test_the_path_to_an_entry_is_the_walk_over_main_parents(choices: list[int]) -> None:
    known = KnownSteps()
    parents: list[int] = []
    for n, choice in enumerate(choices):
        parent = n - 1 if n == 0 or choice % 3 else choice % n
        explicit = () if parent == n - 1 else (digest(parent).hex(), digest(n - 1).hex())
        known.add(digest(n), offset=n, parents=explicit, source_id=None)
        parents.append(parent)
    for tip in range(len(choices)):
        walk = [tip]
        while parents[walk[-1]] >= 0:
            walk.append(parents[walk[-1]])
        walk.reverse()
        path = known.path_to(tip)
        assert [n for first, last in path.runs for n in range(first, last + 1)] == walk
        assert path.digest == sha256(b"".join(digest(n) for n in walk)).hexdigest()


def test_a_path_begins_anew_where_the_parent_is_another_session() -> None:
    known = KnownSteps()
    known.add(digest(0), offset=0, parents=(f"{'0' * 32}#{'1' * 64}",), source_id=None)
    known.add(digest(1), offset=1, parents=(), source_id=None)
    assert known.path_to(1).runs == ((0, 1),)
