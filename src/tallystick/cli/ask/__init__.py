"""Commands that answer questions about the record."""
