"""A cell of a notebook → the shell commands in it, and the Python that is left.

Owns IPython's own syntax: `!command`, `%magic`, `%%bash`. Must not know what commands do. Source: the IPython documentation,
"Built-in magic commands".
"""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"(?m)^[ \t]*(?:[\w.,\[\] ]{1,80}=[ \t]*)?[!%]")
_LINE = re.compile(r"[ \t]*(?:[\w.,\[\] ]{1,80}=[ \t]*)?(!{1,2}|%)([^=\s].*)")
_SHELLS = frozenset(("bash", "sh", "script bash", "script sh", "system", "sx", "!"))
_AS_COMMANDS = {
    **dict.fromkeys(("sx", "system", "sc"), ""),
    **dict.fromkeys(("pycat", "load", "loadpy"), "cat "),
    "run": "python ",
    **{
        name: f"{name} "
        for name in ("env", "cat", "less", "more", "ls", "cp", "mv", "rm", "pip", "cd", "mkdir", "rmdir")
    },
}
_MOST_LINES = 2000


def commands_in(cell: str) -> tuple[tuple[str, ...], str]:
    """The shell texts of a cell, in order, and its Python."""
    if not _SPECIAL.search(cell):
        return (), cell
    first, _, rest = cell.lstrip().partition("\n")
    if first.startswith("%%"):
        name = first[2:].strip()
        if name.partition(" ")[0] in _SHELLS or name in _SHELLS:
            return (rest,), ""
        return (), rest
    commands: list[str] = []
    left: list[str] = []
    for line in cell.split("\n")[:_MOST_LINES]:
        command = _command(line)
        if command is None:
            left.append(line)
        else:
            commands.append(command)
    return tuple(commands), "\n".join(left)


def _command(line: str) -> str | None:
    """The shell command of one line; None: it is Python."""
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    if found[1] != "%":
        return found[2]
    name, _, rest = found[2].lstrip("%").partition(" ")
    begin = _AS_COMMANDS.get(name)
    if begin is None:
        return None
    return f"{begin}{rest}".strip()
