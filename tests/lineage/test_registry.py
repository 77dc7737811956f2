from __future__ import annotations

import pytest

from tallystick.lineage.registry import membership


@pytest.mark.parametrize(
    ("path", "registries"),
    [
        ("file:///w/run.sh", "executable"),
        ("file:///w/Makefile", "executable"),
        ("file:///w/package.json", "executable"),
        ("file:///w/.git/hooks/pre-commit", "executable persistent"),
        ("file:///w/CLAUDE.md", "memory"),
        ("file:///w/AGENTS.md", "memory"),
        ("file:///home/dev/.claude/skills/x/SKILL.md", "executable memory"),
        ("file:///home/dev/.bashrc", "persistent"),
        ("file:///home/dev/.ssh/authorized_keys", "persistent"),
        ("file:///etc/cron.d/x", "persistent"),
        ("file:///w/.github/workflows/ci.yml", "persistent"),
        ("file:///home/dev/.claude/settings.json", "control_plane"),
        ("file:///home/dev/.tally/graph.db", "control_plane"),
        ("file:///w/README.md", ""),
        ("file:///w/notes.txt", ""),
        ("file:///w/hooksmith/a.txt", ""),
    ],
)
def test_a_path_is_in_the_registries_that_its_name_says(path: str, registries: str) -> None:
    found = membership(path)
    named = {name for name in ("executable", "memory", "persistent", "control_plane") if getattr(found, f"is_{name}")}
    assert named == set(registries.split())
    assert found.is_any == bool(named)
