"""All rules of the audit.

Owns gathering them from the modules that use them, for the page and for the tests. Must not know what any is about.
"""

from __future__ import annotations

from importlib import import_module

from tallystick.agents.settings import NAMES, Rule

_SHARED = ("files", "environment", "secret_values", "mcp", "hooks", "instructions", "skills", "genai")


def all_rules() -> tuple[Rule, ...]:
    """Every rule once, by its id."""
    modules = [import_module(f"tallystick.agents.settings.{name}") for name in _SHARED]
    modules += [import_module(f"tallystick.agents.{name}.settings") for name in NAMES]
    found = {value.id: value for module in modules for value in vars(module).values() if isinstance(value, Rule)}
    return tuple(found[id] for id in sorted(found))
