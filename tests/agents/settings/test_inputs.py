"""Which of an agent's files, and what of them, is the configuration of a session."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.hooks import NAMES as HOOKED
from tallystick.agents.settings import settings_adapters
from tallystick.agents.settings.hooks import handlers
from tallystick.agents.settings.inputs import LOCATIONS, parts, reads, slug, switches
from tallystick.catalog.agents import AGENTS, Place
from tallystick.model.step import Json
from tests.support.cases import each

HERE = "/w/project"


def place(agent: str, path: str) -> Place:
    found = reads(agent)
    assert found is not None
    return next(each for each in found.places if each.path == path)


def parted(agent: str, path: str, value: Json, *folders: str) -> tuple[Json, Json, Json, Json]:
    known = reads(agent)
    assert known is not None
    found = parts(known, place(agent, path), value, folders or (HERE,))
    return found.hooks, dict(found.servers), found.permissions, found.rest


def test_every_agent_that_calls_our_hook_has_files_that_count() -> None:
    assert [name for name in HOOKED if reads(name.replace("_", "-")) is None] == []


@pytest.mark.parametrize("agent", sorted(settings_adapters()))
def test_all_places_of_an_audit_count_but_the_notes_on_other_projects(agent: str) -> None:
    known = reads(agent)
    assert known is not None
    left_out = {each.path for each in AGENTS[agent].files} - {each.path for each in known.places}
    assert left_out == ({".claude/projects"} if agent == "claude-code" else set())


def test_of_an_agent_that_nobody_knows_nothing_counts() -> None:
    assert reads("nobody") is None


def test_a_settings_file_is_parted() -> None:
    settings = {
        "hooks": {"Stop": []},
        "permissions": {"allow": ["Read"]},
        "mcpServers": {"docs": {"command": "npx"}},
        "model": "opus",
    }
    assert parted("claude-code", ".claude/settings.json", settings) == (
        {"Stop": []},
        {"docs": {"command": "npx"}},
        {"permissions": {"allow": ["Read"]}},
        {"model": "opus"},
    )


def test_what_an_agent_notes_for_itself_does_not_count() -> None:
    before = {
        "numStartups": 1,
        "mcpServers": {"docs": {}},
        "projects": {HERE: {"history": [1], "allowedTools": ["Bash"]}},
    }
    after = {
        "numStartups": 2,
        "mcpServers": {"docs": {}},
        "projects": {HERE: {"history": [], "allowedTools": ["Bash"]}},
    }
    assert parted("claude-code", ".claude.json", before) == parted("claude-code", ".claude.json", after)
    assert parted("claude-code", ".claude.json", before) == (
        None,
        {"docs": {}},
        {"projects.*.allowedTools": ["Bash"]},
        None,
    )


@pytest.mark.parametrize(
    ("agent", "path"), [("claude-code", ".claude.json"), ("codex", ".codex/config.toml")], ids=["claude", "codex"]
)
def test_settings_for_other_folders_do_not_count(agent: str, path: str) -> None:
    here = {"trust_level": "trusted", "hasTrustDialogAccepted": True}
    alone = {"projects": {HERE: here}}
    among = {"projects": {"/elsewhere": {"trust_level": "untrusted", "allowedTools": ["*"]}, HERE: here}}
    assert parted(agent, path, alone) == parted(agent, path, among)
    assert parted(agent, path, alone) != parted(agent, path, {})


def test_a_folder_below_a_project_has_the_settings_of_the_nearest() -> None:
    value = {"projects": {HERE: {"trust_level": "trusted"}, "/w": {"trust_level": "untrusted"}}}
    deep = parted("codex", ".codex/config.toml", value, f"{HERE}/src", HERE, "/w")
    assert deep == parted("codex", ".codex/config.toml", value, HERE)


def test_servers_of_one_project_are_servers() -> None:
    value = {"projects": {HERE: {"mcpServers": {"local": {"command": "x"}}}}}
    assert parted("claude-code", ".claude.json", value)[1] == {"local": {"command": "x"}}


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_what_is_no_object_counts_as_it_is(value: Json) -> None:
    assert parted("gemini", ".gemini/settings.json", value) == (None, {}, None, value)


@pytest.mark.parametrize("odd", [[], "x", None, 3])
def test_members_of_another_kind_are_no_fault(odd: Json) -> None:
    value = {"mcpServers": odd, "projects": odd, "hooks": odd, "tools": odd, "general": odd}
    hooks, servers, permissions, rest = parted("gemini", ".gemini/settings.json", value)
    assert hooks == odd
    assert servers == ({} if odd is None else {"": odd})
    assert permissions == (None if odd is None else {"tools": odd})
    assert rest is not None


def test_a_member_below_another_is_taken_out_alone() -> None:
    value = {"general": {"defaultApprovalMode": "auto_edit", "vimMode": True}}
    assert parted("gemini", ".gemini/settings.json", value)[2:] == (
        {"general.defaultApprovalMode": "auto_edit"},
        {"general": {"vimMode": True}},
    )


def test_a_project_has_a_folder_of_notes_by_its_path() -> None:
    assert slug("/home/dev/my_project.x") == "-home-dev-my-project-x"


WORDS = st.sampled_from(
    [
        HERE,
        "hooks",
        "projects",
        "mcpServers",
        "permissions",
        "tools",
        "general",
        "defaultApprovalMode",
        "PreToolUse",
        "x",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
)


@given(VALUES, st.sampled_from([("claude-code", ".claude.json"), ("gemini", ".gemini/settings.json")]))
def test_no_settings_are_a_fault_and_none_are_changed(value: Json, where: tuple[str, str]) -> None:
    before = copy.deepcopy(value)
    hooks, *_ = parted(*where, value)
    handlers(hooks)
    assert value == before


@given(st.dictionaries(WORDS, VALUES, max_size=6))
def test_each_member_of_a_settings_file_is_in_one_part(value: dict[str, Json]) -> None:
    hooks, _, permissions, rest = parted("gemini", ".gemini/settings.json", value)
    said = {"hooks": hooks, **(permissions or {}), **(rest or {})}
    for name, item in value.items():
        if name not in ("projects", "general", "mcpServers") and item is not None:
            assert said[name] == item


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
