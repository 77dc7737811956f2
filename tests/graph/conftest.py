"""An index for each test of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.graph.graph import Graph
from tests.support.graphs import new_graph


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    with new_graph(tmp_path / "graph.db") as graph:
        yield graph
