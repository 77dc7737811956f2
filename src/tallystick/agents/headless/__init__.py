"""the headless agent: its transcripts and, where they exist, hooks, settings and telemetry."""

__all__ = ["live", "transcript"]
