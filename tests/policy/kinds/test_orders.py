"""Which files agents read as orders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.kinds.named import Named
from tallystick.policy.kinds.orders import is_orders, kinds
from tallystick.policy.settings import Settings

ORDERS = (
    "CLAUDE.md", "docs/AGENTS.md", "GEMINI.md", "QWEN.md", "claude.md", "CLAUDE.local.md", "AGENTS.override.md",
    "MEMORY.md", "SOUL.md",
    ".cursorrules", ".windsurfrules", ".clinerules", ".clinerules/style.md", ".cursor/rules/style.mdc",
    ".github/copilot-instructions.md",
    ".github/instructions/x.instructions.md", ".github/prompts/x.prompt.md", ".github/agents/x.md",
    ".claude/skills/x/SKILL.md",
    ".claude/skills/x/reference.md", ".claude/commands/ship.md", ".claude/agents/x.md", ".claude/rules/x.md",
    ".agents/skills/x/SKILL.md",
    ".gemini/commands/x.toml", ".opencode/command/x.md", ".windsurf/rules/x.md", ".roo/rules/x.md", ".kiro/steering/x.md",
    "/home/dev/.claude/CLAUDE.md", "/home/dev/.codex/AGENTS.md", "/home/dev/.config/opencode/agent/x.md",
    "/home/dev/.claude/projects/x/memory/notes.md", "/memories/notes.md", "C:\\work\\CLAUDE.md", "skills/pdf/SKILL.md",
)  # fmt: skip
OTHERS = (
    "README.md", "notes.md", "docs/prompt-injection.md", "src/agents/reviewer.py", "agents/base.md", "rules/lint.md",
    "skills.md",
    "src/memory/pool.rs", "memory.py", "claude.py", ".claude/settings.json", ".claude/worktrees/x/README.md",
    ".github/workflows/ci.yml",
    ".github/ISSUE_TEMPLATE.md", "commands/x.md", "tests/test_claude_md.py", ".cursor/settings.json",
    "docs/skills/x.md", "prompts/x.txt",
    ".claude/skills/x/run.py",
)  # fmt: skip


@pytest.mark.parametrize("path", ORDERS)
def test_what_agents_obey_is_known_by_name_and_place(path: str) -> None:
    assert is_orders(path if path[0] in "/C" and path[1] != "L" else f"/home/dev/project/{path}")


@pytest.mark.parametrize("path", OTHERS)
def test_other_files_are_no_orders(path: str) -> None:
    assert not is_orders(f"/home/dev/project/{path}")


def test_where_a_link_leads_counts() -> None:
    named = Named(path="/p/x.txt", real="/p/CLAUDE.md", home="/home/dev")
    assert list(kinds(named, Settings())) == ["orders"]


@given(st.text(max_size=60))
def test_any_path_has_an_answer(path: str) -> None:
    assert is_orders(path) in (True, False)
