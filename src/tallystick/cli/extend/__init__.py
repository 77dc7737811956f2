"""Commands that draft extensions."""
