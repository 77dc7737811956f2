"""Commands that show what is recorded."""
