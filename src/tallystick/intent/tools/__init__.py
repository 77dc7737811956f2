"""What calls of agents' tools do, as far as their arguments tell.

Owns tool name and arguments → Uses: intents, how data moves among them, and the shell texts and code that the call runs.
Must not know what those texts do: `shell` reads them; nor whether the call ran.
"""

from __future__ import annotations

from tallystick.intent.tools.calls import uses_of
from tallystick.intent.tools.commits import commits_in
from tallystick.intent.tools.known import known_tools
from tallystick.intent.tools.patching import Change, changes_told
from tallystick.intent.tools.uses import Code, Uses

__all__ = [
    "Change",
    "Code",
    "Uses",
    "arguments",
    "changes_told",
    "commits_in",
    "known_tools",
    "memory",
    "paths",
    "uses",
    "uses_of",
]
