"""The words that people read, held to a list."""
