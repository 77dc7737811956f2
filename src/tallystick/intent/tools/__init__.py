"""What calls of agents' tools do, as far as their arguments tell.

Owns tool name and arguments → Uses: intents, how data moves among them, and the shell texts and code that the call runs.
Must not know what those texts do: `shell` reads them; nor whether the call ran.
"""

__all__ = [
    "arguments",
    "calls",
    "commits",
    "known",
    "memory",
    "patching",
    "paths",
    "uses",
]
