"""What sessions ran under, compared."""

from pathlib import Path

import pytest

from tallystick.errors import FormatError, NotFoundError
from tallystick.journal.home import Home
from tallystick.review.drift import Drift, disclosed_key, drift, drift_from_now, last_configuration, match_now
from tallystick.sessions.configuration import in_words
from tallystick.workspace.indexing import open_index
from tests.support.under_sessions import surroundings, watched


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path / "project"


def compared(home: Home, first: str, second: str) -> Drift:
    with open_index(home) as index:
        return drift(home, index, first, second)


def since(home: Home, name: str, user: Path) -> Drift:
    with open_index(home) as index:
        return drift_from_now(home, index, name, surroundings(user), root=user / "no-administrator")


def words(found: Drift) -> dict[str, str]:
    return {each.section: in_words(each) for each in found.differences}


def test_two_sessions_under_the_same_do_not_differ(home: Home, tmp_path: Path, project: Path) -> None:
    for name in ("one", "two"):
        with watched(home, name, tmp_path, project):
            pass
    found = compared(home, "one", "two")
    assert (found.is_same, found.differences) == (True, ())
    assert found.same == ("agent", "permissions", "settings", "hooks", "mcp", "instructions", "skills", "environment")


def test_the_section_that_changed_is_named_and_in_it_what(home: Home, tmp_path: Path, project: Path) -> None:
    with watched(home, "one", tmp_path, project):
        pass
    (project / ".mcp.json").write_text('{"mcpServers": {"docs": {"command": "npx"}}}')
    with watched(home, "two", tmp_path, project) as session:
        session.prompt("plan")
    found = compared(home, "one", "two")
    assert not found.is_same
    assert words(found) == {"permissions": "mode told by one alone", "mcp": "docs (project:.mcp.json) added"}


def test_a_session_is_meant_as_it_began_and_a_step_as_it_was_then(home: Home, tmp_path: Path, project: Path) -> None:
    with watched(home, "one", tmp_path, project) as session:
        (project / "CLAUDE.md").write_text("new")
        session.settle()
    with watched(home, "two", tmp_path, project):
        pass
    assert words(compared(home, "one", "two")) == {"instructions": "project:CLAUDE.md added"}
    assert compared(home, "one:2", "two").is_same
    change = compared(home, "one:2", "one").first
    with open_index(home) as index:
        row = index.graph.row("SELECT hash FROM steps WHERE session_id = ? AND n = 1", (change.session,))
    assert row is not None
    assert compared(home, str(row[0])[:12], "one").is_same, "a checkpoint is named by its hash"


def test_against_now_a_session_is_meant_as_it_ran_last(home: Home, tmp_path: Path, project: Path) -> None:
    with watched(home, "s", tmp_path, project) as session:
        session.prompt("default")
        (project / "CLAUDE.md").write_text("new")
        session.settle()
    assert since(home, "s", tmp_path).is_same, "its model and its mode are taken to be as they were"
    (project / "CLAUDE.md").write_text("newer")
    assert words(since(home, "s", tmp_path)) == {"instructions": "project:CLAUDE.md changed"}


def test_a_session_that_tells_nothing_ran_under_its_agent(samples: Home, tmp_path: Path) -> None:
    with open_index(samples) as index:
        (codex,) = index.graph.row("SELECT source_session FROM sessions WHERE agent_id = 'codex'") or ("",)
    found = compared(samples, "a42b3437", codex)
    assert words(found) == {"agent": "agent, model changed"}
    assert found.first.n is None
    seen = since(samples, "a42b3437", tmp_path)
    assert {each.not_seen for each in seen.differences} == {"first"}


def test_what_was_made_under_another_key_is_not_compared(home: Home, tmp_path: Path, project: Path) -> None:
    with watched(home, "one", tmp_path, project):
        pass
    home.configuration_key.unlink()
    with watched(home, "two", tmp_path, project):
        pass
    with pytest.raises(FormatError, match="different keys"):
        compared(home, "one", "two")


@pytest.mark.parametrize("name", ["nobody", "", "s:99", "ffffffff", "x y"])
def test_a_name_that_means_nothing_is_said_to(home: Home, tmp_path: Path, project: Path, name: str) -> None:
    with watched(home, "s", tmp_path, project):
        pass
    with pytest.raises(NotFoundError):
        compared(home, name, "s")


def test_by_a_disclosed_key_another_store_says_whether_its_inputs_are_those(
    home: Home, tmp_path: Path, project: Path
) -> None:
    (project / "CLAUDE.md").write_text("the same here and there")
    with watched(home, "s", tmp_path, project) as session:
        session.prompt("plan")
    keys = {section: bytes.fromhex(disclosed_key(home, section)) for section in ("instructions", "permissions")}
    home.configuration_key.unlink()  # as in a store that never had it

    def matched() -> dict[str, bool]:
        with open_index(home) as index:
            under = last_configuration(home, index, "s")
            found = match_now(index, under, keys, surroundings(tmp_path), root=tmp_path / "no-administrator")
        return {each.section: each.is_same for each in found}

    assert matched() == {"instructions": True, "permissions": True}
    (project / "CLAUDE.md").write_text("another")
    assert matched() == {"instructions": False, "permissions": True}
    keys["instructions"] = bytes(32)
    assert not matched()["instructions"]
