"""`tally alerts`, `tally alert` and `tally verify-log`: alerts, their reviews, and the check of the alert log."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from tallystick.cli.command import TAMPERED, Command, Group, options_as
from tallystick.cli.context import Run, counted, labelled, pass_run, path_text
from tallystick.cli.filters import limit_option, project_option, time_option
from tallystick.cli.fitting import Shape, fitted
from tallystick.cli.nodes import answer_data, answer_text, moment
from tallystick.cli.steps import short
from tallystick.display.text import first_line, lines, one_line

if TYPE_CHECKING:
    from tallystick.graph.alerts import AlertEntry
    from tallystick.trust.alerts import Told
    from tallystick.trust.verify_log import LogVerdict

SEVERITIES = ("info", "low", "medium", "high", "critical")
VERDICTS = ("confirmed", "false-positive", "false-negative")
_COLORS = {"critical": "red", "high": "red", "medium": "yellow"}
_MESSAGE = 400
_EFFECTS = {"block": "deny"}
"""The table has the reference's word."""

alert = Group(
    "alert",
    lazy={
        "show": (
            "tallystick.cli.decide.alerts:show",
            "One alert: its step, the reason of its rule, its reviews, and what led to the call",
        ),
        "ack": ("tallystick.cli.decide.alerts:ack", "Acknowledge an alert."),
        "feedback": ("tallystick.cli.decide.alerts:feedback", "Report whether an alert was right."),
    },
    help="One alert: its evidence and its reviews.",
)


# Lists ----------------------------------------------------------------------------------------------------------------


class AlertOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which alerts are listed."""

    severity: str | None
    session: str | None
    rule: str | None
    since: str | None
    projects: tuple[str, ...]
    limit: int | None


@click.command(
    cls=Command, example="tally alerts\ntally alerts --severity high --since 2d\ntally alerts --rule tally.store"
)
@click.option("--severity", type=click.Choice(SEVERITIES), help="Alerts of at least this severity.")
@click.option("--session", metavar="S", help="Alerts of this session.")
@click.option("--rule", metavar="R", help="Alerts of this rule.")
@time_option("--since", "From this time on: 2026-11-21, 2026-11-21T10:30, 3h, today (UTC).")
@project_option
@limit_option("alerts")
@options_as(AlertOptions)
@pass_run
def alerts(run: Run, options: AlertOptions) -> None:
    """Denied, questioned and flagged calls, newest first: number, time (UTC), severity, effect, rule, step, message."""
    from tallystick.graph.alerts import AlertFilter
    from tallystick.graph.projects import folders_of
    from tallystick.trust.alerts import read_alerts
    from tallystick.workspace.indexing import open_index

    most = run.limit(options.limit)
    with open_index(run.home) as index:
        run.take(index.remarks)
        wanted = AlertFilter(
            severity=options.severity,
            session=options.session,
            rule=options.rule,
            since=options.since,
            folders=folders_of(index.graph, options.projects),
            limit=most + 1,
        )
        found = read_alerts(index, wanted)
    shown = found[:most]
    data = {"alerts": shown, "has_more": len(found) > most}
    run.answer("alerts", data, _list_text(shown, run.width))
    if len(found) > most:
        run.note(f"Showing {most}; --limit N shows more")


def _list_text(found: tuple[AlertEntry, ...], width: int) -> Iterator[str]:
    if not found:
        yield "no alerts"
        return
    shape = Shape(width=width, right=frozenset((0,)), gives={6: 24})
    for text in fitted([_cells(entry) for entry in found], shape):
        yield from text.split("\n")


def _cells(entry: AlertEntry) -> tuple[str, ...]:
    color = _COLORS.get(entry.severity)
    known = (
        str(entry.alert_id),
        moment(entry.created_at),
        one_line(entry.severity),
        _effect(entry),
        _step(entry),
        "  ".join(one_line(word) for word in (entry.rule, entry.verdict) if word),
    )
    return *(click.style(word, fg=color) for word in known), first_line(entry.path or entry.message, _MESSAGE)


def _effect(entry: AlertEntry) -> str:
    return one_line(_EFFECTS.get(entry.action, entry.action))


def _step(entry: AlertEntry) -> str:
    if entry.session is None:
        return "no step"
    return f"{short(entry.session)}:{entry.n}"


# One alert ------------------------------------------------------------------------------------------------------------


@click.command("show", cls=Command, example="tally alert show 3\ntally alert show a3f9:17")
@click.argument("alert_name", metavar="ID")
@pass_run
def show(run: Run, alert_name: str) -> None:
    """One alert: its step, the reason of its rule, its reviews, and what led to the call.

    ID is the number in the list of `tally alerts`, or the step of the alert.
    """
    from tallystick.trust.alerts import tell_alert
    from tallystick.workspace.indexing import open_index

    with open_index(run.home) as index:
        run.take(index.remarks)
        told = tell_alert(run.home, index, alert_name, folder=str(Path.cwd()))
    lineage = None
    if run.json and told.lineage is not None:
        lineage = answer_data(told.lineage.answer)
    data = None
    if run.json:
        data = {"alert": told.alert, "step": told.shown, "reviews": told.reviews, "lineage": lineage}
    run.answer("alert", data, _told_text(told, run.width))


def _told_text(told: Told, width: int) -> Iterator[str]:
    entry = told.alert
    head = f"alert {entry.alert_id}  {one_line(entry.severity)}  {_effect(entry)}  {one_line(entry.rule)}"
    yield click.style(head, bold=True, fg=_COLORS.get(entry.severity))
    yield from (f"  {line}" for line in lines(entry.message))
    yield from labelled(
        [
            ("when", moment(entry.created_at)),
            ("path", one_line(entry.path or "")),
            ("step", _step(entry)),
            ("about", f"{one_line(entry.entity_kind)} {entry.entity_id}" if entry.entity_kind else ""),
            *_evidence(entry.evidence),
            ("hash", one_line(entry.entry_hash or "none: the alert is not in the chain")),
            ("proof", _proof(told)),
        ],
        indent="  ",
    )
    for review in told.reviews:
        note = ""
        if review.note:
            note = f": {one_line(review.note)}"
        yield f"  {moment(review.created_at)}  {one_line(review.verdict)}{note}"
    if told.lineage is not None:
        yield click.style("what led to it", bold=True)
        yield from answer_text(told.lineage.answer, width, upwards=True)


def _evidence(evidence: str | None) -> Iterator[tuple[str, str]]:
    """What each rule found, one line each; evidence in another format is shown unchanged."""
    import json

    try:
        said = json.loads(evidence or "{}")
    except (ValueError, RecursionError):
        said = None
    found = None
    if isinstance(said, dict):
        found = said.get("found")
    if not isinstance(said, dict) or not isinstance(found, list):
        yield "evidence", one_line(evidence or "")
        return
    for item in found:
        if isinstance(item, dict):
            because = item.get("because")
            joint = " "
            if item.get("action") == "call":
                joint = "; "
            words = ""
            if isinstance(because, list) and because:
                words = ": " + joint.join(map(str, because))
            yield "found", one_line(f"{item.get('rule')}: {item.get('action')} {item.get('target')}{words}")
    yield "instead", one_line(str(said.get("remedy") or ""))
    yield "policies", one_line(str(said.get("policy") or ""))


def _proof(told: Told) -> str:
    if told.shown is None:
        return click.style("✕ no sealed step exists for this row; `tally verify-log` says more", fg="red")
    if told.shown.defect is not None:
        return click.style(f"✕ the values of the step do not match its hash ({one_line(told.shown.defect)})", fg="red")
    return "the values of the step match its hash; `tally verify-log` checks the chain"


# Reviewing one
# --------------------------------------------------------------------------------------------------------


@click.command("ack", cls=Command, example='tally alert ack 3 "known test fixture"')
@click.argument("alert_name", metavar="ID")
@click.argument("note", required=False)
@pass_run
def ack(run: Run, alert_name: str, note: str | None) -> None:
    """Acknowledge an alert. The acknowledgement is sealed as a step of the recorder's own session."""
    _review(run, alert_name, "acknowledged", note)


@click.command("feedback", cls=Command, example="tally alert feedback 3 false-positive --note 'a fixture'")
@click.argument("alert_name", metavar="ID")
@click.argument("verdict", type=click.Choice(VERDICTS))
@click.option("--note", metavar="TEXT", help="Why.")
@pass_run
def feedback(run: Run, alert_name: str, verdict: str, note: str | None) -> None:
    """Report whether an alert was right. The report is sealed as a step of the recorder's own session.

    `confirmed`: the alert was right. `false-positive`: the call was harmless. `false-negative`: the call should have
    been refused.
    """
    _review(run, alert_name, verdict, note)


def _review(run: Run, alert_name: str, verdict: str, note: str | None) -> None:
    from tallystick.trust.alerts import find_alert, review_alert
    from tallystick.workspace.indexing import open_index

    with open_index(run.home) as index:
        run.take(index.remarks)
        entry = find_alert(index, alert_name)
    taken = review_alert(run.home, entry, verdict, note, now_ms=time.time_ns() // 1_000_000)
    data = {"alert_id": entry.alert_id, "verdict": verdict, "session": taken.session, "n": taken.n}
    run.answer(
        "review", data, [f"alert {entry.alert_id} is {verdict}: recorded in step {short(taken.session)}:{taken.n}"]
    )


# The chain ------------------------------------------------------------------------------------------------------------


@click.command("verify-log", cls=Command, example="tally verify-log\ntally verify-log --db other.db --json")
@click.option(
    "--db",
    "database",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Check the alerts in this SQLite database instead: an unencrypted one of the reference, or a copy of an "
    "index.",
)
@pass_run
def verify_log(run: Run, database: Path | None) -> None:
    """Check that no alert was changed, added, moved or deleted.

    Walks the chain of the table from its beginning, and compares the table with the sealed steps behind it. Writes
    nothing. With --db only that file is checked; the report lists what cannot be checked.

    Exits with 0 if the log is intact, with 2 on tampering (and names the first break and its reason), and with 1 if it
    could not be checked.
    """
    from tallystick.trust import verify_log as operation

    if database is None:
        verdict = operation.verify_log(run.home)
    else:
        verdict = operation.verify_database(database)
    data = {"outcome": "intact" if verdict.is_intact else "tampered", "verdict": verdict}
    run.answer("verify-log", data, _verdict_text(verdict))
    raise SystemExit(0 if verdict.is_intact else TAMPERED)


def _verdict_text(verdict: LogVerdict) -> Iterator[str]:
    if verdict.is_intact:
        head = f"intact: {counted(verdict.chained, 'chained alert')}, no tampering detected"
        yield click.style(head, fg="blue", bold=True)
    else:
        yield click.style("TAMPERING DETECTED", fg="red", bold=True)
    if verdict.broken is not None:
        if verdict.broken.alert_id is not None:
            where = f"alert_id {verdict.broken.alert_id}"
        else:
            where = f"the tail after {counted(verdict.chained, 'valid entry', 'valid entries')}"
        yield f"  ✕ chain broke at {where}: {one_line(verdict.broken.reason)}"
    compared = verdict.compared
    if compared is not None and compared.defect is not None:
        yield f"  ✕ table and journals differ: {one_line(compared.defect)}"
        for step in compared.missing:
            yield f"    no row for step {one_line(step)}"
        for row in compared.unproved:
            yield f"    no step for row {row}"
        for step in compared.unheld:
            yield f"    no sealed alert at {one_line(step)}, although the ledger notes one"
    told = [("file", path_text(verdict.path)), ("head", one_line(verdict.head))]
    if compared is not None:
        told.append(("journals", f"{counted(compared.sealed, 'sealed alert')}"))
        told.append(("ledger", f"{counted(compared.noted, 'head')} of the chain"))
    yield from labelled(told, indent="  ")
    for hole in verdict.holes:
        yield f"  remark: {one_line(hole)}"
