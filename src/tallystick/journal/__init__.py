"""Journals on disk: appending, recovering, reading, following, sealing, erasing (docs/format.md 1, 8, 11, 12).

This package owns every byte below the store's folder except `graph.db`. It knows nothing of agents or of questions.
"""

__all__ = [
    "archive",
    "blobs",
    "durable",
    "erase",
    "file",
    "follow",
    "headless",
    "headless_file",
    "home",
    "kept_states",
    "keys",
    "known_values",
    "ledger",
    "lines",
    "log_reader",
    "opening",
    "read",
    "read_losses",
    "read_values",
    "session_keys",
    "signing",
]
