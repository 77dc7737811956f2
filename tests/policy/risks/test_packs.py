"""Packs of rules that projects switch on: off by default, and what each speaks of."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest

from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.guard.policies import load_set, packs
from tallystick.guard.policy_quality import Machine
from tallystick.model.decision import Call, Decision, Effect
from tallystick.policy.risks.packs import risks
from tallystick.policy.settings import Profile, Settings
from tallystick.workspace.settings import PACKS
from tests.policy.risks.readings import found

CASES = tomllib.loads((Path(__file__).parent / "packs.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    found = Machine(tmp_path_factory.mktemp("packs").resolve() / "machine")
    found.lay_out({"project/notes.txt": "x\n", "project/manage.py": "\n", "project/.gitignore": ".env\n"})
    return found


def decided(machine: Machine, decider: Decider, command: str) -> Decision:
    folder = str(machine.user / "project")
    return decider.decide(Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=folder))


def decider(machine: Machine, *names: str) -> Decider:
    return Decider(machine.home, AgentMachine(machine.user, environment={}), settings=Settings(packs=names))


def ids(*names: str) -> set[str]:
    return {rule.id for rule in load_set(Profile.STANDARD, packs(names)).rules}


@pytest.mark.parametrize("pack", CASES)
def test_a_pack_speaks_of_what_it_is_for_and_of_nothing_else(machine: Machine, pack: str) -> None:
    with_pack, without = decider(machine, pack), decider(machine)
    own = ids(pack) - ids()

    def is_stopped(command: str) -> bool:
        return decided(machine, with_pack, command).effect in (Effect.ASK, Effect.DENY)

    assert [command for command in CASES[pack]["stops"] if not is_stopped(command)] == []
    spoken = [command for command in CASES[pack]["leaves"] if own & set(decided(machine, with_pack, command).rules)]
    assert spoken == []
    first = CASES[pack]["stops"][0]
    assert own & set(decided(machine, with_pack, first).rules)
    assert not own & set(decided(machine, without, first).rules), "off by default"


def test_each_pack_is_a_file_a_setting_and_a_part_of_the_cases() -> None:
    files = resources.files("tallystick.policy") / "shipped" / "packs"
    assert {path.name for path in files.iterdir()} == {f"{name}.cedar" for name in PACKS}
    assert set(CASES) == set(PACKS)


def test_hooks_are_skipped_only_where_git_runs_them() -> None:
    assert found(risks, "HUSKY=0 git commit -m x") == {"skips-hooks"}
    assert found(risks, "HUSKY=0 npm ci") == set()
    assert found(risks, "git commit -mfixing") == set()
    assert found(risks, "git -C sub commit -n") == {"skips-hooks"}
