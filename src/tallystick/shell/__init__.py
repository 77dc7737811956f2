"""What shell commands do, read from their text with a real grammar.

Owns text → simple commands (words with quotes, variables and braces resolved, redirects, folders, wrappers taken off), and
text → effects: what all of it means to do, and how data moves. Must not know which programs or paths matter: `policy` and
`lineage` judge the results, values of `model.script` and `model.intent`.
"""

from __future__ import annotations

from tallystick.shell.effects import argv_effects, effects
from tallystick.shell.read import Environment, read_argv, read_script

__all__ = ["Environment", "argv_effects", "effects", "read_argv", "read_script"]
