"""What a call means to do, from its text: shell commands, code, programs, tools."""

__all__ = ["code", "programs", "shell", "tools"]
