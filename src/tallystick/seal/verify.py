"""From bytes to a verdict (docs/format.md 14).

Owns the checks of a session's journal against the ledger, and the conclusion over all of them. Must not know where bytes
come from: lines and blobs are handed in, so sessions may be checked in any order and in any process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from tallystick.errors import FormatError
from tallystick.model.verdict import (
    WORST_LAST,
    Authenticity,
    Completeness,
    Defect,
    Disclosure,
    Level,
    Require,
    Rule,
    SessionVerdict,
    Verdict,
)
from tallystick.seal.chain import Chain, Place, Terms
from tallystick.seal.ledger import LedgerView, SessionHead
from tallystick.seal.ledgercheck import (
    LedgerCheck,
    Lines,
    found_defect,
    lacks_epochs,
    level_of,
    too_old_for,
    why_not_higher,
)
from tallystick.seal.line import BlobReader, legible_entry, parse_line
from tallystick.seal.merkle import EMPTY_ROOT
from tallystick.seal.redact import Redaction


class SessionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What one journal showed. `foreign` are its references to other sessions: (n, `<sid>#<hash>`)."""

    verdict: SessionVerdict
    last: str
    """Hash of the last sound entry (or genesis), for comparing an index with."""
    foreign: tuple[tuple[int, str], ...] = ()
    remarks: tuple[str, ...] = ()


class Said(NamedTuple):
    """What a ledger says of sessions."""

    view: LedgerView
    """By the entries that count."""
    is_signed: bool
    """Whether a verified head covers them."""
    tail: LedgerView | None = None
    """By the entries after them, which only give remarks."""


def check_session(
    sid: str,
    lines: Lines | None,
    ledger: Said,
    *,
    read_blob: BlobReader | None = None,
) -> SessionCheck:
    """Check one session of a store: its chain, then what the ledger says of it (section 14, steps 2–4).

    Args:
        lines: the journal; None if there is no file.
    """
    view, is_signed, tail = ledger
    heads = view.heads.get(sid, [])
    if is_signed and heads:
        authenticity = Authenticity.SIGNED
    else:
        authenticity = Authenticity.UNSIGNED
    if lines is None:
        return _absent(sid, view, heads, authenticity)
    chain = Chain(sid, Terms(Place.STORE), view=view, read_blob=read_blob)
    count, problem = _read(chain, lines, heads)
    covered = view.covered(sid)
    if problem is None and count < covered:
        problem = Defect(sid, count, Rule.CUT, f"the ledger covers {covered} entries, {count} are there")
    if problem is not None:
        problem = problem.under(covered)
    sealed = 0
    if is_signed:
        sealed = covered
    if problem is None or problem.n is None:
        steps = chain.size
    else:
        steps = problem.n
    if count < covered:
        completeness = Completeness.CUT
    elif problem is None and chain.closed and steps <= sealed:
        completeness = Completeness.SEALED
    else:
        completeness = Completeness.TRUNCATED
    verdict = SessionVerdict(
        session=sid,
        steps=steps,
        completeness=completeness,
        unsealed=max(steps - sealed, 0),
        authenticity=authenticity,
        defect=problem,
        disclosure=chain.disclosure,
    )
    remarks = tuple(_session_remarks(chain, lines, view, tail))
    return SessionCheck(verdict=verdict, last=chain.head.hex(), foreign=tuple(chain.foreign), remarks=remarks)


def two_files(sid: str, count: int, view: LedgerView, *, is_signed: bool) -> SessionCheck:
    """What stands for a session of which there are several files: none of them is read, for none can be preferred."""
    authenticity = Authenticity.UNSIGNED
    if is_signed and sid in view.heads:
        authenticity = Authenticity.SIGNED
    verdict = SessionVerdict(
        session=sid,
        steps=0,
        completeness=Completeness.TRUNCATED,
        unsealed=0,
        authenticity=authenticity,
        defect=Defect(sid, 0, Rule.SID, f"{count} files have the name of this session"),
    )
    return SessionCheck(verdict=verdict, last="")


def _absent(sid: str, view: LedgerView, heads: Sequence[SessionHead], authenticity: Authenticity) -> SessionCheck:
    dropped = sid in view.dropped
    problem = None
    if not dropped:
        problem = Defect(sid, None, Rule.MISSING, f"the ledger covers {heads[-1].size} entries")
    if dropped:
        completeness = Completeness.DROPPED
    else:
        completeness = Completeness.MISSING
    verdict = SessionVerdict(
        session=sid, steps=0, completeness=completeness, unsealed=0, authenticity=authenticity, defect=problem
    )
    return SessionCheck(verdict=verdict, last="")


def _read(chain: Chain, lines: Lines, heads: Sequence[SessionHead]) -> tuple[int, Defect | None]:
    """Feed the lines to the chain, comparing roots where the ledger has a head.

    Returns:
        How many lines there are, and the first defect. Lines after one that is not sound are only counted.
    """
    roots: dict[int, set[str]] = {}
    for head in heads:
        roots.setdefault(head.size, set()).add(head.root)
    if roots.get(0, {EMPTY_ROOT.hex()}) != {EMPTY_ROOT.hex()}:
        found = [_other_root(chain)]
    else:
        found = []
    count, broken = 0, False
    for text in lines:
        count += 1
        if broken:
            continue
        try:
            chain.feed(text)
        except FormatError as error:
            found.append(found_defect(chain.sid, chain.size, error))
            broken = True
            continue
        wanted = roots.get(chain.size)
        if wanted is not None and wanted != {chain.tree.root().hex()}:
            found.append(_other_root(chain))
    return count, min(found, key=lambda item: item.place, default=None)


def _other_root(chain: Chain) -> Defect:
    why = f"the ledger has another root over the first {chain.size} entries"
    return Defect(chain.sid, max(chain.size - 1, 0), Rule.HEAD, why)


def _session_remarks(chain: Chain, lines: Lines, view: LedgerView, tail: LedgerView | None) -> Iterable[str]:
    name = chain.sid[:8]
    if lines.torn:
        yield f"{name}: {lines.torn} bytes after the last line, a torn write"
    if chain.clock_steps:
        yield f"{name}: `recorded` goes back {chain.clock_steps} times"
    if tail is not None and any(head.size > chain.size for head in tail.heads.get(chain.sid, ())):
        yield f"{name}: shorter than an unsigned ledger entry says"
    if chain.sid in view.dropped:
        yield f"{name}: its journal is still there, though a sealed retention drops it"
    for n in chain.unfinished:
        yield f"{name}:{n}: an erasure is not finished"
    for n in chain.lost_marks:
        yield f"{name}:{n}: a broken checkpoint, the entry that it marks is not before it"


def contained(lines: Iterable[bytes], wanted: frozenset[str]) -> frozenset[str]:
    """Which of the hashes (hex) are entries of a journal. Whatever else is wrong with a line, its hash says what it is."""
    found: set[str] = set()
    for text in lines:
        digest = legible_entry(text)
        if digest is not None and digest.hex() in wanted:
            found.add(digest.hex())
            if len(found) == len(wanted):
                break
    return frozenset(found)


def wanted_entries(checks: Iterable[SessionCheck], ledger: LedgerCheck | None = None) -> dict[str, frozenset[str]]:
    """The entries that sessions, and the ledger, refer to in other sessions: hashes by session."""
    wanted: dict[str, set[str]] = {}
    references = [check.foreign for check in checks]
    if ledger is not None:
        references.append(ledger.foreign)
    for found in references:
        for _, reference in found:
            session, _, digest = reference.partition("#")
            wanted.setdefault(session, set()).add(digest)
    return {session: frozenset(digests) for session, digests in wanted.items()}


def with_foreign_parents(
    check: SessionCheck, known: Mapping[str, frozenset[str]], dropped: Iterable[str]
) -> SessionCheck:
    """`check`, with a defect at the first reference to an entry that is nowhere, unless an earlier defect stands."""
    problem = _lost_parent(check.verdict.session, check.foreign, known, dropped)
    before = check.verdict.defect
    if problem is None or (before is not None and before.place <= problem.place):
        return check
    verdict = check.verdict
    steps = problem.n or 0
    covered = verdict.steps - verdict.unsealed  # or more, and then nothing was unsealed
    completeness = verdict.completeness
    if completeness is Completeness.SEALED:
        completeness = Completeness.TRUNCATED
    verdict = msgspec.structs.replace(
        verdict,
        defect=problem,
        steps=steps,
        unsealed=max(steps - covered, 0),
        completeness=completeness,
    )
    return msgspec.structs.replace(check, verdict=verdict)


def ledger_with_foreign_parents(ledger: LedgerCheck, known: Mapping[str, frozenset[str]]) -> LedgerCheck:
    """`ledger`, with a defect at the first reference to an entry that is nowhere, unless an earlier defect stands."""
    problem = _lost_parent(ledger.store_id, ledger.foreign, known, ledger.view.dropped)
    if problem is None:
        return ledger
    first = min((*ledger.defects, problem), key=lambda item: item.place)
    return msgspec.structs.replace(ledger, defects=(first,))


def _lost_parent(
    sid: str | None,
    references: Iterable[tuple[int, str]],
    known: Mapping[str, frozenset[str]],
    dropped: Iterable[str],
) -> Defect | None:
    """The defect that the first reference to an entry that is nowhere stands for."""
    gone = frozenset(dropped)
    for n, reference in references:
        session, _, digest = reference.partition("#")
        if session not in gone and digest not in known.get(session, frozenset()):
            why = f"the parent {reference[:12]}…#{digest[:12]}… is in no journal of this store"
            return Defect(sid, n, Rule.PARENT, why)
    return None


def conclude(
    ledger: LedgerCheck,
    checks: Sequence[SessionCheck],
    *,
    require: Require = Require.A2,
    since: str | None = None,
    remarks: Sequence[str] = (),
) -> Verdict:
    """The verdict on a store, or on the part of it that `checks` cover.

    Args:
        since: anyone who guards the ledger at the level that is required has a head that is no older than this: else that
            is a defect of the ledger, where the level is reached at all.
    """
    verdicts = sorted((check.verdict for check in checks), key=lambda verdict: verdict.session or "")
    if ledger.wrong_key:
        verdicts = [msgspec.structs.replace(item, authenticity=Authenticity.WRONG_KEY) for item in verdicts]
    defects = list(ledger.defects)
    defects += [verdict.defect for verdict in verdicts if verdict.defect is not None]
    if ledger.wrong_key:
        authenticity = Authenticity.WRONG_KEY
    elif not ledger.is_signed:
        authenticity = Authenticity.UNSIGNED
    elif all(verdict.authenticity is Authenticity.SIGNED for verdict in verdicts):
        authenticity = Authenticity.SIGNED
    else:
        authenticity = Authenticity.PARTLY_SIGNED
    worst = max((verdict.completeness for verdict in verdicts), key=WORST_LAST.index, default=Completeness.SEALED)
    cut = any(item.rule is Rule.CUT for item in ledger.defects)
    level = level_of(ledger)
    too_old = lacks_epochs(ledger, require)
    stale = None
    if since is not None:
        stale = too_old_for(ledger, require, since)
    if stale is not None and level >= require:  # there is someone who would have a newer one: an alarm like the others
        defects.append(Defect(ledger.store_id, None, Rule.HEAD, stale))
    elif stale is not None and too_old is None:
        too_old = stale
    if cut and worst is not Completeness.MISSING:
        worst = Completeness.CUT
    return Verdict(
        completeness=worst,
        authenticity=authenticity,
        level=level,
        why_not_higher=why_not_higher(ledger),
        defects=tuple(defects),
        sessions=tuple(verdicts),
        remarks=(*ledger.remarks, *(remark for check in checks for remark in check.remarks), *remarks),
        require=require,
        too_old=too_old,
    )


# A lone file ---------------------------------------------------------------------------------------------------------


def check_lone(
    lines: Lines,
    *,
    file_sid: str | None = None,
    redaction: Redaction | None = None,
    read_blob: BlobReader | None = None,
    require: Require = Require.A1,
) -> Verdict:
    """The verdict on one journal file by itself: no ledger, so no head speaks for it.

    Args:
        file_sid: the session that the file's name says, if it says one.
        redaction: the level that the file promises; each line must then have that level's form.
    """
    chain: Chain | None = None
    problem: Defect | None = None
    sid, size, disclosure = file_sid, 0, Disclosure()
    for text in lines:
        if problem is not None:
            continue  # to the end, so that the torn tail is known
        try:
            if chain is None:
                first = parse_line(text)
                sid = file_sid or first.entry.sid
                is_ledger = first.meta.get("type") == "store_start"
                chain = Chain(sid, Terms(Place.LONE, in_ledger=is_ledger, level=redaction), read_blob=read_blob)
            chain.feed(text)
            size, disclosure = chain.size, chain.disclosure
        except FormatError as error:
            problem = found_defect(sid, size, error)
    if chain is None and problem is None:
        problem = Defect(sid, 0, Rule.LINE, "no complete line")
    verdict = SessionVerdict(
        session=sid,
        steps=size,
        completeness=Completeness.TRUNCATED,
        unsealed=size,
        authenticity=Authenticity.UNSIGNED,
        defect=problem,
        disclosure=disclosure,
    )
    return Verdict(
        completeness=Completeness.TRUNCATED,
        authenticity=Authenticity.UNSIGNED,
        level=Level.A1,
        why_not_higher="a lone file: no ledger and no head speak for it",
        defects=(problem,) if problem else (),
        sessions=(verdict,),
        remarks=tuple(_lone_remarks(chain, lines)),
        require=require,
    )


def _lone_remarks(chain: Chain | None, lines: Lines) -> Iterable[str]:
    if lines.torn:
        yield f"{lines.torn} bytes after the last line, a torn write"
    if chain is None:
        return
    if chain.closed:
        yield "ends with session_end, but no head shows that nothing followed"
    if chain.clock_steps:
        yield f"`recorded` goes back {chain.clock_steps} times"
    if chain.foreign:
        yield f"{len(chain.foreign)} references to other sessions are unresolved"
