"""The five axes of a verdict, in one line and in full.

Owns the signs: every axis has a sign and a word, so that nothing depends on colour. Must not know how a verdict is reached.
"""

from __future__ import annotations

from tallystick.display.axes import OUTCOMES, axes, defect_lines
from tallystick.display.text import counted, one_line
from tallystick.model.verdict import Authenticity, Completeness, Level, Verdict
from tallystick.tui.theme import BAD, BOLD, DIM, GOOD, NOTE, PLAIN, Piece

WORDS = ("integrity", "completeness", "authenticity", "anchoring", "disclosure")
_MOST_LISTED = 200
_SPELLED_FROM = 100


def badge(verdict: Verdict | None, waiting: str, width: int) -> list[Piece]:
    """The five axes in one line; `waiting` says why none exist yet."""
    if verdict is None:
        return [(f"◌ {waiting}", DIM)]
    pieces: list[Piece] = []
    for name, (sign, style), word in zip(WORDS, _signs(verdict), _words(verdict), strict=True):
        label = ""
        if width >= _SPELLED_FROM:
            label = f"{name} "
        pieces += [(label, DIM), (sign, style), (f" {word}  ", style)]
    return pieces


def _words(verdict: Verdict) -> tuple[str, ...]:
    shown = verdict.disclosure
    if shown.withheld:
        hidden = f"{shown.withheld:,} withheld"
    else:
        hidden = f"{shown.absent_blobs:,} absent"
    return (
        "intact" if not verdict.defects else f"broken: {verdict.integrity}",
        verdict.completeness.value,
        verdict.authenticity.value,
        verdict.level.value,
        hidden if shown.withheld or shown.absent_blobs else "full",
    )


def _signs(verdict: Verdict) -> list[Piece]:
    good, part, bad = ("✔", GOOD), ("◐", NOTE), ("✕", BAD)
    lost = verdict.completeness in (Completeness.CUT, Completeness.MISSING)
    whole = verdict.completeness is Completeness.SEALED
    wrong = verdict.authenticity is Authenticity.WRONG_KEY
    shown = verdict.disclosure
    return [
        good if not verdict.defects else bad,
        bad if lost else good if whole else part,
        bad if wrong else good if verdict.authenticity is Authenticity.SIGNED else part,
        good if verdict.level is not Level.A1 else part,
        good if not (shown.withheld or shown.absent_blobs) else ("▧", NOTE),
    ]


def verdict_text(verdict: Verdict) -> list[list[Piece]]:
    """The whole verdict, line by line."""
    bad = verdict.exit_code in (2, 4)
    said = f"{OUTCOMES[verdict.exit_code]}: {counted(verdict.steps, 'step')} checked"
    lines: list[list[Piece]] = [[(said, BAD if bad else BOLD)]]
    known = {session.session for session in verdict.sessions}
    for defect in verdict.defects[:_MOST_LISTED]:
        where, why = defect_lines(defect, known)
        lines += [[(f"  {where}", BAD)], [(f"    {why}", PLAIN)]]
    lines += [[(f"  {name:<14}", DIM), (one_line(text), PLAIN)] for name, text in axes(verdict)]
    lines += [[(f"  remark: {one_line(remark)}", NOTE)] for remark in verdict.remarks[:_MOST_LISTED]]
    return lines
