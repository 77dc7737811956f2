"""`tally drift`, and what `tally session show` says of a configuration."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallystick.cli.ask import drift
from tallystick.journal.home import Home
from tests.cli.conftest import DISCOUNT, Tally, TallyJson
from tests.support.under_sessions import watched


@pytest.fixture(autouse=True)
def own_machine(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No administrator's settings and no variables of the machine that runs the tests."""
    monkeypatch.setattr(drift, "ROOT", user / "no-administrator")
    for name in ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def project(user: Path) -> Path:
    """The project of two sessions, of which the first saw its instructions change."""
    project = user / "project"
    (project / ".git").mkdir(parents=True)
    home = Home(user / ".tally")
    with watched(home, "session-one", user, project) as session:
        (project / "CLAUDE.md").write_text("be brief")
        session.settle()
    with watched(home, "session-two", user, project) as session:
        session.prompt("plan")
    return project


@pytest.mark.usefixtures("project")
def test_what_differs_is_said_section_by_section(tally: Tally) -> None:
    result = tally("drift", "session-one", "session-two", "--no-color")
    assert result.exit_code == 0, result.output
    first, second, *rest = result.stdout.splitlines()
    assert first.split()[1] == second.split()[1] == "claude-code"
    assert first.split()[-1] != second.split()[-1]
    assert rest == [
        "  permissions   mode told by one alone",
        "  instructions  project:CLAUDE.md added",
        "  the same: agent, settings, hooks, mcp, skills, environment",
    ]


@pytest.mark.usefixtures("project")
def test_the_same_is_said_to_be_the_same(tally: Tally) -> None:
    result = tally("drift", "session-one", "session-one", "--exit-code", "--no-color")
    assert result.exit_code == 0
    assert "the same configuration" in result.stdout


@pytest.mark.usefixtures("full")
def test_of_an_imported_session_little_is_said(tally: Tally) -> None:
    said = tally("drift", DISCOUNT, DISCOUNT, "--no-color").stdout
    assert said.splitlines()[2] == "the same agent; nothing else is recorded"
    rest = tally("drift", DISCOUNT, "--no-color").stdout.splitlines()[2:]
    assert "  instructions  not looked at in the first" in rest


def test_a_script_can_ask_by_the_exit_code(tally: Tally, project: Path) -> None:
    assert tally("drift", "session-two", "--exit-code").exit_code == 0
    (project / "CLAUDE.md").write_text("be very brief")
    result = tally("drift", "session-two", "--exit-code", "--no-color")
    assert result.exit_code == 2
    assert "  instructions  project:CLAUDE.md changed" in result.stdout.splitlines()
    assert tally("drift", "session-two").exit_code == 0


def test_a_file_that_cannot_be_read_is_named(tally: Tally, project: Path) -> None:
    (project / "CLAUDE.md").unlink()
    os.mkfifo(project / "CLAUDE.md")
    result = tally("drift", "session-two", "--no-color")
    assert "  could not be read: project:CLAUDE.md" in result.stdout.splitlines()


def test_another_folder_can_be_compared(tally: Tally, project: Path, user: Path) -> None:
    other = user / "other"
    (other / ".git").mkdir(parents=True)
    (other / "CLAUDE.md").write_text("be brief")
    assert tally("drift", "session-two", "--folder", other, "--exit-code").exit_code == 0
    assert project.exists()


@pytest.mark.usefixtures("project")
def test_inputs_are_listed_without_values(tally: Tally) -> None:
    result = tally("drift", "session-two", "session-two", "--inputs", "--no-color")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["SECTION", "BYTES", "INPUT"] in lines
    assert ["instructions", "8", "project:CLAUDE.md"] in lines
    assert "be brief" not in result.stdout


@pytest.mark.usefixtures("project")
def test_the_answer_is_there_for_programs_too(tally_json: TallyJson) -> None:
    found = tally_json("drift", "session-one", "session-two")
    assert found["is_same"] is False
    assert {each["section"]: each["added"] for each in found["differences"]} == {
        "permissions": [],
        "instructions": ["project:CLAUDE.md"],
    }
    known = found["second"]["configuration"]
    assert known["inputs"]["instructions"][0]["size"] == 8
    assert len(known["fingerprint"]) == 64
    assert tally_json("drift", "session-two")["now"]["fingerprint"] == known["fingerprint"]


def test_a_key_of_one_section_is_disclosed_and_used_elsewhere(tally: Tally, project: Path, user: Path) -> None:
    shown = tally("drift", "--disclose", "instructions")
    assert shown.exit_code == 0
    assert "The key opens no other section." in shown.stderr
    key = shown.stdout.strip()
    (user / ".tally" / "keys" / "configuration.key").unlink()
    result = tally("drift", "session-two", "--key", key, "--exit-code", "--no-color")
    assert (result.exit_code, result.stdout.splitlines()[1]) == (0, "  instructions  the same")
    (project / "CLAUDE.md").write_text("another")
    assert tally("drift", "session-two", "--key", key, "--exit-code").exit_code == 2


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 64),
        (("nobody",), 1),
        (("session-one", "nobody"), 1),
        (("session-one", "--key", "hooks=xx"), 64),
        (("session-one", "--key", "agent=" + "00" * 32), 64),
        (("--disclose", "everything"), 64),
        (("session-one", "--folder", "/none"), 64),
    ],
)
def test_what_cannot_be_asked_is_a_clear_error(tally: Tally, words: tuple[str, ...], code: int) -> None:
    result = tally("drift", *words)
    assert result.exit_code == code
    assert result.stderr.startswith("tally: ")


@pytest.mark.usefixtures("project")
def test_a_session_shows_what_it_ran_under(tally: Tally, tally_json: TallyJson) -> None:
    lines = tally("session", "show", "session-one", "--no-color").stdout.splitlines()
    assert [line.split(maxsplit=2)[2][12:] for line in lines if line.startswith("  ran under")] == [
        " (agent 2, permissions 0, settings 0, hooks 0, mcp 0, instructions 0, skills 0, environment 1)"
    ]
    assert [line.split()[1:] for line in lines if line.startswith("    ") and "instructions:" in line] == [
        ["instructions:", "project:CLAUDE.md", "added"]
    ]
    under = tally_json("session", "show", "session-one")["under"]
    assert [change["sections"] for change in under["changes"]] == [["instructions"]]


def test_hostile_names_cannot_reach_the_terminal(tally: Tally, user: Path) -> None:
    project = user / "project"
    rules = project / ".claude" / "rules"
    rules.mkdir(parents=True)
    home = Home(user / ".tally")
    with watched(home, "bad", user, project) as session:
        (rules / "\x1b]0;forged\x07\n.md").write_text("x")
        session.settle()
    for words in (("drift", "bad", "bad:2", "--inputs"), ("session", "show", "bad"), ("log",)):
        result = tally(*words, "--no-color")
        assert result.exit_code == 0, result.output
        assert "\x1b" not in result.stdout
        assert "\x07" not in result.stdout


@pytest.mark.parametrize("key", ["session_isolation", "agents.operator.session_isolation"])
def test_isolation_is_set_in_definitions_and_not_here(tally: Tally, key: str) -> None:
    result = tally("config", "set", key, "true")
    assert result.exit_code == 64
    assert "AGENT.md" in result.stderr
