"""Whether checkpoints hold: the journal has the entry that each marks, with that hash, and is whole up to there.

Owns that verdict. It is computed from journals; the index only says which checkpoints there should be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import msgspec

from tallystick.errors import FormatError
from tallystick.graph.checkpoints import (
    CheckpointEntry,
    CheckpointFilter,
    find_checkpoint,
    list_checkpoints,
    sessions_with_checkpoints,
)
from tallystick.graph.graph import Graph, GraphError
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.read import read_line
from tallystick.model.recorded import Recorded
from tallystick.model.verdict import Defect, Rule
from tallystick.seal.line import skim
from tallystick.trust.verify import verify_store
from tallystick.workspace.indexing import open_index
from tallystick.workspace.ledger import sealed_sizes
from tallystick.workspace.names import find_session


class Broken(msgspec.Struct, frozen=True):
    """A checkpoint that does not hold, and why."""

    session: str
    n: int
    hash: str = msgspec.field(name="id")
    why: str


class Checked(msgspec.Struct, frozen=True):
    """What checking found: how many were looked at, and those that do not hold."""

    checkpoints: int
    broken: tuple[Broken, ...]
    gone: tuple[str, ...] = ()
    """Sessions that the ledger knows and that have no journal any more: no one can say what was marked in them."""


def verify_checkpoints(
    home: Home, *, name: str | None = None, session: str | None = None, progress: Callable[[int], None] = lambda _: None
) -> Checked:
    """Whether one checkpoint, those of a session, or all mark what they say, and whether everything up to there is whole.

    Args:
        name: the id of one. session: the name of a session.
        progress: called with how many more sessions were looked at.

    Raises:
        NotFoundError, AmbiguousError: the name means none, or several.
    """
    asked = _asked(home, name, session)
    verdict = verify_store(home, sessions=asked.sessions)
    defects = {found.session: found.defect for found in verdict.sessions}
    faults: dict[tuple[str, int], tuple[str, str | None]] = {
        place: (digest, "its own step cannot be read in the journal") for place, digest in asked.known.items()
    }
    known: dict[str, dict[int, str]] = {sid: {} for sid in asked.sessions}
    for (sid, n), digest in asked.known.items():
        known[sid][n] = digest
    for sid in asked.sessions:
        for step, why in _marks_of(home, sid, known[sid], defects.get(sid)):
            faults[sid, step.n] = (step.hash, why)
        progress(1)
    wanted = sorted((place, fault) for place, fault in faults.items() if asked.n is None or place[1] == asked.n)
    broken = tuple(Broken(*place, digest, why) for place, (digest, why) in wanted if why is not None)
    ruled = {sid: defect.rule for sid, defect in defects.items() if defect is not None}
    gone = tuple(sid for sid in asked.sessions if ruled.get(sid) is Rule.MISSING)
    return Checked(len(wanted), broken, gone)


class _Asked(msgspec.Struct, frozen=True):
    """The sessions that are looked at, the one checkpoint that is meant, and the hashes of those that the index knows."""

    sessions: list[str]
    n: int | None
    known: dict[tuple[str, int], str]


def _asked(home: Home, name: str | None, session: str | None) -> _Asked:
    before = _known_before(home)
    n = None
    with open_index(home) as index:
        if name is not None:
            entry = find_checkpoint(index.graph, name)
            sessions, n = {entry.session}, entry.n
        elif session is not None:
            sessions = {find_session(index, session)}
        else:
            sessions = {*sessions_with_checkpoints(index.graph), *(each.session for each in before), *_gone(home)}
        now = [each for sid in sessions for each in _known(index.graph, sid)]
    known = {(each.session, each.n): each.hash for each in (*before, *now) if each.session in sessions}
    return _Asked(sorted(sessions), n, known)


def _gone(home: Home) -> set[str]:
    """Sessions that the ledger knows, without a journal."""
    return sealed_sizes(home).keys() - dict(home.sessions()).keys()


def _known(graph: Graph, session: str | None = None) -> tuple[CheckpointEntry, ...]:
    """The checkpoints as the index has them."""
    wanted = CheckpointFilter(session=session, is_replaced=True, limit=None)
    return list_checkpoints(graph, wanted)


def _known_before(home: Home) -> tuple[CheckpointEntry, ...]:
    """The same, before the index follows what someone may have done to the journals."""
    try:
        with Graph(home.graph) as graph:
            return _known(graph)
    except GraphError:
        return ()


def _marks_of(
    home: Home, sid: str, known: Mapping[int, str], defect: Defect | None
) -> Iterable[tuple[Recorded, str | None]]:
    """The checkpoints in a journal unchanged on disk, each with what is wrong with it.

    One that says what it marks is known by that; one that does not, a compaction or an agent's own, by the index.
    """
    path = home.journal(sid)
    if path is None:
        return
    hashes: list[str] = []
    for text in LineFile(path):
        found = skim(text)
        if found is not None:
            hashes.append(found.hash.hex())
        else:
            hashes.append("")
        if found is not None and (b'"checkpoint"' in text or len(hashes) - 1 in known):
            with suppress(FormatError):
                step = read_line(home, text)
                if step.type == "checkpoint" and "position_hash" in step.meta:
                    yield step, _fault(step, hashes, defect)
                elif step.n in known:
                    yield step, _unnamed_fault(step, known[step.n], defect)


def _fault(step: Recorded, hashes: list[str], defect: Defect | None) -> str | None:
    position, said = step.meta.get("position"), step.meta["position_hash"]
    if type(position) is not int or not 0 <= position < len(hashes) - 1:
        return "it marks no entry before it"
    if hashes[position] != said:
        return f"entry {position} has the hash {hashes[position][:16]}, the checkpoint says {str(said)[:16]}"
    return _unwhole(step, defect)


def _unnamed_fault(step: Recorded, known: str, defect: Defect | None) -> str | None:
    """What is wrong with a checkpoint that names no position: it marks itself, or the entry before it."""
    if step.hash != known:
        return f"entry {step.n} has the hash {step.hash[:16]}, and was {known[:16]} when it was last read"
    return _unwhole(step, defect)


def _unwhole(step: Recorded, defect: Defect | None) -> str | None:
    """What is not whole up to a checkpoint."""
    if defect is not None and (defect.n is None or defect.n <= step.n):
        where = "the journal"
        if defect.n is not None:
            where = f"entry {defect.n}"
        return f"what it marks is not whole: {where} breaks rule {defect.rule.value}"
    return None
