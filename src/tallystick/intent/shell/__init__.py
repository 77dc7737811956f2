"""What shell commands do, read from their text with a real grammar.

Owns text → simple commands (words with quotes, variables and braces resolved, redirects, folders, wrappers taken off), and in
`effects` text → effects: what all of it means to do, and how data moves. That module is not loaded here: it brings the
tables of programs along, and who only wants commands waits for the start of a recorder. Must not know which programs or
paths matter: `policy` and `lineage` judge the results, values of `model.script` and `model.intent`.
"""

from __future__ import annotations

from tallystick.intent.shell.read import Environment, read_argv, read_script

__all__ = [
    "Environment",
    "effects",
    "files",
    "names",
    "read_argv",
    "read_script",
    "recipes",
    "targets",
    "tasks",
    "wrappers",
]
