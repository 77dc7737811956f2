"""The inputs of an agent's sessions, gathered from real files."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.hooks import HookCommand, hook_adapter
from tallystick.agents.settings.inputs import reads
from tallystick.capture.surroundings import Surroundings
from tallystick.recording.run_config.gathered import Gathered, gather, plain
from tallystick.sessions.configuration import Configuration, configuration, differences, in_words
from tallystick.workspace.file_stat_key import stamp_of

KEY = bytes(range(32))


class Machine:
    """A user's home folder, a project, and the administrator's files."""

    def __init__(self, folder: Path) -> None:
        self.user, self.project, self.root = folder / "home", folder / "project", folder / "root"
        self.environment: dict[str, str] = {}
        (self.project / ".git").mkdir(parents=True)
        self.user.mkdir()

    def write(self, path: Path | str, content: str | bytes | dict[str, Any]) -> Path:
        """A file; without a folder below the project."""
        target = self.project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(content) if isinstance(content, dict) else content
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def gather(self, agent: str = "claude-code", folder: Path | None = None) -> Gathered:
        where = Surroundings(user=self.user, environment=self.environment, project=folder or self.project)
        return gather(agent, where, root=self.root)

    def under(self, agent: str = "claude-code", folder: Path | None = None) -> Configuration:
        return configuration(KEY, self.gather(agent, folder).under(KEY))

    def changed(self, before: Configuration, agent: str = "claude-code") -> dict[str, str]:
        """What differs now."""
        return {each.section: in_words(each) for each in differences(before, self.under(agent))}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


SETTINGS = {
    "permissions": {"allow": ["Read"], "deny": []},
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "/opt/guard.sh"}]}]},
    "model": "opus",
    "env": {"A": "1", "B": "2"},
}


def test_each_section_has_what_belongs_to_it(machine: Machine) -> None:
    machine.write(machine.user / ".claude/settings.json", SETTINGS)
    machine.write(machine.user / ".claude/skills/tidy/SKILL.md", "tidy up")
    machine.write(machine.root / "etc/claude-code/managed-settings.json", {"cleanupPeriodDays": 3})
    machine.write(".mcp.json", {"mcpServers": {"docs": {"command": "npx"}}})
    machine.write("CLAUDE.md", "be brief")
    found = machine.under()
    assert {section: [item.name for item in items] for section, items in found.inputs.items()} == {
        "permissions": ["user:.claude/settings.json"],
        "settings": ["managed:etc/claude-code/managed-settings.json", "user:.claude/settings.json"],
        "hooks": ["user:.claude/settings.json"],
        "mcp": ["docs (project:.mcp.json)"],
        "instructions": ["project:CLAUDE.md"],
        "skills": ["user:.claude/skills/tidy/SKILL.md"],
    }
    assert [(hook.name, hook.phase, hook.enabled) for hook in found.registry] == [("guard.sh", "pre", True)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "haiku"}, {"settings": "user:.claude/settings.json changed"}),
        ({"permissions": {"allow": ["*"]}}, {"permissions": "user:.claude/settings.json changed"}),
        ({"hooks": {}}, {"hooks": "user:.claude/settings.json changed; hook guard.sh (pre) removed"}),
        ({"mcpServers": {"x": {}}}, {"mcp": "x (user:.claude/settings.json) added"}),
        ({"disableAllHooks": True}, {"settings": "user:.claude/settings.json changed"}),
    ],
)
def test_a_change_is_named_by_its_section(machine: Machine, change: dict[str, Any], said: dict[str, str]) -> None:
    machine.write(machine.user / ".claude/settings.json", SETTINGS)
    before = machine.under()
    machine.write(machine.user / ".claude/settings.json", {**SETTINGS, **change})
    assert machine.changed(before) == said


def test_how_json_is_spelled_does_not_count(machine: Machine) -> None:
    path = machine.write(machine.user / ".claude/settings.json", SETTINGS)
    before = machine.under()
    path.write_text(json.dumps(dict(reversed(SETTINGS.items())), indent=4) + "\n")
    assert machine.under().fingerprint == before.fingerprint


def test_how_toml_is_spelled_does_not_count(machine: Machine) -> None:
    path = machine.write(
        machine.user / ".codex/config.toml", 'model = "gpt"\n[sandbox]\nmode = "on"\n[mcp_servers.a]\ncommand="x"\n'
    )
    before = machine.under("codex")
    path.write_text("# mine\nmodel='gpt'\nmcp_servers.a = { command = 'x' }\n\n[sandbox]\nmode   = 'on'\n")
    assert machine.under("codex").fingerprint == before.fingerprint


def test_comments_that_the_agent_reads_over_do_not_count(machine: Machine) -> None:
    path = machine.write("opencode.json", '{"model": "x"}')
    before = machine.under("opencode")
    path.write_text('{\n  // the best\n  "model": "x",\n}\n')
    assert machine.under("opencode").fingerprint == before.fingerprint


def test_each_letter_of_an_instruction_counts(machine: Machine) -> None:
    path = machine.write("AGENTS.md", "be brief")
    before = machine.under("codex")
    path.write_text("be brief ")
    assert machine.changed(before, "codex") == {"instructions": "project:AGENTS.md changed"}


def test_a_file_that_is_no_settings_counts_by_its_bytes(machine: Machine) -> None:
    path = machine.write(machine.user / ".claude/settings.json", '{"model": ')
    before = machine.under()
    path.write_text('{"model": 1')
    assert machine.changed(before) == {"settings": "user:.claude/settings.json changed"}


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_told_as_that(machine: Machine) -> None:
    path = machine.write("CLAUDE.md", "x")
    before = machine.under()
    path.chmod(0)
    found = machine.under()
    assert [item.problem for item in found.inputs["instructions"]] == ["Permission denied"]
    assert differences(before, found)[0].unreadable == ("project:CLAUDE.md",)


def test_what_is_no_file_or_too_large_is_told_as_that(machine: Machine) -> None:
    os.mkfifo(machine.project / "CLAUDE.md")
    machine.write("CLAUDE.local.md", b"x" * ((1 << 20) + 1))
    found = machine.under().inputs["instructions"]
    assert {item.name: item.problem for item in found} == {
        "project:CLAUDE.md": "no regular file",
        "project:CLAUDE.local.md": "larger than 1024 KiB",
    }


def test_the_same_inputs_elsewhere_make_the_same_fingerprint(tmp_path: Path) -> None:
    prints = set()
    for name in ("a", "b"):
        machine = Machine(tmp_path / name)
        machine.write("CLAUDE.md", "x")
        machine.write(machine.user / ".claude.json", {"projects": {str(machine.project): {"allowedTools": ["Bash"]}}})
        prints.add(machine.under().fingerprint)
    assert len(prints) == 1


def test_what_an_agent_notes_for_itself_changes_nothing(machine: Machine) -> None:
    machine.write(machine.user / ".claude.json", {"numStartups": 1, "mcpServers": {"a": {}}})
    before = machine.under()
    machine.write(machine.user / ".claude.json", {"numStartups": 2, "mcpServers": {"a": {}}, "tips": [1]})
    assert machine.changed(before) == {}


def test_memories_of_this_project_count_and_of_others_do_not(machine: Machine) -> None:
    slug = str(machine.project).replace("/", "-").replace("_", "-").replace(".", "-")
    machine.write(machine.user / f".claude/projects/{slug}/memory/MEMORY.md", "here")
    machine.write(machine.user / ".claude/projects/-elsewhere/memory/MEMORY.md", "there")
    assert [item.name for item in machine.under().inputs["instructions"]] == ["memory:MEMORY.md"]


def test_a_folder_below_the_project_has_the_files_of_both(machine: Machine) -> None:
    machine.write("AGENTS.md", "whole")
    machine.write("src/deep/AGENTS.md", "part")
    deep = machine.under("codex", machine.project / "src/deep")
    assert [item.name for item in deep.inputs["instructions"]] == ["project/src/deep:AGENTS.md", "project:AGENTS.md"]
    assert [item.name for item in machine.under("codex").inputs["instructions"]] == ["project:AGENTS.md"]


def test_a_variable_names_another_folder(machine: Machine) -> None:
    machine.write(machine.user / ".codex/config.toml", "model='a'")
    before = machine.under("codex")
    machine.write(machine.user / "other/config.toml", "model='b'")
    machine.environment["CODEX_HOME"] = str(machine.user / "other")
    assert machine.changed(before, "codex") == {"settings": "user:.codex/config.toml changed"}


def test_a_folder_that_is_a_link_is_read_as_the_agent_reads_it(machine: Machine, tmp_path: Path) -> None:
    machine.write(tmp_path / "dotfiles/claude/settings.json", {"model": "x"})
    (machine.user / ".claude").symlink_to(tmp_path / "dotfiles/claude")
    assert [item.problem for item in machine.under().inputs["settings"]] == [None]


def test_hooks_that_are_code_are_in_the_registry(machine: Machine) -> None:
    machine.write(".clinerules/hooks/PreToolUse", "#!/bin/sh\n")
    machine.write(machine.user / ".pi/agent/extensions/guard.ts", "export default 1")
    assert [hook.name for hook in machine.under("cline").registry] == ["PreToolUse"]
    assert [hook.name for hook in machine.under("pi").registry] == ["guard.ts"]


def test_a_switch_that_turns_all_hooks_off_turns_them_off_in_the_registry(machine: Machine) -> None:
    machine.write(machine.user / ".claude/settings.json", SETTINGS)
    machine.write(".claude/settings.json", {"disableAllHooks": True})
    assert [hook.enabled for hook in machine.under().registry] == [False]


@pytest.mark.parametrize(
    "agent", ["claude-code", "codex", "gemini", "qwen", "copilot", "cursor", "pi", "opencode", "cline"]
)
def test_our_own_hook_counts_like_others(machine: Machine, agent: str) -> None:
    before = machine.under(agent)
    adapter = hook_adapter(agent)
    assert adapter is not None
    hook = HookCommand(python="/usr/bin/python3", hook="/opt/tallystick/hook.py")
    for file in adapter.settings(project=False):
        machine.write(machine.user / file.path, adapter.configure(file, b"", hook))
    assert "hooks" in machine.changed(before, agent)


@pytest.mark.parametrize("agent", ["gptme", "hermes", "pi"])
def test_agents_that_nobody_audits_are_gathered_too(machine: Machine, agent: str) -> None:
    known = reads(agent)
    assert known is not None
    before = machine.under(agent)
    machine.write("AGENTS.md", "x")
    assert machine.changed(before, agent) == {"instructions": "project:AGENTS.md added"}


def test_of_an_agent_that_nobody_knows_nothing_is_gathered(machine: Machine) -> None:
    assert machine.gather("nobody") == Gathered()


def test_hostile_names_are_told_as_text(machine: Machine) -> None:
    folder = machine.project / ".claude/rules"
    folder.mkdir(parents=True)
    (folder / os.fsdecode(b"\xff\x1b]0;x\x07.md")).write_text("x")
    names = [item.name for item in machine.under().inputs["instructions"]]
    assert names == ["project:.claude/rules/\\xff\x1b]0;x\x07.md"]


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"\xff\xfe",
        b'{"hooks": ' + b"[" * 900 + b"]" * 900 + b"}",
        b"\0" * 100,
        b'"\\ud800"',
    ],
    ids=["lists", "objects", "no text", "deep hooks", "nothing", "half a character"],
)
@pytest.mark.parametrize("name", [".claude/settings.json", ".codex/config.toml"])
def test_no_bytes_are_a_fault(machine: Machine, name: str, content: bytes) -> None:
    agent = "claude-code" if "claude" in name else "codex"
    before = machine.under(agent)
    machine.write(machine.user / name, content)
    assert machine.changed(before, agent) != {}


def test_many_files_are_bounded_and_said_to_be(machine: Machine) -> None:
    for number in range(510):
        machine.write(f".claude/rules/{number}.md", "x")
    found = machine.gather()
    assert [each.problem for each in found.given if each.problem] == ["too many files"]


# What shows that something changed ------------------------------------------------------------------------------------


def test_the_stamp_is_the_same_while_nothing_changes(machine: Machine) -> None:
    machine.write("CLAUDE.md", "x")
    found = machine.gather()
    assert stamp_of(found.looked_at) == found.stamp


@pytest.mark.parametrize(
    "path",
    ["CLAUDE.md", "CLAUDE.local.md", ".claude/settings.json", ".claude/rules/new.md", ".claude/rules/deep/new.md"],
)
def test_a_file_that_is_new_or_another_changes_the_stamp(machine: Machine, path: str) -> None:
    machine.write("CLAUDE.md", "x")
    machine.write(".claude/rules/deep/old.md", "x")
    found = machine.gather()
    machine.write(path, "longer than before")
    assert stamp_of(found.looked_at) != found.stamp


# Small laws -----------------------------------------------------------------------------------------------------------


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda each: st.lists(each) | st.dictionaries(st.text(), each),
    )
)
def test_a_value_has_one_spelling(value: Any) -> None:
    again = json.loads(plain(value))
    assert plain(again) == plain(value)


def names(machine: Machine, agent: str = "claude-code") -> list[str]:
    return [given.name for given in machine.gather(agent).given]


def test_files_that_instructions_take_in_count_as_well(machine: Machine) -> None:
    machine.write(machine.user / ".claude/CLAUDE.md", "@~/notes.md")
    machine.write(machine.user / "notes.md", "see @more.md")
    machine.write(machine.user / "more.md", "and @notes.md again")
    machine.write("CLAUDE.md", "read @docs/a.md, not `@docs/b.md` nor @docs/none.md")
    machine.write("docs/a.md", "a")
    machine.write("docs/b.md", "b")
    assert names(machine) == [
        "user:.claude/CLAUDE.md",
        "user:.claude/CLAUDE.md @~/notes.md",
        "user:.claude/CLAUDE.md @~/notes.md @more.md",
        "project:CLAUDE.md",
        "project:CLAUDE.md @docs/a.md",
    ]


def test_a_change_of_a_file_that_is_taken_in_is_a_change(machine: Machine) -> None:
    machine.write("CLAUDE.md", "@docs/a.md")
    path = machine.write("docs/a.md", "a")
    before = machine.under()
    path.write_text("b")
    assert machine.changed(before) == {"instructions": "project:CLAUDE.md @docs/a.md changed"}


def test_files_are_taken_in_five_deep_and_by_agents_that_do_so(machine: Machine) -> None:
    machine.write("CLAUDE.md", "@0.md")
    machine.write("AGENTS.md", "@0.md")
    for n in range(9):
        machine.write(f"{n}.md", f"@{n + 1}.md")
    assert len(names(machine)) == 6
    assert names(machine, "codex") == ["project:AGENTS.md"]


def test_no_more_than_some_files_are_taken_in(machine: Machine) -> None:
    for a in range(9):
        machine.write(f".claude/rules/{a}.md", " ".join(f"@{b}.md" for b in range(19)))
        for b in range(19):
            machine.write(f".claude/rules/x/{a}{b}", "x")
            machine.write(f".claude/rules/{b}.md", " ".join(f"@{c}.md" for c in range(19)))
    assert len(names(machine)) < 100
