"""What a call means to do, from its text: shell commands, code, programs, tools."""

__all__ = ["actions", "code", "programs", "shell", "tools"]
