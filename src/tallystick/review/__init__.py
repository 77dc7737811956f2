"""Sessions after the fact: lists, trees, replay, differences, drift, provenance, export."""

__all__ = [
    "acts",
    "browse",
    "browse_upkeep",
    "checkpoints",
    "drift",
    "export",
    "follow",
    "provenance",
    "replay",
    "replay_live",
    "replay_sources",
    "retention",
    "session_diff",
    "sessions",
    "statistics",
]
