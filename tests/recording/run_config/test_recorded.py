"""What a session ran under, read back from its journal."""

from pathlib import Path

import pytest

from tallystick.graph.lookup import resolve_session
from tallystick.journal.home import Home
from tallystick.recording.run_config.recorded import Under, known_configuration, session_under
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.erase import Erasure, erase
from tallystick.workspace.indexing import open_index
from tests.support.under_sessions import AGENT, watched


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


def under(home: Home, name: str, until: int | None = None) -> Under | None:
    with open_index(home) as index:
        return session_under(home, index.graph, resolve_session(index.graph, name), until=until)


def test_a_session_ran_under_what_it_began_under_and_its_changes_are_listed(
    home: Home, tmp_path: Path, project: Path
) -> None:
    with watched(home, "s", tmp_path, project) as session:
        session.prompt("default")
        (project / "CLAUDE.md").write_text("new")
        session.settle()
        session.prompt("plan")
    found = under(home, "s")
    assert found is not None
    assert [each.sections for each in found.changes] == [("instructions",), ("permissions",)]
    assert found.configuration.inputs["instructions"] == ()
    assert [item.name for item in found.configuration.inputs["permissions"]] == ["mode"], "told after the start"


def test_at_a_later_entry_it_is_what_held_then(home: Home, tmp_path: Path, project: Path) -> None:
    with watched(home, "s", tmp_path, project) as session:
        (project / "CLAUDE.md").write_text("new")
        session.settle()
        session.prompt("default")
    began = under(home, "s")
    assert began is not None
    (change,) = began.changes
    before, after = under(home, "s", until=change.n - 1), under(home, "s", until=change.n)
    assert before is not None
    assert after is not None
    assert before.configuration == began.configuration
    assert [item.name for item in after.configuration.inputs["instructions"]] == ["project:CLAUDE.md"]
    assert after.configuration.inputs["agent"] == before.configuration.inputs["agent"]


def test_a_session_that_tells_nothing_has_none(samples: Home) -> None:
    assert under(samples, "a42b3437") is None


def test_while_it_is_recorded_it_is_known_as_well(home: Home, tmp_path: Path, project: Path) -> None:
    with watched(home, "s", tmp_path, project) as session:
        (project / "CLAUDE.md").write_text("new")
        session.settle()
    found = under(home, "s", until=1 << 40)
    assert found is not None
    with SessionWriter(home) as session_writer:
        record = session_writer.writer.find(AGENT, "s")
        assert record is not None
        assert known_configuration(record) == found.configuration


def test_what_was_erased_leaves_the_digests(home: Home, tmp_path: Path, project: Path) -> None:
    with watched(home, "s", tmp_path, project):
        pass
    before = under(home, "s")
    assert before is not None
    erase(home, before.session, int(before.n or 0), Erasure(("content.configuration",), "asked for"))
    after = under(home, "s")
    assert after is not None
    assert after.configuration.sections == before.configuration.sections
    assert after.configuration.inputs == {}
