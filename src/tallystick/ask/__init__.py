"""Questions about the record: why, impact, search, coverage, cost."""

__all__ = [
    "artifact",
    "cost",
    "coverage",
    "coverage_account",
    "dag",
    "graph",
    "graph_walk",
    "impact",
    "known_taint",
    "log",
    "log_graph",
    "prices",
    "search",
    "session_costs",
    "shadow",
    "show",
    "sql",
    "taint",
    "unexplained",
    "why",
]
