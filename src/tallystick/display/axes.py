"""A verdict in words: the outcome, and the five axes one by one.

Owns those words. Everything it returns is safe to print. Must not know how a verdict is reached, nor what obeys it.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.display.text import counted, one_line
from tallystick.model.verdict import Completeness, Defect, Verdict

OUTCOMES = {0: "sound", 2: "TAMPERED", 3: "sound, but below the required level", 4: "MALFORMED"}
"""The outcome by its exit code."""


def axes(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """The five axes, always all of them, in one order."""
    integrity = "intact"
    if verdict.defects:
        integrity = f"broken: {counted(len(verdict.defects), 'defect')}"
    yield "integrity", integrity
    yield "completeness", _completeness(verdict)
    yield "authenticity", verdict.authenticity.value
    yield "anchoring", f"level {verdict.level.value}; not higher:"
    yield from (("", f"  {one_line(reason)}") for reason in verdict.why_not_higher.split("; "))
    yield "disclosure", _disclosure(verdict)


def defect_lines(defect: Defect, sessions: set[str | None]) -> tuple[str, str]:
    """Where a record broke, and why. `sessions` are those that were checked."""
    if defect.session and defect.session in sessions:
        where = f"session {defect.session}"
    else:  # a lone file that is none of ours names no session
        where = "the ledger"
        if not any(sessions) and sessions:
            where = "the file"
    entry = ""
    after = ""
    if defect.n is not None:
        entry = f", entry {defect.n}"
        after = "; nothing after it is trusted"
    return f"✕ {one_line(where)}{entry}: rule {defect.rule.value}", f"{one_line(defect.why)}{after}"


def _completeness(verdict: Verdict) -> str:
    worst = verdict.completeness
    many = len(verdict.sessions) > 1
    which = sum(session.completeness is worst for session in verdict.sessions)
    if worst is Completeness.TRUNCATED:
        whose = "the session has"
        if many and which:
            whose = f"{which} of {len(verdict.sessions)} sessions have"
        text = f"{worst.value}: {whose} no recorded end (still open or interrupted)"
    elif many and which:
        text = f"{worst.value} ({which} of {len(verdict.sessions)} sessions)"
    else:
        text = worst.value
    return f"{text}; {counted(verdict.unsealed, 'entry', 'entries')} not sealed"


def _disclosure(verdict: Verdict) -> str:
    shown = verdict.disclosure
    said = []
    if shown.withheld:
        said.append(f"{counted(shown.withheld, 'value')} withheld, {shown.erased:,} of them erased")
    if shown.absent_blobs:
        said.append(f"{counted(shown.absent_blobs, 'blob')} absent")
    return "; ".join(said) or "full"
