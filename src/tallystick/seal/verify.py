"""From bytes to a verdict (docs/format.md 14).

Owns the checks of a session's journal against the ledger, and the conclusion over all of them. Must not know where bytes
come from: lines and blobs are handed in, so sessions may be checked in any order and in any process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
from tallystick.seal.chain import Chain, Place
from tallystick.seal.ledger import LedgerView, SessionHead
from tallystick.seal.ledgercheck import LedgerCheck, Lines, found_defect
from tallystick.seal.line import BlobReader, hash_of, parse_line, sid_of
from tallystick.seal.redact import Redaction


class SessionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What one journal showed. `foreign` are its references to other sessions: (n, `<sid>#<hash>`)."""

    verdict: SessionVerdict
    last: str
    """Hash of the last sound entry (or genesis), for comparing an index with."""
    foreign: tuple[tuple[int, str], ...] = ()
    remarks: tuple[str, ...] = ()


def check_session(
    sid: str,
    lines: Lines | None,
    view: LedgerView,
    *,
    tail: LedgerView | None = None,
    read_blob: BlobReader | None = None,
    is_signed: bool,
) -> SessionCheck:
    """Check one session of a store: its chain, then what the ledger says of it (section 14, steps 2–4).

    Args:
        lines: the journal; None if there is no file.
        view: the ledger entries that count. tail: those after them, which only give remarks.
        is_signed: whether a verified head covers `view`.
    """
    heads = view.heads.get(sid, [])
    authenticity = Authenticity.SIGNED if is_signed and heads else Authenticity.UNSIGNED
    if lines is None:
        return _absent(sid, view, heads, authenticity)
    chain = Chain(sid, place=Place.STORE, read_blob=read_blob)
    unfinished: list[int] = []
    problem = _read(chain, lines, heads, view, unfinished)
    covered = heads[-1].size if heads else 0
    if problem is None and chain.size < covered:
        why = f"the ledger covers {covered} entries, {chain.size} are there"
        problem = Defect(sid, chain.size, Rule.CUT, why)
    if problem is not None and problem.rule is Rule.CUT:
        completeness = Completeness.CUT
    else:
        whole = chain.ended and problem is None and chain.size <= covered
        completeness = Completeness.SEALED if whole else Completeness.TRUNCATED
    verdict = SessionVerdict(
        session=sid,
        steps=chain.size,
        completeness=completeness,
        unsealed=max(chain.size - covered, 0),
        authenticity=authenticity,
        defect=problem,
        disclosure=msgspec.structs.replace(chain.disclosure, erased=chain.disclosure.withheld),
    )
    remarks = (
        *_session_remarks(chain, lines, tail),
        *(f"{sid[:8]}:{n}: an erasure is not finished" for n in unfinished),
    )
    return SessionCheck(verdict=verdict, last=chain.head.hex(), foreign=tuple(chain.foreign), remarks=remarks)


def _absent(sid: str, view: LedgerView, heads: Sequence[SessionHead], authenticity: Authenticity) -> SessionCheck:
    dropped = sid in view.dropped
    problem = None if dropped else Defect(sid, None, Rule.MISSING, f"the ledger covers {heads[-1].size} entries")
    completeness = Completeness.DROPPED if dropped else Completeness.MISSING
    verdict = SessionVerdict(
        session=sid, steps=0, completeness=completeness, unsealed=0, authenticity=authenticity, defect=problem
    )
    return SessionCheck(verdict=verdict, last="")


def _read(
    chain: Chain, lines: Lines, heads: Sequence[SessionHead], view: LedgerView, unfinished: list[int]
) -> Defect | None:
    """Feed the lines to the chain, comparing roots where the ledger has a head; the first defect, if any.

    `unfinished` gets the numbers of entries that still show a value whose erasure is sealed.
    """
    roots: dict[int, set[str]] = {}
    for head in heads:
        roots.setdefault(head.size, set()).add(head.root)
    explained = 0
    for text in lines:
        try:
            meta = chain.feed(text)
            if chain.size == 1 and meta and meta.get("type") != "session_start":
                raise FormatError("the session does not begin with session_start", rule="order")
        except FormatError as error:
            return found_defect(chain.sid, chain.size, error)
        if (chain.sid, chain.size - 1) in view.erasures and _shows_erased(text, view, chain.sid, chain.size - 1):
            unfinished.append(chain.size - 1)
        for withheld in chain.withheld[explained:]:
            explained += 1
            if not view.justifies(chain.sid, withheld.n, withheld.entry, withheld.names):
                why = f"{', '.join(withheld.names)} is withheld, and no sealed erasure says so"
                return Defect(chain.sid, withheld.n, Rule.WITHHELD, why)
        wanted = roots.get(chain.size)
        if wanted is not None and wanted != {chain.tree.root().hex()}:
            why = f"the ledger has another root over the first {chain.size} entries"
            return Defect(chain.sid, chain.size - 1, Rule.HEAD, why)
    return None


def _shows_erased(text: bytes, view: LedgerView, sid: str, n: int) -> bool:
    line = parse_line(text)
    digest = hash_of(line.entry).hex()
    erased = {name for found in view.erasures[sid, n] if found.entry == digest for name in found.names}
    return not erased.isdisjoint(line.fields.keys() | line.blobs.keys())


def _session_remarks(chain: Chain, lines: Lines, tail: LedgerView | None) -> Iterable[str]:
    name = chain.sid[:8]
    if lines.torn:
        yield f"{name}: {lines.torn} bytes after the last line, a torn write"
    if chain.clock_steps:
        yield f"{name}: `recorded` goes back {chain.clock_steps} times"
    if tail is not None and any(head.size > chain.size for head in tail.heads.get(chain.sid, ())):
        yield f"{name}: shorter than an unsigned ledger entry says"


def contained(lines: Iterable[bytes], wanted: frozenset[str]) -> frozenset[str]:
    """Which of the hashes (hex) are entries of a journal that was found sound."""
    found: set[str] = set()
    for text in lines:
        try:
            digest = hash_of(parse_line(text).entry).hex()
        except FormatError:
            break
        if digest in wanted:
            found.add(digest)
            if len(found) == len(wanted):
                break
    return frozenset(found)


def wanted_entries(checks: Iterable[SessionCheck]) -> dict[str, frozenset[str]]:
    """The entries that sessions refer to in other sessions: hashes by session."""
    wanted: dict[str, set[str]] = {}
    for check in checks:
        for _, reference in check.foreign:
            session, _, digest = reference.partition("#")
            wanted.setdefault(session, set()).add(digest)
    return {session: frozenset(digests) for session, digests in wanted.items()}


def with_foreign_parents(
    check: SessionCheck, known: Mapping[str, frozenset[str]], dropped: Iterable[str]
) -> SessionCheck:
    """`check`, with a defect at the first reference to an entry that is nowhere, unless an earlier defect stands."""
    gone = frozenset(dropped)
    for n, reference in check.foreign:
        session, _, digest = reference.partition("#")
        if session in gone or digest in known.get(session, frozenset()):
            continue
        before = check.verdict.defect
        if before is not None and before.n is not None and before.n <= n and before.rule is not Rule.CUT:
            return check
        why = f"the parent {reference[:12]}…#{digest[:12]}… is in no journal of this store"
        problem = Defect(check.verdict.session, n, Rule.PARENT, why)
        verdict = msgspec.structs.replace(
            check.verdict,
            defect=problem,
            steps=n,
            completeness=Completeness.TRUNCATED
            if check.verdict.completeness is Completeness.SEALED
            else check.verdict.completeness,
        )
        return msgspec.structs.replace(check, verdict=verdict)
    return check


def conclude(
    ledger: LedgerCheck,
    checks: Sequence[SessionCheck],
    *,
    require: Require = Require.A2,
    remarks: Sequence[str] = (),
) -> Verdict:
    """The verdict on a store, or on the part of it that `checks` cover."""
    verdicts = sorted((check.verdict for check in checks), key=lambda verdict: verdict.session)
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
    level = Level.A2 if ledger.is_signed else Level.A1
    return Verdict(
        completeness=Completeness.CUT if cut and worst is not Completeness.MISSING else worst,
        authenticity=authenticity,
        level=level,
        why_not_higher=_why_not_higher(ledger),
        defects=tuple(defects),
        sessions=tuple(verdicts),
        remarks=(*ledger.remarks, *(remark for check in checks for remark in check.remarks), *remarks),
        require=require,
    )


def _why_not_higher(ledger: LedgerCheck) -> str:
    if not ledger.is_signed:
        return "no verified signed head covers the ledger"
    whose = "a pinned key" if ledger.pinned else "the store's own key, which this verifier has no other word for"
    return f"signed by {whose}; no separate signer, anchor or witness guards the head (A3 and above)"


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
    sid = file_sid
    for text in lines:
        try:
            if chain is None:
                found = sid_of(text)
                sid = file_sid or found
                chain = Chain(sid, place=Place.LONE, read_blob=read_blob, level=redaction)
            chain.feed(text)
        except FormatError as error:
            problem = found_defect(sid, chain.size if chain else 0, error)
            break
    if chain is None and problem is None:
        problem = Defect(sid, 0, Rule.LINE, "no complete line")
    size = chain.size if chain else 0
    verdict = SessionVerdict(
        session=sid or "",
        steps=size,
        completeness=Completeness.TRUNCATED,
        unsealed=size,
        authenticity=Authenticity.UNSIGNED,
        defect=problem,
        disclosure=chain.disclosure if chain else Disclosure(),
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
    if chain.ended:
        yield "ends with session_end, but no head shows that nothing followed"
    if chain.clock_steps:
        yield f"`recorded` goes back {chain.clock_steps} times"
    if chain.foreign:
        yield f"{len(chain.foreign)} references to other sessions are unresolved"
