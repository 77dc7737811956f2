"""Helpers that several readers of transcripts share."""

__all__ = ["reading", "tables"]
