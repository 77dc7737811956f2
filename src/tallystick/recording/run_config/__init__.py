"""What a session runs under: declared, gathered, recorded."""

__all__ = ["declared", "gathered", "recorded", "steps"]
