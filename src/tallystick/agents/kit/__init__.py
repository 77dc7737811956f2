"""Helpers that several readers of transcripts share."""

__all__ = ["blocks", "conversation", "laws", "reading", "tables"]
