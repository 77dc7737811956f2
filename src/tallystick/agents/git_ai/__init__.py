"""git-ai: the conversations in its notes."""

__all__ = ["transcript"]
