"""Which agent wrote a transcript, told by what its first lines hold, and the facts in it."""

from __future__ import annotations

from pathlib import Path

from tests.independent import claude, codex, others
from tests.independent.facts import History
from tests.independent.lines import Lines, lines_of

__all__ = ("read",)


def read(path: Path) -> History | None:
    """The facts in one file; None if no agent known here wrote it."""
    lines = lines_of(path)
    reader = _reader(lines)
    return reader(lines) if reader else None


def _reader(lines: Lines):  # type: ignore[no-untyped-def]
    first = lines.first()
    if isinstance(first.get("messages"), list):
        if isinstance(first.get("info"), dict):
            return others.read_opencode
        return others.read_gemini if "projectHash" in first or "sessionId" in first else None
    for _, row in lines.rows[:50]:
        kind = str(row.get("type"))
        if isinstance(row.get("payload"), dict):
            return codex.read
        if kind in {"session.start", "session.resume", "user.message"} and isinstance(row.get("data"), dict):
            return others.read_copilot
        if kind in {"user", "assistant"} and isinstance(row.get("message"), dict):
            return claude.read
        if kind == "gemini" or "projectHash" in row:
            return others.read_gemini
    return None
