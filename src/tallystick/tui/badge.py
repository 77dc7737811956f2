"""The five axes of a verdict, in one line and in full.

Owns the signs: every axis has a sign and a word, so that nothing depends on colour. Must not know how a verdict is reached.
"""

from __future__ import annotations

from tallystick.display.axes import OUTCOMES, axes, defect_lines
from tallystick.display.text import counted, one_line
from tallystick.model.verdict import Authenticity, Completeness, Level, Verdict
from tallystick.tui.theme import BAD, BOLD, DIM, GOOD, NOTE, PLAIN, Piece, bad_or

WORDS = ("integrity", "completeness", "authenticity", "anchoring", "disclosure")
_MOST_LISTED = 200
_SPELLED_FROM = 100
_GOOD, _PARTIAL, _BROKEN, _HIDDEN = ("✔", GOOD), ("◐", NOTE), ("✕", BAD), ("▧", NOTE)
_COMPLETENESS = {Completeness.SEALED: _GOOD, Completeness.CUT: _BROKEN, Completeness.MISSING: _BROKEN}
_AUTHENTICITY = {Authenticity.SIGNED: _GOOD, Authenticity.WRONG_KEY: _BROKEN}


def badge(verdict: Verdict | None, waiting: str, width: int) -> list[Piece]:
    """The five axes in one line; `waiting` says why none exist yet."""
    if verdict is None:
        return [(f"◌ {waiting}", DIM)]
    pieces: list[Piece] = []
    for name, (sign, style), word in zip(WORDS, _signs(verdict), _axis_words(verdict), strict=True):
        label = ""
        if width >= _SPELLED_FROM:
            label = f"{name} "
        pieces += [(label, DIM), (sign, style), (f" {word}  ", style)]
    return pieces


def _axis_words(verdict: Verdict) -> tuple[str, ...]:
    shown = verdict.disclosure
    integrity, hidden = "intact", "full"
    if verdict.defects:
        integrity = f"broken: {verdict.integrity}"
    if shown.withheld:
        hidden = f"{shown.withheld:,} withheld"
    elif shown.absent_blobs:
        hidden = f"{shown.absent_blobs:,} absent"
    return (
        integrity,
        verdict.completeness.value,
        verdict.authenticity.value,
        verdict.level.value,
        hidden,
    )


def _signs(verdict: Verdict) -> list[Piece]:
    integrity = level = disclosure = _GOOD
    if verdict.defects:
        integrity = _BROKEN
    if verdict.level is Level.A1:
        level = _PARTIAL
    if verdict.disclosure.withheld or verdict.disclosure.absent_blobs:
        disclosure = _HIDDEN
    return [
        integrity,
        _COMPLETENESS.get(verdict.completeness, _PARTIAL),
        _AUTHENTICITY.get(verdict.authenticity, _PARTIAL),
        level,
        disclosure,
    ]


def verdict_text(verdict: Verdict) -> list[list[Piece]]:
    """The whole verdict, line by line."""
    bad = verdict.exit_code in (2, 4)
    said = f"{OUTCOMES[verdict.exit_code]}: {counted(verdict.steps, 'step')} checked"
    lines: list[list[Piece]] = [[(said, bad_or(BOLD, bad))]]
    known = {session.session for session in verdict.sessions}
    for defect in verdict.defects[:_MOST_LISTED]:
        where, why = defect_lines(defect, known)
        lines += [[(f"  {where}", BAD)], [(f"    {why}", PLAIN)]]
    lines += [[(f"  {name:<14}", DIM), (one_line(text), PLAIN)] for name, text in axes(verdict)]
    lines += [[(f"  remark: {one_line(remark)}", NOTE)] for remark in verdict.remarks[:_MOST_LISTED]]
    return lines
