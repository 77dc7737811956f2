"""A store as it is opened: its settings, names, ledger, and the index kept in step with its journals."""

__all__ = [
    "completing",
    "entry_points",
    "file_guards",
    "file_stat_key",
    "filters",
    "index",
    "index_live",
    "index_writer",
    "indexing",
    "ledger",
    "names",
    "settings",
]
