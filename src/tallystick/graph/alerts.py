"""Alerts in the index: appending to their chain, and finding them.

Owns the SQL, and that a row and the anchor of the chain are written together. Rows are appended and never rewritten:
what someone changed in the table stays as it is until `tally rebuild`, so that `tally verify-log` finds it. The hashes
are seal.alert_chain's; which step says what is policy.alert's.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import takewhile

import msgspec
from msgspec.structs import astuple

from tallystick.graph.graph import Graph, Row
from tallystick.graph.projection.statements import columns
from tallystick.graph.projects import SESSION_IN_FOLDERS
from tallystick.graph.queries import id_list
from tallystick.graph.times import asked_time, milliseconds
from tallystick.model.recorded import Recorded
from tallystick.policy.alert import ALERT, FEEDBACK, SEVERITIES, VERDICTS, WORDS, sealed_alert, sealed_review
from tallystick.seal.alert_chain import GENESIS, Anchor, Finding, Link, chain_order

Read = Callable[[str, int], Recorded | None]
"""Gives the step of a session whose line begins at an offset; None if it is not there."""

_NEW = (
    "SELECT s.session_id, s.offset, s.hash, x.inode FROM steps s JOIN sessions x ON x.session_id = s.session_id"
    " WHERE s.type = '{type}' AND s.revised_by IS NULL AND s.corroborates IS NULL{more}"
    " AND NOT EXISTS (SELECT 1 FROM {table} a WHERE a.hash = s.hash) ORDER BY s.id"
)
_NEW_ALERTS = _NEW.format(table="alert_steps", type=ALERT, more="")
_NEW_REVIEWS = _NEW.format(  # feedback may be about other things too
    table="alert_reviews", type=FEEDBACK, more=f""" AND s.meta LIKE '%"about":"{ALERT}"%'"""
)
_REWRITTEN = (
    "SELECT a.hash, s.session_id, s.offset, x.inode FROM {table} a JOIN sessions x ON x.session_id = a.session_id"
    " JOIN steps s ON s.hash = a.hash WHERE a.inode <> x.inode ORDER BY a.hash"
)
_IS_REWRITTEN = (
    "SELECT 1 FROM (SELECT DISTINCT session_id, inode FROM {table}) a"
    " JOIN sessions x ON x.session_id = a.session_id WHERE x.inode <> a.inode"
)
_APPEND = (
    f"INSERT INTO alerts ({columns(Finding)}, prev_hash, entry_hash)"
    f" VALUES ({', '.join('?' * len(Finding.__struct_fields__))}, ?, ?)"
)
_REVIEW_COLUMNS = (
    "hash, session_id, n, inode, feedback_id, alert_session, alert_n, verdict, human_verdict, action, rule_id,"
    " tool_use_id, path, note, created_at"
)
_BLANK = {"content.text": ("message", "''"), "content.path": ("path", "NULL"), "content.evidence": ("evidence", "NULL")}


class Seen(enum.Enum):
    """Which journals the index has read to their ends."""

    ALL = "all"
    SOME = "some"
    """Then an alert that follows one which is not there waits: that may be in a journal which is not read yet."""


# Projecting -----------------------------------------------------------------------------------------------------------


def project_alerts(graph: Graph, read: Read, *, seen: Seen = Seen.ALL) -> int:
    """Take alerts and what was said of them from steps that the index has; how many alerts were appended.

    Raises:
        GraphError: the index cannot be written; nothing is half done.
    """
    if not has_new_alerts(graph):
        return 0
    graph.begin()
    try:
        _blank_erased(graph, read)
        appended = _append_new(graph, read, seen)
        _take_reviews(graph, read)
        graph.commit()
    finally:
        graph.roll_back()
    return appended


def has_new_alerts(graph: Graph) -> bool:
    """Whether steps that the index has say something of alerts that the table does not. Raises GraphError."""
    sql = (
        _NEW_ALERTS,
        _NEW_REVIEWS,
        *(_IS_REWRITTEN.format(table=table) for table in ("alert_steps", "alert_reviews")),
    )
    return any(graph.row(f"{query} LIMIT 1") is not None for query in sql)


def _append_new(graph: Graph, read: Read, seen: Seen) -> int:
    places: dict[tuple[str, int], tuple[str, int]] = {}
    alerts = []
    for session, offset, digest, inode in graph.rows(_NEW_ALERTS):
        step = read(session, offset)
        sealed = None
        if step is not None and step.hash == digest:
            sealed = sealed_alert(step)
        if step is not None and sealed is not None:
            places[(session, step.n)] = (digest, inode)
            alerts.append(sealed)
    links = list(chain_order(alerts, head=chain_head(graph)))
    if seen is Seen.SOME:
        links = list(takewhile(lambda link: link.prev_hash == link.sealed.prev_hash, links))
    append(graph, links)
    ids = _ids_of_newest(graph, len(links))
    for link, alert_id in zip(links, ids, strict=True):
        _, session, n = link.sealed.order
        digest, inode = places[(session, n)]
        graph.change("INSERT INTO alert_steps VALUES (?, ?, ?, ?, ?)", (digest, session, n, alert_id, inode))
    return len(links)


def append(graph: Graph, links: Sequence[Link]) -> None:
    """Append alerts to the table and move the anchor. The caller has begun a transaction, and keeps both or neither."""
    if not links:
        return
    before = read_anchor(graph)
    count = 0
    if before is not None and isinstance(before.count, int):
        count = before.count
    graph.change_many(_APPEND, ((*astuple(link.sealed.finding), link.prev_hash, link.entry_hash) for link in links))
    graph.change(
        "INSERT INTO alert_chain_head (id, head_hash, count) VALUES (1, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET head_hash = excluded.head_hash, count = excluded.count",
        (links[-1].entry_hash, count + len(links)),
    )


def _ids_of_newest(graph: Graph, count: int) -> list[int]:
    rows = graph.rows("SELECT alert_id FROM alerts ORDER BY alert_id DESC LIMIT ?", (count,))
    return [row[0] for row in reversed(rows)]


def read_anchor(graph: Graph) -> Anchor | None:
    """What stands beside the chain; None before the first alert."""
    row = graph.row("SELECT head_hash, count FROM alert_chain_head WHERE id = 1")
    if row is None:
        return None
    return Anchor(row[0], row[1])


def chain_head(graph: Graph) -> str:
    """The hash that the next alert follows."""
    anchor = read_anchor(graph)
    if anchor is not None and isinstance(anchor.head_hash, str):
        return anchor.head_hash
    return GENESIS


def _blank_erased(graph: Graph, read: Read) -> None:
    """Take words out of rows whose steps have lost them. The hash stays: the record says that they were erased."""
    for digest, session, offset, inode in graph.rows(_REWRITTEN.format(table="alert_steps")):
        step = read(session, offset)
        gone = [_BLANK[name] for name in WORDS if step is not None and name in step.withheld]
        for column, nothing in gone:
            graph.change(
                f"UPDATE alerts SET {column} = {nothing}"
                " WHERE alert_id = (SELECT alert_id FROM alert_steps WHERE hash = ?)",
                (digest,),
            )
        graph.change("UPDATE alert_steps SET inode = ? WHERE hash = ?", (inode, digest))


def _take_reviews(graph: Graph, read: Read) -> None:
    for digest, *_ in graph.rows(_REWRITTEN.format(table="alert_reviews")):
        graph.change("DELETE FROM alert_reviews WHERE hash = ?", (digest,))  # it is read again below
    for session, offset, digest, inode in graph.rows(_NEW_REVIEWS):
        step = read(session, offset)
        review = None
        if step is not None and step.hash == digest:
            review = sealed_review(step)
        if step is None or review is None:
            continue
        values = (
            digest,
            session,
            step.n,
            inode,
            int.from_bytes(sha256(digest.encode()).digest()[:8], "big") >> 2,
            review.session,
            review.n,
            review.verdict,
            VERDICTS.get(review.verdict),
            review.action,
            review.rule,
            review.corr,
            review.path,
            review.note,
            review.created_at,
        )
        places = ", ".join("?" * len(values))
        graph.change(f"INSERT INTO alert_reviews ({_REVIEW_COLUMNS}) VALUES ({places})", values)


# Finding --------------------------------------------------------------------------------------------------------------


class AlertEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table with its step; `session` and `n` are None where no step stands behind it.

    `corr` is the agent's id of the call. `reviews` counts what people said of it, `verdict` is the newest of that.
    """

    alert_id: int
    severity: str
    action: str
    rule: str
    message: str
    path: str | None
    evidence: str | None
    created_at: int
    request_id: int | None
    entity_kind: str | None
    entity_id: int | None
    prev_hash: str | None
    entry_hash: str | None
    session: str | None
    n: int | None
    corr: str | None
    reviews: int
    verdict: str | None


class ReviewEntry(msgspec.Struct, frozen=True):
    """What someone said of an alert, and which step says so."""

    verdict: str
    note: str | None
    created_at: int
    session: str
    n: int


class AlertFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which alerts. `severity` is the least; `session` is a full id; `since` a time as the record writes it."""

    severity: str | None = None
    session: str | None = None
    rule: str | None = None
    since: str | None = None
    folders: tuple[str, ...] = ()
    """In which their sessions work: `graph.projects` finds them by name."""
    limit: int = 50


_ENTRY = (
    "SELECT a.alert_id, a.severity, a.action, a.rule_id, a.message, a.path, a.evidence, a.created_at, a.request_id,"
    " a.entity_kind, a.entity_id, a.prev_hash, a.entry_hash, s.session_id, s.n,"
    " (SELECT t.corr FROM steps t WHERE t.hash = s.hash),"
    " (SELECT count(*) FROM alert_reviews r WHERE r.alert_session = s.session_id AND r.alert_n = s.n),"
    " (SELECT r.verdict FROM alert_reviews r WHERE r.alert_session = s.session_id AND r.alert_n = s.n"
    " ORDER BY r.created_at DESC, r.n DESC LIMIT 1)"
    " FROM alerts a LEFT JOIN alert_steps s ON s.alert_id = a.alert_id"
)


def list_alerts(graph: Graph, wanted: AlertFilter) -> tuple[AlertEntry, ...]:
    """The newest alerts of a kind, newest first.

    Raises:
        UsageError: a time that is none. GraphError: the index cannot be read.
    """
    conditions = list(_conditions(wanted))
    where = " AND ".join(sql for sql, _ in conditions) or "1"
    values = [value for _, bound in conditions for value in bound]
    rows = graph.rows(f"{_ENTRY} WHERE {where} ORDER BY a.alert_id DESC LIMIT ?", (*values, max(wanted.limit, 0)))
    return tuple(map(_entry, rows))


def _conditions(wanted: AlertFilter) -> Iterator[tuple[str, Iterable[object]]]:
    if wanted.severity in SEVERITIES:
        worse = SEVERITIES[SEVERITIES.index(wanted.severity) :]
        yield f"a.severity IN ({', '.join('?' * len(worse))})", worse
    if wanted.session is not None:
        yield "s.session_id = ?", (wanted.session,)
    if wanted.rule is not None:
        yield "a.rule_id = ?", (wanted.rule,)
    if wanted.since is not None:
        yield "a.created_at >= ?", (milliseconds(asked_time(wanted.since)),)
    if wanted.folders:
        yield SESSION_IN_FOLDERS, (id_list(wanted.folders),)


def get_alert(graph: Graph, alert_id: int) -> AlertEntry | None:
    """One alert by its number."""
    row = graph.row(f"{_ENTRY} WHERE a.alert_id = ?", (alert_id,))
    if row is None:
        return None
    return _entry(row)


def alert_at(graph: Graph, session: str, n: int) -> AlertEntry | None:
    """The alert that step `n` of a session seals."""
    row = graph.row(f"{_ENTRY} WHERE s.session_id = ? AND s.n = ?", (session, n))
    if row is None:
        return None
    return _entry(row)


def reviews_of(graph: Graph, session: str, n: int) -> tuple[ReviewEntry, ...]:
    """What was said of the alert that step `n` of a session seals, oldest first."""
    rows = graph.rows(
        "SELECT verdict, note, created_at, session_id, n FROM alert_reviews"
        " WHERE alert_session = ? AND alert_n = ? ORDER BY created_at, session_id, n",
        (session, n),
    )
    return tuple(ReviewEntry(*row) for row in rows)


def _entry(row: Row) -> AlertEntry:
    return AlertEntry(**dict(zip(AlertEntry.__struct_fields__, row, strict=True)))
