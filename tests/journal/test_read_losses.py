from __future__ import annotations

from tallystick.journal.read_losses import ReadLosses
from tallystick.model.step import Json


def entry(begins: int | None, offset: int, session: str = "s", **skipped: int) -> dict[str, Json]:
    meta: dict[str, Json] = {"type": "import", "session": session, "offset": offset, "skipped": dict(skipped)}
    if begins is not None:
        meta["from"] = begins
    return meta


def taken(*entries: dict[str, Json]) -> ReadLosses:
    losses = ReadLosses()
    for meta in entries:
        losses.take(meta, "/h/a.jsonl", f"digest of {meta['offset']}")
    return losses


def total(losses: ReadLosses, session: str = "s") -> dict[str, int]:
    found: dict[str, int] = {}
    for _, kinds, _ in losses.of_session(session):
        for kind, count in kinds.items():
            found[kind] = found.get(kind, 0) + count
    return found


def test_what_two_readings_left_out_of_two_ranges_adds_up() -> None:
    losses = taken(entry(0, 100, bad_line=1, progress=2), entry(100, 200, progress=3))
    assert total(losses) == {"bad_line": 1, "progress": 5}
    assert losses.damage_of("/h/a.jsonl", before=200) == {"bad_line": 1}
    assert losses.damage_of("/h/other.jsonl", before=200) == {}


def test_a_file_that_is_read_again_from_its_beginning_is_counted_once() -> None:
    assert total(taken(entry(0, 100, bad_line=1), entry(100, 200, bad_line=1), entry(0, 200, bad_line=1))) == {
        "bad_line": 1
    }
    assert total(taken(entry(0, 100, bad_line=1), entry(0, 90))) == {}


def test_a_reading_that_goes_on_replaces_what_it_said_itself() -> None:
    losses = taken(entry(0, 100, progress=1), entry(100, 200, bad_line=1), entry(100, 300, bad_line=2))
    assert total(losses) == {"progress": 1, "bad_line": 2}


def test_half_a_line_is_read_again_when_it_is_whole() -> None:
    losses = taken(entry(0, 100, half_line=1))
    assert total(losses) == {"half_line": 1}
    assert losses.damage_of("/h/a.jsonl", before=100) == {}
    losses.take(entry(100, 200), "/h/a.jsonl", "digest of 200")
    assert total(losses) == {}


def test_the_sessions_of_one_reading_keep_their_own_counts() -> None:
    losses = taken(entry(0, 100, "a", bad_line=1), entry(0, 100, "b"), entry(0, 100, "c", progress=1))
    assert (total(losses, "a"), total(losses, "b"), total(losses, "c")) == ({"bad_line": 1}, {}, {"progress": 1})


def test_of_entries_that_do_not_say_where_they_began_nothing_is_lost_or_doubled() -> None:
    losses = taken(entry(None, 100, bad_line=1, progress=4), entry(None, 200, progress=2), entry(None, 300))
    assert total(losses) == {"bad_line": 1, "progress": 4}
