"""An index for each test of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.graph.graph import Graph, Mode


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    with Graph(tmp_path / "graph.db", Mode.WRITE) as graph:
        yield graph
