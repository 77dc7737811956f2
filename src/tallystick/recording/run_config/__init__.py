"""What a session runs under: declared, gathered, recorded."""

__all__ = ["authors", "declared", "gathered", "recorded", "steps"]
