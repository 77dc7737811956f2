"""Vectors on what was taken away on purpose: erasures and retention."""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.seal.line import parse_line
from tallystick.seal.redact import line_text, withhold
from tools.vectors.maker import Journal, Store, alpha, journal_path, session_id
from tools.vectors.vector import Vector, bad_store, sound_store


def taken_away() -> Iterator[Vector]:
    yield erasure(covered=True, finished=True)
    yield erasure(covered=True, finished=False)
    yield erased_blob()
    yield dropped_content()
    yield from dropped_session()


def erase_lines(journal: Journal, first: int, last: int, names: frozenset[str]) -> bytes:
    """The journal's bytes with `names` withheld from entries `first` to `last`."""
    lines = [item.line for item in journal.sealed]
    for n in range(first, last + 1):
        line = parse_line(lines[n][:-1])
        shown = line.fields.keys() | line.blobs.keys()
        lines[n] = line_text(withhold(line, names & shown)) + b"\n"
    return b"".join(lines)


def log_erasure(store: Store, journal: Journal, n: int, names: list[str]) -> None:
    """The ledger entry that an erasure begins with."""
    reason = {"content.reason": "the person asked"}
    store.log("erasure", reason, session=journal.sid, n=n, entry=journal.hash(n), names=names, basis="request")


def erasure(*, covered: bool, finished: bool) -> Vector:
    journal = alpha()
    store = Store(journal)
    store.head(journal)
    log_erasure(store, journal, 1, ["content.text"])
    store.sign()
    files = store.files()
    if finished:
        files[journal_path(journal.sid)] = erase_lines(journal, 1, 1, frozenset({"content.text"}))
    count = int(finished)
    return Vector(
        name="erasure" if finished else "erasure-not-finished",
        title="a value was erased: the ledger says so, its commitment stays"
        if finished
        else "the ledger says that a value is erased, and it is still there: said, and no defect",
        section="12.1",
        files=files,
        expect=sound_store(6, withheld=count, erased=count),
    )


def erased_blob() -> Vector:
    journal = Journal(session_id("erased blob"))
    journal.add("session_start", agent="demo", kind="root")
    journal.add("tool_result", raw={"content.part_0": b"\x89PNG"}, source_id="c1/result")
    journal.add("session_end", status="completed")
    store = Store(journal)
    store.head(journal)
    log_erasure(store, journal, 1, ["content.part_0"])
    store.sign()
    files = {path: data for path, data in store.files().items() if "/blobs/" not in path}
    files[journal_path(journal.sid)] = erase_lines(journal, 1, 1, frozenset({"content.part_0"}))
    return Vector(
        name="erasure-of-blob",
        title="a value in a blob was erased: the file is gone too",
        section="12.1",
        files=files,
        expect=sound_store(3, withheld=1, erased=1),
    )


def dropped_content() -> Vector:
    journal = alpha()
    names = ["content.args", "content.error", "content.output", "content.text", "content.thinking"]
    store = Store(journal)
    store.head(journal)
    range_ = {"from": 1, "to": 4}
    store.log("retention", rule="after-30-days", action="drop_content", session=journal.sid, names=names, **range_)
    store.sign()
    files = store.files()
    files[journal_path(journal.sid)] = erase_lines(journal, 1, 4, frozenset(names))
    return Vector(
        name="retention-drop-content",
        title="the content of a range of entries was dropped after its time",
        section="12.2",
        files=files,
        expect=sound_store(6, withheld=6, erased=0),
    )


def dropped_session() -> Iterator[Vector]:
    gone, left = alpha(), Journal(session_id("left"))
    left.add("session_start", parents=(gone.reference(2),), agent="demo", kind="fork")
    left.add("session_end", status="completed")
    store = Store(gone, left)
    store.head(gone).head(left)
    size, root = len(gone.sealed), gone.root(len(gone.sealed))
    of = {"agent": "demo", "source_session": "s-1"}
    store.log("retention", rule="after-1-year", action="drop_session", session=gone.sid, size=size, root=root, **of)
    store.sign()
    files = {path: data for path, data in store.files().items() if gone.sid not in path}
    yield Vector(
        name="retention-drop-session",
        title="a whole session was dropped after its time; a fork of it still stands",
        section="12.3",
        files=files,
        expect=sound_store(2, completeness="dropped"),
    )
    yield Vector(
        name="retention-not-finished",
        title="a session is dropped and its file still there: it is read like any other, and said",
        section="19.6",
        files=store.files(),
        expect=sound_store(8),
    )
    cut = {path: gone.text(2) if path == journal_path(gone.sid) else data for path, data in store.files().items()}
    yield Vector(
        name="retention-half-finished",
        title="a session is dropped and half of its file still there: it is cut, and a fork of it still stands",
        section="19.6",
        level="A2",
        files=cut,
        expect=bad_store(gone.sid, 2, "cut", steps=4),
    )
