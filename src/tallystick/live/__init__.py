"""One delivery of an agent's hook: understood, decided, recorded, answered."""

__all__ = [
    "alerts",
    "configuration",
    "delivery",
    "heard",
    "helpers",
    "hook_pipeline",
    "own_alerts",
    "reading_ahead",
    "silences",
    "turns",
    "unreadable",
    "watched_places",
]
