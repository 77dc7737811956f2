from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from tallystick.recording.entry_index import KnownStep, KnownSteps


def digest(n: int) -> bytes:
    return sha256(str(n).encode()).digest()


def test_an_entry_is_found_by_its_newest_source_id() -> None:
    known = KnownSteps()
    known.add(KnownStep(digest(0), offset=0, parents=(), source_id="a"))
    known.add(KnownStep(digest(1), offset=10, parents=()))
    known.add(KnownStep(digest(2), offset=20, parents=(), source_id="a"))
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
        known.add(KnownStep(digest(n), offset=n, parents=explicit))
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
    known.add(KnownStep(digest(0), offset=0, parents=(f"{'0' * 32}#{'1' * 64}",)))
    known.add(KnownStep(digest(1), offset=1, parents=()))
    assert known.path_to(1).runs == ((0, 1),)


def known_of(*ids: str | None, tells: dict[int, int] | None = None) -> KnownSteps:
    known = KnownSteps()
    for n, source_id in enumerate(ids):
        known.add(KnownStep(digest(n), offset=n, parents=(), source_id=source_id, tells=(tells or {}).get(n)))
    return known


def test_an_event_is_found_by_its_newest_telling_whoever_told_it() -> None:
    known = known_of(None, "hook/1", "c", "other", "c", tells={2: 1, 4: 2})
    assert known.find("hook/1") == known.find("c") == 4
    assert known.find("other") == 3
    assert [known.first(n) for n in range(5)] == [0, 1, 1, 3, 1]
    assert known.reports(2) == (1, 2, 4)
    assert known.names(4) == ("hook/1", "c")
    assert known.names(0) == ()


def test_what_belongs_to_an_event_is_found_under_its_other_name() -> None:
    known = known_of(None, "hook/1", "hook/1/result", "d/result")
    assert known.find("c/result") is None
    known.see(1, "transcript", "c")
    assert known.find("c") == 1
    assert known.find("c/result") == 2
    assert known.find("c/decision") is None
    assert known.find("d") is None


def test_a_source_that_saw_an_event_is_remembered() -> None:
    known = known_of(None, "a", "a", tells={2: 1})
    known.see(2, "transcript", "a")
    assert known.is_seen(1, "transcript")
    assert known.is_seen(2, "transcript")
    assert not known.is_seen(1, "acp")
    assert known.find("a") == 2


def test_a_link_to_what_is_not_before_it_is_no_link() -> None:
    known = known_of(None, "a", "b", tells={1: 1, 2: 7})
    assert (known.first(1), known.first(2)) == (1, 2)
