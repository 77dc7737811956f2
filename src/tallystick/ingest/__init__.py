"""Events from outside: transcripts, streams, telemetry, watched folders, and commands that are run."""

__all__ = [
    "acp",
    "adapters",
    "histories",
    "import_",
    "json_lines",
    "ledger_checks",
    "mcp",
    "opened",
    "otlp",
    "run",
    "transcript_follower",
    "watch",
    "watch_steps",
]
