"""What a shell offers where an id, a rule or a setting is to be typed.

Owns where each kind of name comes from. Reads the index and the policy files as they are: nothing is made, brought up to date
or parsed, so that an answer comes within a keystroke. Must not know any shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from tallystick.graph.id_prefixes import Named
from tallystick.graph.id_prefixes import checkpoint_ids as _checkpoint_ids
from tallystick.graph.id_prefixes import session_ids as _session_ids
from tallystick.graph.id_prefixes import step_names as _step_names
from tallystick.journal.home import Home

_RULE = re.compile(r'^@id\("([^"\n]+)"\)', re.MULTILINE)


def session_ids(home: Home, typed: str) -> list[Named]:
    """The sessions that a text may begin."""
    return _session_ids(home.graph, typed)


def step_names(home: Home, typed: str) -> list[Named]:
    """The steps that a text may begin; before its colon the sessions."""
    session, colon, digits = typed.partition(":")
    if colon and session:
        return _step_names(home.graph, session, digits)
    return _session_ids(home.graph, typed)


def checkpoint_ids(home: Home, typed: str) -> list[Named]:
    """The checkpoints that a text may begin."""
    return _checkpoint_ids(home.graph, typed)


def rule_ids(home: Home, typed: str) -> list[Named]:
    """The rules that a text may begin: ours, and those of the user's own policies."""
    found: dict[str, str] = {}
    for origin, file in _policy_files(home):
        for rule in _RULE.findall(_text(file)):
            if rule.startswith(typed):
                found.setdefault(rule, origin)
    return sorted(found.items())


def _policy_files(home: Home) -> Iterator[tuple[str, Path]]:
    shipped = Path(str(files("tallystick.policy") / "shipped"))
    for origin, folder in (("shipped", shipped), ("yours", home.folder / "policy"), ("project", Path(".tally/policy"))):
        for file in sorted(folder.rglob("*.cedar")):
            yield origin, file


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8", errors="replace")
    except OSError:
        return ""


def setting_names(_: Home, typed: str) -> list[Named]:
    """The settings that a text may begin, with what they do."""
    from tallystick.workspace.settings import SETTINGS

    return [(setting.key, setting.does) for setting in SETTINGS if setting.key.startswith(typed)]


def agent_names(_: Home, typed: str) -> list[Named]:
    """The agents that can be connected."""
    from tallystick.agents.hooks import hook_adapters

    return [(name, "") for name in hook_adapters() if name.startswith(typed)]
