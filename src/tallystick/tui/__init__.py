"""The terminal, full screen: sessions, their steps, and what they say."""

__all__ = ["app"]
