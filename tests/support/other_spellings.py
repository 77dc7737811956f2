"""Ways to write a command of the shell that do the same: what none of them may do is to hide what it does.

Owns the ways, and for which commands each does the same. Must not know what is decided on any of them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable

from tallystick.model.step import Json

Spelling = Callable[[str], Json | None]
"""The command in that way, or the arguments in another form; None where it would not do the same."""

_LONG = "lorem ipsum dolor\n" * 2000
_NAME = re.compile(r"(?!(?:for|if|while|until|case|function|time|select|coproc)\b)[a-z]\w+(?= (?!\(\)))")


def _is_one_line(command: str) -> bool:
    return "\n" not in command and "<<" not in command and "#" not in command and not command.rstrip().endswith("\\")


def _of_one_line(change: Spelling) -> Spelling:
    return lambda command: change(command) if _is_one_line(command) else None


def _of_statement(change: Spelling) -> Spelling:
    """Of a line that goes on: none that ends with `&` or a pipe."""
    return _of_one_line(lambda command: change(command) if not command.rstrip().endswith(("&", ";", "|")) else None)


def _of_name(change: Callable[[str], str]) -> Spelling:
    """Of the name of the program that a line begins with."""

    def spelled(command: str) -> Json | None:
        found = _NAME.match(command)
        return None if found is None else change(found[0]) + command[found.end() :]

    return _of_one_line(spelled)


SPELLINGS: dict[str, Spelling] = {
    "blank lines before it": lambda command: f"\n\n \t\n{command}",
    "blanks before it": lambda command: f"  \t {command}",
    "blanks after it": _of_one_line(lambda command: f"{command}  \t "),
    "ends of lines as on Windows": _of_one_line(lambda command: f"# x\r\n{command}\r\n"),
    "a line with a colon": lambda command: f":\n{command}",
    "three hundred comments": lambda command: "# a comment\n" * 300 + command,
    "a long comment": lambda command: f"# {'x y ' * 2000}\n{command}",
    "a comment that ends with a backslash": lambda command: f"# x\\\n{command}",
    "two hundred statements": lambda command: "echo a\n" * 200 + command,
    "a here-document before it": lambda command: f"cat <<'EOF' >/dev/null\nit's (text\nEOF\n{command}",
    "a long here-document": lambda command: f"cat >/dev/null <<'EOF'\n{_LONG}EOF\n{command}",
    "fed to a shell": lambda command: f"bash <<'END_OF_IT'\n{command}\nEND_OF_IT\n",
    "bash -c": lambda command: f"bash -c {shlex.quote(command)}",
    "bash -lc as words": lambda command: {"command": ["bash", "-lc", command]},
    "one of several": lambda command: {"commands": ["true", command, "true"]},
    "sh -c within bash -c": lambda command: f"bash -c {shlex.quote(f'sh -c {shlex.quote(command)}')}",
    "eval": lambda command: f"eval {shlex.quote(command)}",
    "a trap": lambda command: f"trap {shlex.quote(command)} EXIT",
    "a group": lambda command: f"{{ {command}\n}}",
    "a subshell": lambda command: f"( {command}\n)",
    "a condition": lambda command: f"if true; then\n{command}\nfi",
    "a loop": lambda command: f"while :; do\n{command}\nbreak; done",
    "a function": lambda command: f"f() {{\n{command}\n}}; f",
    "options of the shell": lambda command: f"#!/bin/bash\nset -euo pipefail\n{command}",
    "a title": lambda command: f"printf '\\033]0;x\\007'\n{command}",
    "after &&": _of_one_line(lambda command: f"cd . && {command}"),
    "|| true": _of_statement(lambda command: f"{command} || true"),
    "into a pipe": _of_statement(lambda command: f"{command} | cat"),
    "in the background": _of_statement(lambda command: f"{command} &"),
    "a variable before it": _of_name(lambda name: f"FOO=bar {name}"),
    "command": _of_name(lambda name: f"command {name}"),
    "a name with a backslash": _of_name(lambda name: f"\\{name}"),
    "a name in quotes": _of_name(lambda name: f"'{name}'"),
    "a name with quotes in it": _of_name(lambda name: f"{name[0]}''{name[1:]}"),
    "a name that goes on in the next line": _of_name(lambda name: f"{name[0]}\\\n{name[1:]}"),
    "a name, and a line that goes on": _of_name(lambda name: f"{name} \\\n"),
    "a name, and a tab": _of_name(lambda name: f"{name}\t"),
}
