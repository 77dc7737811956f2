"""What agents must leave alone: the record, its key, the recorder, and the settings that make agents call the hook."""

__all__ = ["own_commands", "places", "recorder"]
