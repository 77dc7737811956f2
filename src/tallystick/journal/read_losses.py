"""What was left out of source files, by the bytes that were read of them (docs/format.md 13.4).

Owns how the counts of several `import` entries add up: each is of the bytes from `from` to `offset`, and replaces what
earlier ones said of bytes from there on. Must not know where entries are kept, nor what kinds mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import msgspec

from tallystick.model.step import Json

_HALF_LINE = "half_line"
"""It begins where reading ended: the next reading begins with it."""
_DAMAGE = ("bad_line", "half_line", "line_too_long", "unsealable")
"""What counts as damage in entries that do not say which of their kinds do."""


class _Range(msgspec.Struct):
    """One reading: where it began and ended, and by session the kinds that were left out. The session may be empty."""

    begins: int
    offset: int
    digest: str
    damaged: frozenset[str]
    skipped: dict[str, dict[str, int]]


class ReadLosses:
    """What was left out of files, as the entries that were taken say."""

    def __init__(self) -> None:
        self._files: dict[str, list[_Range]] = {}

    def take(self, meta: Mapping[str, Json], path: str, digest: str) -> None:
        """Take in an `import` entry of the ledger. Entries come in their order."""
        ranges = self._files.setdefault(path, [])
        read = _range_of(meta, digest)
        last = ranges[-1] if ranges else None
        if last is not None and _is_of(last, meta, digest):
            last.skipped |= read.skipped
            return
        if "from" not in meta and last is not None:
            _merge_old(last, read)
            return
        ranges[:] = [_without_end(each) for each in ranges if each.begins < read.begins]
        ranges.append(read)

    def damage_of(self, path: str, *, before: int) -> dict[str, int]:
        """How often a file could not be read, by kind, in what was read from before an offset on."""
        counts: Counter[str] = Counter()
        for each in self._files.get(path, ()):
            if each.begins < before:
                for kinds in each.skipped.values():
                    counts.update({kind: kinds[kind] for kind in each.damaged & kinds.keys() if kind != _HALF_LINE})
        return dict(counts)

    def of_session(self, session: str) -> Iterator[tuple[str, dict[str, int], frozenset[str]]]:
        """By file and reading: its path, what was left out for a session by kind, and which of the kinds are damage."""
        for path, ranges in self._files.items():
            for each in ranges:
                if each.skipped.get(session):
                    yield path, each.skipped[session], each.damaged


def _is_of(last: _Range, meta: Mapping[str, Json], digest: str) -> bool:
    """Whether an entry is of the same reading as the one before, for another session."""
    return (last.offset, last.digest) == (meta.get("offset"), digest) and meta.get("from") in (None, last.begins)


def _range_of(meta: Mapping[str, Json], digest: str) -> _Range:
    begins, offset = meta.get("from"), meta.get("offset")
    said, damaged = meta.get("skipped"), meta.get("damaged")
    kinds: dict[str, int] = {}
    if isinstance(said, dict):
        kinds = {kind: count for kind, count in said.items() if type(count) is int}
    return _Range(
        begins=begins if isinstance(begins, int) else 0,
        offset=offset if isinstance(offset, int) else 0,
        digest=digest,
        damaged=frozenset(map(str, damaged)) if isinstance(damaged, list) else frozenset(_DAMAGE),
        skipped={str(meta.get("session", "")): kinds},
    )


def _merge_old(last: _Range, read: _Range) -> None:
    """Count an entry that does not say where its reading began: nothing is counted twice, and nothing is forgotten."""
    last.offset, last.digest = read.offset, read.digest
    for session, kinds in read.skipped.items():
        known = last.skipped.setdefault(session, {})
        for kind, count in kinds.items():
            known[kind] = max(count, known.get(kind, 0))


def _without_end(each: _Range) -> _Range:
    """A reading, but for the half line after its end."""
    for kinds in each.skipped.values():
        kinds.pop(_HALF_LINE, None)
    return each
