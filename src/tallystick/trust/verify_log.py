"""Verifying the chain of alerts: the table alone, and ours against the sealed steps that it is made of.

Owns what a table is compared with, and what cannot be known of it. The walk is seal.alert_chain's. The table is not written,
and the index is not brought up to date: that could hide what was changed in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import msgspec

from tallystick.errors import FormatError, NotFoundError
from tallystick.graph.projection.alert_rows import REFERENCE_VERSION, AlertTable, read_alerts, read_own_alerts
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.read import read_line
from tallystick.model.step import Json, Step
from tallystick.policy.alert import ALERT, sealed_alert
from tallystick.recording.alert_chain import NotedHead, noted_heads
from tallystick.recording.own_session import RECORDER, SESSION
from tallystick.recording.session_writer import SessionWriter
from tallystick.seal.alert_chain import GENESIS, Break, Finding, Link, Sealed, Walk, chain_order, retention_root, walk
from tallystick.workspace.ledger import ledger_entries

_HOLDS_ALERT = f'"type":"{ALERT}"'.encode()
_MOST_NAMED = 20

NO_STEP = "no sealed step says what this row says (it was added, changed, or its journal is gone)"
NO_ROW = "a sealed alert has no row in the table (it was deleted, or its hash was removed)"
MOVED = "the rows are not in the order, or do not have the hashes, that their steps seal"
GAP = "a sealed alert follows one that no journal holds (a journal is gone, or was cut)"
NO_HEAD = "the row that says where the chain ends is gone: no alert was found missing"
UNHELD = "the ledger notes an alert that no journal holds (its journal is gone, or was cut)"


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """Our table against the journals.

    `sealed` counts alerts in steps, `waiting` those among them that the index has not read yet. `moved` are alerts that two
    recorders sealed after the same one: their rows have other hashes than their steps. `noted` counts the entries of the
    ledger that say where the chain ended, `unheld` are the steps that they name and that no journal has as they say. `defect`
    is the first thing that does not fit, `missing` and `unproved` the steps (`SESSION:n`) without row and the rows without
    step, some of them.
    """

    sealed: int
    noted: int
    unheld: tuple[str, ...]
    waiting: int
    erased: int
    moved: tuple[str, ...]
    defect: str | None
    missing: tuple[str, ...]
    unproved: tuple[int, ...]


class LogVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a chain of alerts.

    `broken` is its first break, `holes` what cannot be known of it, in sentences.
    """

    path: str
    chained: int
    legacy: int
    head: str
    anchored: bool
    broken: Break | None
    compared: Compared | None
    holes: tuple[str, ...]

    @property
    def is_intact(self) -> bool:
        """Whether neither the table nor the comparison shows tampering."""
        return self.broken is None and (self.compared is None or self.compared.defect is None)


def verify_log(home: Home) -> LogVerdict:
    """The verdict on the alerts of a store.

    Raises: NotFoundError: there is no store, or it has no index. FormatError: the index is not a SQLite database, or is
    damaged.
    """
    if not home.exists:
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    if not home.graph.exists():
        raise NotFoundError(f"no index at {home.graph}", hint="`tally rebuild` builds it from the journals")
    table = read_own_alerts(home.graph)
    sealed = list(_sealed_alerts(home))
    erased = {alert.entry_hash for alert in sealed if alert.is_erased}
    return _verdict(home.graph, table, _walk(table, erased), _compare(table, sealed, _retained_heads(home)))


def _retained_heads(home: Home) -> list[NotedHead]:
    """What the ledger notes of alerts whose sessions retention has not taken."""
    dropped = {entry.meta.get("session") for entry in ledger_entries(home, holding=b'"drop_session"')}
    return [head for head in noted_heads(home) if head.session not in dropped]


def verify_database(path: Path) -> LogVerdict:
    """The verdict on the alerts in a plaintext database, of the reference or of ours. Without journals: the table alone.

    Raises:
        NotFoundError: there is no such file.
        FormatError: it is encrypted or no SQLite database, has no chain of alerts, or is damaged.
    """
    table = read_alerts(path)
    if not table.is_ours and table.version != REFERENCE_VERSION:
        raise FormatError(
            f"{path} has schema version {table.version}; only {REFERENCE_VERSION} is supported", rule="db"
        )
    return _verdict(path, table, _walk(table, frozenset()), None)


def _walk(table: AlertTable, erased: Collection[str]) -> Walk:
    root, reason = retention_root(table.checkpoints, table.retention)
    if reason is not None:
        return Walk(chained=0, legacy=0, head=root, broken=Break(None, reason))
    return walk(table.rows, root=root, anchor=table.anchor, erased=erased)


def _verdict(path: Path, table: AlertTable, walked: Walk, compared: Compared | None) -> LogVerdict:
    return LogVerdict(
        path=str(path),
        chained=walked.chained,
        legacy=walked.legacy,
        head=walked.head,
        anchored=table.anchor is not None,
        broken=walked.broken,
        compared=compared,
        holes=tuple(_holes(table, walked, compared)),
    )


def _holes(table: AlertTable, walked: Walk, compared: Compared | None) -> Iterator[str]:
    """What a walk that found nothing does not say."""
    if walked.legacy:
        yield f"{_count_text(walked.legacy, 'row')} from before the chain without a hash: that part cannot be checked"
    if compared is not None:
        if compared.waiting:
            yield f"{_count_text(compared.waiting, 'sealed alert')} not in the index yet"
        if compared.moved:
            yield f"{_count_text(len(compared.moved), 'alert')} sealed after the same one as another: its row has a new hash"
        if compared.erased:
            yield f"{_count_text(compared.erased, 'alert')} with erased words: the hash is taken from the step"
        yield "the journals are not verified here: `tally verify` does"
        return
    if table.anchor is None:
        yield "no anchor row: the end cannot be checked, newer alerts may have been deleted"
    if table.checkpoints:
        pruned = sum(item.pruned_count for item in table.checkpoints if isinstance(item.pruned_count, int))
        yield f"pruned: {_count_text(pruned, 'alert')}; all that stayed were hashed again, so earlier heads no longer match"
    yield (
        "only this file says where the chain ends: anyone who can write it can cut the end and change the anchor to "
        "match"
    )
    yield "the chain covers alerts only: requests, events and relations can be changed without a trace"


def _count_text(number: int, word: str) -> str:
    return f"{number} {word if number == 1 else word + 's'}"


def note_broken_log(home: Home) -> str | None:
    """Seal what is broken in a store's alerts, before the table is rebuilt and nothing shows it any more.

    What was broken, in a sentence; None where nothing was found. A table that cannot be read says nothing.

    Raises:
        JournalError: the store cannot be written.
    """
    try:
        verdict = verify_log(home)
    except (NotFoundError, FormatError):
        return None
    if verdict.is_intact:
        return None
    said = _sentence(verdict)
    meta: dict[str, Json] = {"reason": "alert-log-broken", "chained": verdict.chained}
    with SessionWriter(home) as session_writer:
        session_writer.add(RECORDER, Step(session=SESSION, type="warning", meta=meta, values={"content.text": said}))
    return said


def _sentence(verdict: LogVerdict) -> str:
    said = []
    if verdict.broken is not None:
        where = "the tail"
        if verdict.broken.alert_id is not None:
            where = f"alert_id {verdict.broken.alert_id}"
        said.append(f"the chain of alerts broke at {where}: {verdict.broken.reason}")
    if verdict.compared is not None and verdict.compared.defect is not None:
        steps = ", ".join((*verdict.compared.missing, *verdict.compared.unheld))
        said.append(f"table and journals differ: {verdict.compared.defect}{f': {steps}' if steps else ''}")
    return "; ".join(said)


# Against the journals -------------------------------------------------------------------------------------------------


def _sealed_alerts(home: Home) -> Iterator[Sealed]:
    for _, path in home.sessions():
        for text in LineFile(path):
            if _HOLDS_ALERT not in text:
                continue
            try:
                found = sealed_alert(read_line(home, text, load_blobs=True))
            except FormatError:
                continue  # `tally verify` says so
            if found is not None:
                yield found


def _compare(table: AlertTable, sealed: Sequence[Sealed], noted: Sequence[NotedHead]) -> Compared:
    """Compare rows with sealed alerts: by their hashes where those must be the same, else by what they say."""
    held = {alert.order[1:]: alert for alert in sealed}
    unheld = [head for head in noted if not _is_held(head, held.get((head.session, head.n)))]
    known, waiting = _parted(table, sealed)
    expected = list(chain_order(known))
    moved = [link for link in expected if not link.is_as_sealed]
    rows = [row for row in table.rows if row.entry_hash is not None]
    said, hashes = Counter(_finding_text(row.finding) for row in rows), {row.entry_hash for row in rows}
    missing = [link for link in expected if not _has_row(link, said, hashes)]
    unproved = _unproved(table, expected)
    defect = None
    if missing:
        defect = NO_ROW
    elif unproved or len(rows) > len(expected):
        defect = NO_STEP
    elif not moved and [(row.prev_hash, row.entry_hash) for row in rows] != [
        (link.prev_hash, link.entry_hash) for link in expected
    ]:
        defect = MOVED
    elif _has_gap(expected):
        defect = GAP
    elif unheld:
        defect = UNHELD
    elif rows and table.anchor is None:
        defect = NO_HEAD
    return Compared(
        sealed=len(sealed),
        noted=len(noted),
        unheld=tuple(f"{head.session}:{head.n}" for head in unheld[:_MOST_NAMED]),
        waiting=len(waiting),
        erased=sum(link.sealed.is_erased for link in expected),
        moved=tuple(map(_link_name, moved[:_MOST_NAMED])),
        defect=defect,
        missing=tuple(map(_link_name, missing[:_MOST_NAMED])),
        unproved=tuple(unproved[:_MOST_NAMED]),
    )


def _is_held(head: NotedHead, sealed: Sealed | None) -> bool:
    """Whether a journal has the alert that the ledger notes. One whose chain was erased is known by its place alone."""
    return sealed is not None and sealed.entry_hash in (head.hash, "")


def _parted(table: AlertTable, sealed: Sequence[Sealed]) -> tuple[list[Sealed], list[Sealed]]:
    """The alerts that must have a row, and those that wait for one: newer than all that have."""
    known = [alert for alert in sealed if alert.order[1:] in table.steps]
    waiting = {alert.entry_hash: alert for alert in sealed if alert.order[1:] not in table.steps}
    before = [alert.prev_hash for alert in known]
    while before:  # what an alert with a row follows cannot be waiting for one
        lost = waiting.pop(before.pop(), None)
        if lost is not None:
            known.append(lost)
            before.append(lost.prev_hash)
    return known, list(waiting.values())


def _unproved(table: AlertTable, expected: Sequence[Link]) -> list[int]:
    """The rows that no step stands behind."""
    proved, hashes = Counter(_finding_text(link.sealed.finding) for link in expected), _hashes_of(expected)
    return [
        row.alert_id for row in table.rows if row.entry_hash not in hashes and not proved[_finding_text(row.finding)]
    ]


def _finding_text(finding: Finding) -> str:
    return repr(msgspec.structs.astuple(finding))


def _has_row(link: Link, said: Counter[str], hashes: Collection[object]) -> bool:
    if link.sealed.is_erased or not said[_finding_text(link.sealed.finding)]:
        return link.entry_hash in hashes
    said[_finding_text(link.sealed.finding)] -= 1
    return True


def _hashes_of(links: Sequence[Link]) -> set[object]:
    return {link.entry_hash for link in links} | {link.sealed.entry_hash for link in links}


def _has_gap(links: Sequence[Link]) -> bool:
    """Whether an alert seals as the one before it one that is nowhere in the journals."""
    there = {GENESIS, *_hashes_of(links)}
    return any(link.sealed.prev_hash not in there for link in links if link.sealed.entry_hash)


def _link_name(link: Link) -> str:
    _, session, n = link.sealed.order
    return f"{session}:{n}"
