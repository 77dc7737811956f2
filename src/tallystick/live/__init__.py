"""One delivery of an agent's hook: understood, decided, recorded, answered."""

__all__ = [
    "alerts",
    "configuration",
    "delivery",
    "helpers",
    "hook_pipeline",
    "reading_ahead",
    "turns",
    "unreadable",
    "watched_places",
]
