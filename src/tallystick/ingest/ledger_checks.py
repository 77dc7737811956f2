"""What the hashes of imported hash-chain ledgers say, and keeping it: a ledger that did not hold never counts as sound again.

Owns that verdict, its alert, and looking it up. The checks are exports.ledger's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from tallystick.capture.ledger_files import ledger_lines
from tallystick.exports.ledger import LedgerVerdict, records_of, summary, verify_ledger
from tallystick.graph.alerts import AlertEntry, AlertFilter, list_alerts
from tallystick.ingest.adapters import adapters
from tallystick.ingest.import_ import ImportReport
from tallystick.journal.archive import system_clock
from tallystick.journal.home import Home
from tallystick.model.step import Opening, Source
from tallystick.policy.alert import BROKEN_LEDGER, Alert, alert_of_broken_ledger
from tallystick.recording.alert_chain import AlertChain, known_head, milliseconds_of
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.indexing import open_index

LEDGER_AGENT = "gptme-ledger"


def ledger_folder(below: Path) -> Path:
    """Where gptme's developers keep ledgers, below a home folder."""
    pattern = adapters()[LEDGER_AGENT].locate()[0]
    return below / pattern.partition("/sessions/")[0]


class LedgerReport(msgspec.Struct, frozen=True):
    """What the hashes of an imported hash-chain ledger say about it. `sessions`: those in it, by its names."""

    path: Path
    verdict: LedgerVerdict
    sessions: tuple[str, ...] = ()


def check_ledgers(report: ImportReport) -> list[LedgerReport]:
    """The verdict of each hash-chain ledger among imported files, by its own hashes."""
    return [
        LedgerReport(file.path, verify_ledger(ledger_lines(file.path)), tuple(file.sessions))
        for file in report.files
        if file.agent == LEDGER_AGENT and file.error is None
    ]


def seal_broken(home: Home, ledgers: Sequence[LedgerReport]) -> None:
    """Seal an alert in the session of each ledger that does not hold; one that is there for the same record is enough.

    Raises:
        JournalError: it cannot be written.
    """
    broken = [ledger for ledger in ledgers if not ledger.verdict.valid and ledger.sessions]
    if not broken:
        return
    with SessionWriter(home) as writer, writer.lock:
        chain = AlertChain(writer, known_head(home))
        for ledger in broken:
            session = ledger.sessions[0]
            record = writer.open(Opening(session=session, agent=LEDGER_AGENT, source=Source.IMPORT))
            chain.add(record, _alert(ledger, session))


def _alert(ledger: LedgerReport, session: str) -> Alert:
    about, bad, why = None, ledger.verdict.first_bad, summary(ledger.verdict)
    if bad is not None:
        why = f"record {bad.index} ({bad.check.value}): {bad.why}"
    for number, record in enumerate(records_of(ledger_lines(ledger.path))):
        if bad is not None and number > bad.index:
            break
        about = str(record.get("step_id"))
    return alert_of_broken_ledger(
        session,
        f"the hashes of the ledger do not match: {why}",
        path=str(ledger.path),
        about=about,
        created_at=milliseconds_of(system_clock()),
    )


def broken_ledgers(home: Home, session: str | None = None) -> tuple[AlertEntry, ...]:
    """The alerts of ledgers that did not hold when they were imported: of one session, by its full id, or of all.

    Raises:
        NotFoundError: there is no store. GraphError: the index cannot be used.
    """
    with open_index(home) as index:
        return list_alerts(index.graph, AlertFilter(rule=BROKEN_LEDGER, session=session))
