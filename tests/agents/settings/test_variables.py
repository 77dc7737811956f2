"""Variables that change what agents do."""

import json
from pathlib import Path

import pytest

from tallystick.agents.settings import settings_adapters
from tallystick.agents.settings.inputs import reads
from tallystick.agents.settings.variables import LOCATIONS, switches
from tests.support.cases import each


def test_variables_that_change_what_agents_do_are_known_by_their_names() -> None:
    environment = {
        "ANTHROPIC_BASE_URL": "x",
        "CODEX_HOME": "x",
        "HTTPS_PROXY": "x",
        "HOME": "/x",
        "PATH": "/x",
        "CLAUDE_PROJECT_DIR": "/x",
        "CLAUDE_ENV_FILE": "/x",
        "CLAUDECODE": "1",
        "MY_SECRET": "x",
    }
    assert switches(environment) == ("ANTHROPIC_BASE_URL", "CODEX_HOME", "HTTPS_PROXY")


def test_variables_are_bounded() -> None:
    assert len(switches({f"CODEX_{number}": "" for number in range(500)})) == 128


def test_all_that_name_folders_of_agents_are_known() -> None:
    agents = (*settings_adapters(), "gptme", "hermes", "pi")
    places = [place for agent in agents if (known := reads(agent)) is not None for place in known.places]
    assert {place.variable for place in places if place.variable is not None} == set(LOCATIONS)


HOOKS = Path(__file__).parents[4] / "shared" / "data" / "hooks"


@pytest.mark.skipif(not HOOKS.is_dir(), reason="the recorded runs of real agents are not here")
@each("agent", ["claude", "cline", "copilot", "gemini", "qwen"])
def test_all_hooks_of_a_real_run_have_the_same_variables(agent: str) -> None:
    of_run: dict[str, set[tuple[str, ...]]] = {}
    for line in (HOOKS / f"{agent}_hooks.jsonl").read_text("utf-8").splitlines():
        told = json.loads(line)
        if told.get("env"):  # kept of some deliveries alone
            of_run.setdefault(f"{told['version']} {told['case']}", set()).add(switches(told["env"]))
    assert {run: names for run, names in of_run.items() if len(names) > 1} == {}
    assert any(names != {()} for names in of_run.values())
