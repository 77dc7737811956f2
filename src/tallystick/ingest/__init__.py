"""Events from outside: transcripts, streams, telemetry, watched folders, and commands that are run."""
