"""Reading a table of alerts out of a file. What is concluded from it: tests/trust/test_verify_log.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.errors import FormatError, NotFoundError
from tallystick.graph.projection.alert_rows import AlertTable, read_alerts, read_own_alerts
from tallystick.seal.alert_chain import Finding
from tests.support.alerting import lay_tables
from tests.support.graphs import new_graph

INSERT = "INSERT INTO alerts (severity, action, rule_id, message, created_at) VALUES ('low', 'ask', 'r', ?, 7)"


@pytest.mark.parametrize("read", [read_alerts, read_own_alerts])
def test_rows_are_read_while_the_index_is_open_for_writing(tmp_path: Path, read: object) -> None:
    with new_graph(tmp_path / "graph.db") as graph:
        lay_tables(graph)
        graph.change(INSERT, ("one",))
        graph.begin()
        graph.change(INSERT, ("not committed",))
        table = read(tmp_path / "graph.db")  # type: ignore[operator]
        graph.roll_back()
    assert isinstance(table, AlertTable)
    assert [(row.alert_id, row.finding.message, row.entry_hash) for row in table.rows] == [(1, "one", None)]
    assert (table.is_ours, table.anchor, table.checkpoints, table.steps) == (True, None, (), frozenset())


def test_bytes_that_are_no_text_are_read_as_they_stand(tmp_path: Path) -> None:
    with new_graph(tmp_path / "graph.db") as graph:
        graph.change(INSERT.replace("?", "CAST(x'61ff' AS TEXT)"))
    (row,) = read_alerts(tmp_path / "graph.db").rows
    assert row.finding == Finding(
        severity="low", action="ask", rule_id="r", message=b"a\xff".decode("utf-8", "surrogateescape"), created_at=7
    )


@pytest.mark.parametrize("read", [read_alerts, read_own_alerts])
@pytest.mark.parametrize("content", [b"", b"short", b"\0" * 5000])
def test_a_file_that_is_no_database_is_named_as_such(tmp_path: Path, read: object, content: bytes) -> None:
    path = tmp_path / "graph.db"
    path.write_bytes(content)
    with pytest.raises(FormatError, match="encrypted, or no SQLite database"):
        read(path)  # type: ignore[operator]
    with pytest.raises(NotFoundError):
        read(tmp_path / "none.db")  # type: ignore[operator]
