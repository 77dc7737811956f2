"""Rules that a person adds: what they stop, what they leave, where they are written, and what is refused."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from tallystick.errors import PolicyError, UsageError
from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.guard.own_rules import Wish, add_rule
from tallystick.guard.policies import Policies
from tallystick.guard.policy_quality import Machine
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Effect

RULES = tomllib.loads((Path(__file__).parent / "cases" / "path_rules.toml").read_text("utf-8"))["rule"]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A home folder with a project, in which are the files of all cases."""
    found = Machine(tmp_path_factory.mktemp("rules").resolve() / "machine")
    project = found.user / "project"
    texts = {name: "x\n" for rule in RULES for name in rule.get("files", ())}
    found.lay_out({name[2:] if name.startswith("~/") else f"project/{name}": text for name, text in texts.items()})
    for rule in RULES:
        for name, target in rule.get("links", {}).items():
            found.link(name, target, project)
    return found


class Ruled(NamedTuple):
    """A machine with one rule on it."""

    id: str
    decider: Decider
    project: Path

    def speaks(self, command: str) -> bool:
        """Whether the rule has something against a command."""
        call = Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=str(self.project))
        return self.id in self.decider.decide(call).rules


def ruled(machine: Machine, words: list[str]) -> Ruled:
    """The machine with one rule, the others taken away."""
    for path in (machine.home.folder / "policy").glob("*.cedar"):
        path.unlink()
    project = machine.user / "project"
    wish = Wish(effect=Effect(words[0]), action=words[1], glob=words[2])
    added = add_rule(machine.home, wish, folder=project, root=str(project), project=False)
    return Ruled(added.id, Decider(machine.home, AgentMachine(machine.user, environment={})), project)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: " ".join(rule["adds"]))
def test_a_rule_speaks_of_what_its_glob_means_and_of_nothing_else(machine: Machine, rule: dict[str, list[str]]) -> None:
    found = ruled(machine, rule["adds"])
    assert [command for command in rule["stops"] if not found.speaks(command)] == []
    assert [command for command in rule["leaves"] if found.speaks(command)] == []


@pytest.fixture
def project(home: Home, tmp_path: Path) -> Path:
    """A project beside an empty store."""
    (tmp_path / "project" / "infra").mkdir(parents=True)
    return tmp_path / "project"


def wish(effect: str, action: str, glob: str) -> Wish:
    return Wish(effect=Effect(effect), action=action, glob=glob)


def test_what_is_written_is_what_a_person_would_write(home: Home, project: Path) -> None:
    found = add_rule(home, wish("deny", "write", "infra/prod/**"), folder=project, root=str(project), project=False)
    assert found.policy == (
        '@id("mine.deny-write-infra-prod")\n@severity("high")\n@decision("deny")\n'
        '@reason("A rule of the user says: deny write infra/prod/**. This concerns {target}.")\n'
        'forbid (principal, action in [Action::"write", Action::"delete", Action::"move", Action::"metadata"],'
        ' resource is File)\nwhen { resource.meets.contains("infra/prod/**") };\n'
    )
    text = Path(found.file).read_text()
    assert text.startswith("// Rules that `tally policy add`")
    assert text.endswith(found.policy)
    add_rule(home, wish("ask", "run", "terraform"), folder=project, root=str(project), project=False)
    assert Path(found.file).read_text().count("forbid (") == 2


def test_a_rule_of_the_project_is_written_into_its_repository(home: Home, project: Path) -> None:
    found = add_rule(home, wish("deny", "delete", "data/"), folder=project, root=str(project), project=True)
    assert Path(found.file).parent == project / ".tally" / "policy"
    assert Policies(home).in_force(str(project)).digest != Policies(home).in_force(None).digest
    with pytest.raises(UsageError, match="cannot permit"):
        add_rule(home, wish("allow", "write", "data/"), folder=project, root=str(project), project=True)
    with pytest.raises(UsageError, match="not in a git repository"):
        add_rule(home, wish("deny", "write", "data/"), folder=project, root=None, project=True)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("./*.tf", "infra/*.tf"),
        ("../src/**", "src/**"),
        ("../setup.py", "{root}/setup.py"),
        ("../../other/x", "{beside}/other/x"),
        ("infra/prod", "infra/prod"),
        ("~/notes/", "~/notes/"),
    ],
)
def test_what_begins_with_a_dot_is_relative_to_where_one_is(home: Home, project: Path, given: str, meant: str) -> None:
    found = add_rule(home, wish("deny", "write", given), folder=project / "infra", root=str(project), project=False)
    assert found.glob == meant.format(root=project, beside=project.parent)


def test_what_a_rule_does_not_do_is_said(home: Home, project: Path) -> None:
    def remarks(glob: str, folder: Path) -> tuple[str, ...]:
        return add_rule(home, wish("warn", "write", glob), folder=folder, root=str(project), project=False).remarks

    assert remarks("infra/**", project) == ()
    assert "removed as a whole" in remarks("*.pem", project)[0]
    assert "relative to the top of the project" in remarks("prod/**", project / "infra")[0]


@pytest.mark.parametrize("glob", ["", "/", "a/../b", "~bob/x", "a//b"])
def test_a_glob_that_names_nothing_is_refused(home: Home, project: Path, glob: str) -> None:
    with pytest.raises(UsageError, match="never matches"):
        add_rule(home, wish("deny", "write", glob), folder=project, root=str(project), project=False)


def test_a_rule_that_could_not_be_used_is_not_written(home: Home, project: Path) -> None:
    first = wish("deny", "connect", "prod.example.org")
    found = add_rule(home, first, folder=project, root=str(project), project=False)
    before = Path(found.file).read_text()
    with pytest.raises(PolicyError, match="is that of"):
        add_rule(home, first, folder=project, root=str(project), project=False)
    with pytest.raises(PolicyError, match=r"it can never match.*without scheme"):
        add_rule(home, wish("deny", "connect", "https://example.org/x"), folder=project, root=None, project=False)
    assert Path(found.file).read_text() == before


def test_what_is_allowed_lifts_the_shipped_rules_and_not_ones_own(machine: Machine) -> None:
    found = ruled(machine, ["allow", "write", "~/notes/**"])
    notes, rest = "echo x > ~/notes/a.md", "echo x > ~/other.md"

    def effect(command: str) -> Effect:
        call = Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=str(found.project))
        return Decider(machine.home, AgentMachine(machine.user, environment={})).decide(call).effect

    assert (effect(notes), effect(rest)) == (Effect.ALLOW, Effect.ASK)
    assert effect("echo x > ~/notes/../.tally/config.toml") is Effect.DENY
    add_rule(machine.home, wish("deny", "write", "~/notes/a.md"), folder=found.project, root=None, project=False)
    assert effect(notes) is Effect.DENY
