"""Taking values away so that they are gone and the chain still stands (docs/format.md 12.1, 12.2).

Owns the order of the stages, each of which can be repeated: what was begun is finished at the next opening. Must not
decide what may be erased or is too old, nor by whom.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from tallystick.errors import JournalError, NotFoundError
from tallystick.journal.archive import Archive
from tallystick.journal.blobs import remove_blob
from tallystick.journal.durable import replace_file, sync_folder
from tallystick.journal.file import JournalFile, sync_alone
from tallystick.journal.home import Home
from tallystick.journal.kept_states import forget_states
from tallystick.journal.lines import LineFile
from tallystick.journal.opening import read_whole
from tallystick.journal.read_values import forget_values
from tallystick.model.ids import SessionId
from tallystick.model.step import Json
from tallystick.seal.line import Line, hash_of, parse_line
from tallystick.seal.redact import line_text, withhold

_RETENTION = "retention"
_MOST_ENTRIES = 1 << 20


class Erased(msgspec.Struct, frozen=True):
    """What an erasure did: the entry, the names whose values are gone, and how many bytes of blobs went with them."""

    session: str
    n: int
    hash: str
    names: tuple[str, ...]
    blob_bytes: int


class Grounds(msgspec.Struct, frozen=True):
    """Why something is erased."""

    basis: str
    """A word: `request`, `policy`…"""
    reason: str
    """In the words of anyone who asks."""


def erase(archive: Archive, sid: SessionId, n: int, names: frozenset[str], grounds: Grounds) -> Erased:
    """Erase the values of `names` in entry `n` of a session.

    The erasure is sealed in the ledger first: a value that is missing without that is tampering. Then the line is
    rewritten, blobs and torn fragments of the session are removed. Names that are erased already are left.

    Raises:
        NotFoundError: there is no such entry or field. JournalError: the disk refused; what was sealed is finished at
            the next opening.
    """
    journal = archive.journal(sid)
    with journal.locked():
        line = _entry(journal, n)
        wanted = names - line.withheld.keys()
        if "meta" in names:
            raise NotFoundError(
                "meta cannot be erased: it records that the step exists", hint="erase content.* or personal.*"
            )
        if unknown := wanted - line.fields.keys() - line.blobs.keys():
            there = ", ".join(sorted((line.fields.keys() | line.blobs.keys()) - {"meta"})) or "none"
            raise NotFoundError(f"entry {n} has no field {min(unknown)}; it has {there}")
        blob_bytes = sum(ref.size for name, ref in line.blobs.items() if name in wanted)
        erased = Erased(sid, n, hash_of(line.entry).hex(), tuple(sorted(wanted)), blob_bytes)
        if wanted:
            marker = _mark(archive.home, sid, n)
            sync_alone(journal)
            _say_so(archive, erased, grounds)
            _take_away(archive.home, journal, {n: wanted})
            forget_states(archive.home, _mark_of(archive))
            _unmark(marker)
        return erased


def _mark_of(archive: Archive) -> str:
    """What tells one erasure from those before: how many entries the ledger has with it."""
    return f"{archive.ledger.file.size}"


def _entry(journal: JournalFile, n: int) -> Line:
    if n >= journal.size:
        raise NotFoundError(f"session {journal.sid} has {journal.size} steps; step {n} does not exist")
    for number, text in enumerate(LineFile(journal.path)):
        if number == n:
            return parse_line(text)
    raise JournalError(f"cannot read {journal.path} up to entry {n}")


def _say_so(archive: Archive, erased: Erased, grounds: Grounds) -> None:
    with archive.ledger.locked():
        meta: dict[str, Json] = {
            "type": "erasure",
            "session": erased.session,
            "n": erased.n,
            "entry": erased.hash,
            "names": list(erased.names),
            "basis": grounds.basis,
        }
        archive.ledger.append(meta, {"content.reason": grounds.reason})
        archive.sign()


def _take_away(home: Home, journal: JournalFile, wanted: Mapping[int, frozenset[str]]) -> None:
    """Rewrite the journal without the values, then remove what else holds them."""
    gone: list[str] = []

    def lines() -> Iterator[bytes]:
        for number, text in enumerate(LineFile(journal.path)):
            if number not in wanted:
                yield text + b"\n"
                continue
            line = parse_line(text)
            names = wanted[number] & (line.fields.keys() | line.blobs.keys())
            gone.extend(line.blobs[name].commitment for name in sorted(names & line.blobs.keys()))
            # Blobs of an erasure that was cut short are named by no line any more; their commitments are those withheld.
            gone.extend(line.withheld.values())
            yield line_text(withhold(line, frozenset(names))) + b"\n"

    replace_file(journal.path, lines())
    for commitment in gone:
        remove_blob(home, commitment)
    _scrub_torn(home, journal.sid)
    forget_values(home, journal.sid, wanted)


def _scrub_torn(home: Home, sid: str) -> None:
    """Remove the session's torn fragments: never part of the record, and they may hold what was erased."""
    if home.torn.is_dir():
        found = list(home.torn.glob(f"{sid}-*"))
    else:
        found = []
    for path in found:
        path.unlink(missing_ok=True)
    if found:
        sync_folder(home.torn)


# Retention: many entries at once ----------------------------------------------------------------------------------------

Values: TypeAlias = Mapping[int, frozenset[str]]
"""Names of values, by the number of their entry."""
_SESSIONS_A_HEAD = 256


class Rewritten(msgspec.Struct, frozen=True):
    """A journal whose file was replaced by one with less in it: the inodes of the two."""

    session: SessionId
    before: int
    after: int


def drop_content(
    archive: Archive,
    wanted: Mapping[SessionId, Values],
    *,
    rule: str,
    rewritten: Callable[[Rewritten], None] = lambda _: None,
) -> None:
    """Take values of many entries away, as a rule of retention says. Each entry is named in the ledger, and no other.

    Many sessions share a signed head, and each journal is rewritten once.

    Args:
        wanted: values that are there, by session; never `meta`.
        rule: the rule, as a word of the program. rewritten: called with each journal that is done.

    Raises:
        JournalError: the disk refused; what was sealed is finished at the next opening.
    """
    sids = sorted(wanted)
    for start in range(0, len(sids), _SESSIONS_A_HEAD):
        _drop_together(archive, {sid: wanted[sid] for sid in sids[start : start + _SESSIONS_A_HEAD]}, rule, rewritten)


def _drop_together(
    archive: Archive, wanted: Mapping[SessionId, Values], rule: str, rewritten: Callable[[Rewritten], None]
) -> None:
    marker = _mark_sessions(archive, wanted)
    journals = {sid: archive.journal(sid) for sid in wanted}
    for journal in journals.values():
        with journal.locked():
            sync_alone(journal)
    _say_dropped(archive, wanted, rule)
    for sid, journal in journals.items():
        with journal.locked():
            before = journal.path.stat().st_ino
            _take_away(archive.home, journal, wanted[sid])
            after = journal.path.stat().st_ino
        archive.release(sid)
        rewritten(Rewritten(sid, before, after))
    _unmark(marker)


def _say_dropped(archive: Archive, wanted: Mapping[SessionId, Values], rule: str) -> None:
    with archive.ledger.locked():
        for sid, values in wanted.items():
            for n, names in sorted(values.items()):
                meta: dict[str, Json] = {"type": "retention", "action": "drop_content", "rule": rule, "session": sid}
                archive.ledger.append({**meta, "from": n, "to": n, "names": sorted(names)})
        archive.sign()


# An erasure that was begun leaves a mark until it is finished, so that opening a store need not read every journal that
# ever had one.


def _mark(home: Home, sid: str, n: int) -> Path:
    home.make_folder(home.erasing)
    marker = home.erasing / f"{sid}-{n}"
    replace_file(marker, [b""])
    return marker


def _mark_sessions(archive: Archive, sids: Iterable[str]) -> Path:
    """The mark of a retention that was begun: the sessions that it is about, one a line."""
    archive.home.make_folder(archive.home.erasing)
    marker = archive.home.erasing / f"{_RETENTION}-{archive.ledger.file.size}-{os.getpid()}"
    replace_file(marker, [f"{sid}\n".encode() for sid in sids])
    return marker


def _unmark(marker: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        marker.unlink()
        sync_folder(marker.parent)


def finish_erasures(archive: Archive) -> int:
    """Finish erasures that were sealed but cut short; how many there were.

    Raises:
        JournalError: the disk refused again.
    """
    finished = 0
    for marker in sorted(archive.home.erasing.glob("*-*")) if archive.home.erasing.is_dir() else ():
        for sid, values in _begun(archive, marker):
            if not values or archive.home.journal(sid) is None:
                continue
            archive.sign()  # the head must cover the erasure before anything is taken away
            journal = archive.journal(SessionId(sid))
            with journal.locked():
                _take_away(archive.home, journal, values)
            archive.release(SessionId(sid))
            finished += 1
        forget_states(archive.home, _mark_of(archive))
        _unmark(marker)
    return finished


def _begun(archive: Archive, marker: Path) -> Iterator[tuple[str, Values]]:
    """What a mark stands for, as far as the ledger says so: sessions, and values of theirs that must go."""
    sid, _, number = marker.name.partition("-")
    if sid == _RETENTION:
        for named in read_whole(marker).decode("ascii", "replace").split():
            yield named, _dropped(archive, named)
        return
    if number.isdigit():
        n = int(number)
    else:
        n = -1
    erasures = archive.ledger.view.erasures.get(sid, {}).get(n, ())
    names = frozenset(name for erasure in erasures for name in erasure.names)
    yield sid, {n: names} if names else {}


def _dropped(archive: Archive, sid: str) -> Values:
    """All that retention has taken from a session: taking it away again does nothing."""
    found: dict[int, frozenset[str]] = {}
    for drop in archive.ledger.view.drops.get(sid, ()):
        for n in range(drop.first, min(drop.last, drop.first + _MOST_ENTRIES) + 1):
            found[n] = found.get(n, frozenset()) | (drop.names - {"meta"})
    return found
