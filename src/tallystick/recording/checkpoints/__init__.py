"""Checkpoints of sessions that are recorded: asked for, and made by rule."""

__all__ = ["auto", "write"]
