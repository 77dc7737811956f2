"""What a command in a settings file does that a reader should know of: downloads and runs, sends, starts from a loose place.

Owns these few readings of a command line, by its words; what a command does in full is for `shell` to say, which knows no
settings. Must not know where the command stands.
"""

from __future__ import annotations

import re
import shlex

from tallystick.catalog.agents import AGENTS

_MOST_CHARACTERS = 20_000
_FETCH = r"\b(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod)\b"
_RUN = (
    r"(?:sudo\s+(?:-\S+\s+)*|env\s+(?:\S+=\S*\s+)*)?(?:/\S*/)?"
    r"(?:(?:ba|z|da|k|fi)?sh|python3?|node|perl|ruby|iex|Invoke-Expression)\b"
)
_PIPED = re.compile(rf"{_FETCH}[^\n|]{{0,400}}\|\s*(?:{_RUN})", re.IGNORECASE)
_SUBSTITUTED = re.compile(
    rf"(?:\b(?:ba|z|da|k)?sh\s+-c|\beval|\bsource|(?<!\S)\.)\s+[\"']?(?:\$\(|`|<\()\s*{_FETCH}|\b(?:ba|z|da|k)?sh\s+<\(\s*{_FETCH}",
    re.IGNORECASE,
)
_DECODED = re.compile(rf"\bbase64\s+(?:-d|-D|--decode)\b[^\n|]{{0,200}}\|\s*(?:{_RUN})", re.IGNORECASE)
_SENDS = re.compile(
    r"\bcurl\b[^\n;|&]{0,400}?\s(?:-d|--data(?:-\w+)?|-F|--form|-T|--upload-file|--json)[\s=@'\"]"
    r"|\bwget\b[^\n;|&]{0,400}?\s--post-(?:data|file)\b|\b(?:nc|ncat|netcat)\s+(?!-l)[\w.-]+\s+\d+",
)
_LOOPBACK = re.compile(r"\b(?:localhost|127\.\d+\.\d+\.\d+)\b|\[::1\]")
_TEMPORARY = re.compile(r"(?:/tmp|/var/tmp|/dev/shm|/private/tmp)/")
_SHELLS = frozenset(
    ("sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh")
)


_PROJECT = tuple(name for facts in AGENTS.values() for name in facts.variables.project)
_STARTS = (
    "/",
    "~/",
    "$HOME/",
    "${HOME}/",
    *(f"${name}/" for name in _PROJECT),
    *(f"${{{name}}}/" for name in _PROJECT),
)


def downloads_and_runs(text: str) -> re.Match[str] | None:
    """Where a text fetches something from the network, or decodes it, and hands it to an interpreter."""
    return _PIPED.search(text) or _SUBSTITUTED.search(text) or _DECODED.search(text)


def sends(command: str) -> bool:
    """Whether a command sends something over the network to another machine."""
    found = _SENDS.search(command[:_MOST_CHARACTERS])
    return found is not None and not _LOOPBACK.search(command[:_MOST_CHARACTERS])


def words_of(command: str) -> list[str]:
    """The words of a command line, roughly where its quotes do not match."""
    text = command[:_MOST_CHARACTERS]
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def files_in(command: str) -> list[str]:
    """The absolute paths, and those below the home folder or the project, among a command's words."""
    pieces = [piece for word in words_of(command) for piece in (word.split() if " " in word else (word,))]
    return [piece.rstrip(";&|") for piece in pieces if piece.startswith(_STARTS)][:20]


def temporary_program(command: str) -> str | None:
    """The program or script of a command that lies in a folder in which anyone may put files."""
    return next((path for path in files_in(command) if _TEMPORARY.match(path)), None)


def is_shell(program: str) -> bool:
    """Whether a program is a shell."""
    return re.split(r"[/\\]", program)[-1].lower() in _SHELLS
