"""Decisions on calls, with the facts of the machine and of the record."""

__all__ = [
    "agreement",
    "backtest",
    "decide",
    "differing",
    "explain",
    "fallback_decision",
    "grant_folder",
    "grants",
    "live_world",
    "own_rules",
    "plain_calls",
    "policies",
    "policy_cases",
    "policy_change",
    "policy_quality",
    "policy_rules",
    "real_work",
    "rule_usage",
    "set_aside",
    "suggest",
]
