"""What the record says of calls that were imported: the request behind each, how it ended, the files it changed."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.graph.causes import Cause, causes_of
from tallystick.graph.graph import Graph
from tallystick.lineage.access import CHANGING, DEEDS

_CHANGES = sorted(str(operation) for operation, deed in DEEDS.items() if deed in CHANGING)
_PLACES = ", ".join("?" * len(_CHANGES))


class Call(NamedTuple):
    """A recorded call, and how its result says that it ended: `ok`, `failed`, `refused` or `open`."""

    step: int
    session: str
    outcome: str


class Recorded:
    """Questions to an index, by the agents' own ids."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._calls: dict[str, Call] = {}
        results = {
            corr: _outcome(success, decision)
            for corr, success, decision in graph.rows(
                "SELECT corr, success, json_extract(meta, '$.decision') FROM steps WHERE type = 'tool_result'"
                " AND corr IS NOT NULL AND corroborates IS NULL AND revised_by IS NULL"
            )
        }
        for corr, step, session in graph.rows(
            "SELECT corr, id, session_id FROM steps WHERE type = 'tool_call' AND corr IS NOT NULL AND corroborates IS NULL"
            " AND revised_by IS NULL ORDER BY id"
        ):
            self._calls.setdefault(corr, Call(step, session, results.get(corr, "open")))

    def call(self, corr: str) -> Call | None:
        """The call with the agent's id."""
        return self._calls.get(corr)

    def causes(self, call: Call) -> tuple[Cause, ...]:
        """The requests that led to it, the nearest first."""
        return causes_of(self._graph, call.step)

    def changed(self, call: Call) -> set[str]:
        """The files that it, or its result, changed."""
        rows = self._graph.rows(
            "SELECT t.uri FROM steps s JOIN steps o ON o.session_id = s.session_id AND o.corr = s.corr"
            " JOIN accesses a ON a.step_id = o.id JOIN things t ON t.thing = a.thing"
            f" WHERE s.id = ? AND t.kind = 'file' AND a.operation IN ({_PLACES})",
            (call.step, *_CHANGES),
        )
        return {uri for (uri,) in rows}

    def prompts(self, session: str) -> dict[str, int]:
        """How many requests of each kind a session has, with what it went on as, by the agent's own id."""
        rows = self._graph.rows(
            "SELECT r.kind, count(*) FROM requests r JOIN sessions s ON s.session_id = r.session_id WHERE r.n > 0"
            " AND (s.source_session = ? OR s.source_session GLOB ? || '~*') GROUP BY 1",
            (session, session),
        )
        return {kind: count for kind, count in rows if kind is not None}

    def tokens(self, session: str) -> dict[str, int]:
        """What models used in a session, with what it went on as."""
        names = ("input", "output", "cache_read", "cache_write")
        sums = ", ".join(f"sum(tokens_{name})" for name in names)
        row = self._graph.row(
            f"SELECT {sums} FROM sessions WHERE source_session = ? OR source_session GLOB ? || '~*'", (session, session)
        )
        return dict(zip(names, (count or 0 for count in row or (0, 0, 0, 0)), strict=True))


def _outcome(success: int | None, decision: str | None) -> str:
    if decision == "deny":
        return "refused"
    return "failed" if success == 0 else "ok"
