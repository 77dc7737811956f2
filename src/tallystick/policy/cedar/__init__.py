"""The Cedar side: texts of policies, the engine that asks them, and its answers."""

__all__ = ["engine", "globs", "parsing"]
