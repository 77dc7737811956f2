"""The queries behind completion."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.graph.id_prefixes import checkpoint_ids, session_ids, step_names
from tallystick.journal.home import Home
from tests.support.cases import each


@pytest.fixture(scope="module")
def home(imported_samples: Path) -> Home:
    return Home(imported_samples / ".tally")


def test_a_session_is_found_by_our_id_and_by_its_own(home: Home) -> None:
    ours = home.files()[0][0]
    assert [name for name, _ in session_ids(home.graph, ours[:6])] == [ours[:12]]
    assert session_ids(home.graph, ours) == [(ours, session_ids(home.graph, ours[:6])[0][1])]
    assert any(name == "a42b3437-edc3-4f9f-94df-46a5393a6b90" for name, _ in session_ids(home.graph, "a42b"))
    assert len(session_ids(home.graph, "")) == len(home.files())


def test_steps_are_numbered_within_what_was_typed(home: Home) -> None:
    ours = home.files()[0][0][:8]
    names = [name for name, _ in step_names(home.graph, ours, "1")]
    assert f"{ours}:1" in names
    assert all(name.startswith(f"{ours}:1") for name in names)


@each("typed", ["%", "_", "' OR 1=1 --", "\x00"])
def test_what_is_typed_is_no_pattern(home: Home, typed: str) -> None:
    assert session_ids(home.graph, typed) == checkpoint_ids(home.graph, typed) == []


def test_where_no_index_is_there_are_no_ids_and_none_is_made(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    assert session_ids(path, "a") == []
    assert not path.exists()
    path.write_bytes(b"no index" * 100)
    assert session_ids(path, "a") == step_names(path, "a", "1") == []
