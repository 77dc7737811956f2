"""Questions about the record: why, impact, search, coverage, cost."""
