"""Ids that begin with what a person has typed so far: the SQL behind completion.

Owns these few queries on an index as it is. It is opened to be read only, never made or brought up to date, and one that
cannot be read has no ids: completion answers within the time of a keystroke or not at all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

Named = tuple[str, str]
"""An id, and a few words on what it names."""

_MOST = 50
_BUSY_SECONDS = 0.05
_SHORT = 12


def session_ids(path: Path, beginning: str) -> list[Named]:
    """Sessions by our id, cut short, or by the agent's own id; newest first."""
    return _rows(
        path,
        "SELECT CASE WHEN substr(session_id, 1, length(?1)) = ?1 THEN substr(session_id, 1, max(?2, length(?1)))"
        " ELSE source_session END, agent_id || coalesce('  ' || title, '') FROM sessions"
        " WHERE substr(session_id, 1, length(?1)) = ?1 OR substr(source_session, 1, length(?1)) = ?1"
        " ORDER BY last_event_at DESC LIMIT ?3",
        (beginning, _SHORT, _MOST),
    )


def step_names(path: Path, session: str, digits: str) -> list[Named]:
    """Steps of the sessions that a text begins, as SESSION:N with that text; newest first."""
    return _rows(
        path,
        "SELECT ?1 || ':' || n, type || coalesce('  ' || tool, '') FROM steps"
        " WHERE substr(session_id, 1, length(?1)) = ?1 AND substr(n, 1, length(?2)) = ?2"
        " ORDER BY session_id, n DESC LIMIT ?3",
        (session, digits, _MOST),
    )


def checkpoint_ids(path: Path, beginning: str) -> list[Named]:
    """Checkpoints by the beginning of their hash; newest first."""
    return _rows(
        path,
        "SELECT substr(hash, 1, max(?2, length(?1))), trigger || coalesce('  ' || label, '') FROM checkpoints"
        " WHERE substr(hash, 1, length(?1)) = ?1 ORDER BY at_us DESC LIMIT ?3",
        (beginning, _SHORT, _MOST),
    )


def _rows(path: Path, sql: str, values: Sequence[object]) -> list[Named]:
    try:
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=_BUSY_SECONDS)
    except sqlite3.Error:
        return []
    try:
        return [(str(name), str(words)) for name, words in connection.execute(sql, values)]
    except sqlite3.Error:
        return []
    finally:
        connection.close()
