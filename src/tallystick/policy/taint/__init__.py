"""Where a call's words and data come from: text from outside, secrets, and flows from file to file."""

__all__ = ["flows", "origins", "secret_output", "untrusted_input"]
