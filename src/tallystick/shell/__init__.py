"""What shell commands do, read from their text with a real grammar.

Owns text → simple commands: words with quotes, variables and braces resolved, redirects, folders, wrappers taken off.
Must not know which programs or paths matter: `policy` judges the result, a value of `model.script`.
"""

from __future__ import annotations

from tallystick.shell.read import Environment, read_argv, read_script

__all__ = ["Environment", "read_argv", "read_script"]
