"""Installation on a machine: agents, hooks, settings, checks, demonstration."""

__all__ = ["agents", "audit_config", "change_setting", "demo", "doctor", "install", "purge", "status", "up"]
