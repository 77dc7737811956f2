"""What shell commands do, read from their text with a real grammar.

Owns text → simple commands (words with quotes, variables and braces resolved, redirects, folders, wrappers taken off),
and in `effects` text → effects: what all of it means to do, and how data moves. Nothing is loaded here: `effects`
brings the tables of programs along, and who only wants commands waits for the start of a recorder. Must not know which
programs or paths matter: `policy` and `lineage` judge the results, values of `model.script` and `model.intent`.
"""

__all__ = [
    "blanks",
    "commands",
    "effects",
    "files",
    "loads",
    "names",
    "read",
    "recipes",
    "targets",
    "tasks",
    "wrappers",
]
