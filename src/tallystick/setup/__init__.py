"""Installation on a machine: agents, hooks, settings, checks, demonstration."""

__all__ = [
    "agents",
    "audit_config",
    "change_setting",
    "check",
    "demo",
    "doctor",
    "install",
    "missing_hooks",
    "new_agent",
    "purge",
    "shadows",
    "status",
    "unheard",
    "up",
]
