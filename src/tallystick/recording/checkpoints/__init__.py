"""Checkpoints of sessions that are recorded: asked for, and made by rule."""
