"""What is typed into a program that runs already → what a shell, or Python, at that prompt would run.

Owns how keys are spelled in such texts, and when a text counts as a command: which program waits there is unknown, so
it must read as one. Must not know what the command does. Sources: tmux(1), send-keys; Copilot CLI's and gptme's
descriptions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tallystick.intent.programs import known_programs
from tallystick.intent.shell import Environment
from tallystick.intent.shell.effects import Reading, read_argv_effects, read_effects
from tallystick.model.intent import Domain

_MOST_TEXTS = 20
_MOST_PYTHON = 64 << 10
_KEYS = re.compile(r"\{(?:enter|return|tab|esc(?:ape)?|ctrl[-+][a-z]|up|down)\}", re.IGNORECASE)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_TMUX = re.compile(r"[ \t]*(send|new)[_-](keys|session)\b[ \t]*")
_TO_TMUX = {"send": "tmux send-keys -t ", "new": "tmux new-session "}


def read_typed(texts: Iterable[str], environment: Environment) -> Iterator[tuple[str, Reading]]:
    """The texts that read as commands, each with its reading."""
    known = known_programs()
    for n, text in enumerate(texts):
        if n >= _MOST_TEXTS:
            return
        text = _line(text)
        if not text.strip():
            continue
        shell = read_effects(text, environment)
        if _is_shell(shell, known):
            yield text, shell
        elif "(" in text and len(text) <= _MOST_PYTHON:
            python = read_argv_effects(("python", "-c", text), environment)
            if not any(one.domain is Domain.UNKNOWN for one in python.effects.intents):
                yield text, python


def _line(text: str) -> str:
    """A text without the keys that are not letters. gptme's `tmux` says what to do first, then the window."""
    text = _CONTROLS.sub("", _KEYS.sub("\n", text).replace("\r", "\n"))
    found = _TMUX.match(text)
    if found is None:
        return text
    return _TO_TMUX[found[1]] + text[found.end() :]


def _is_shell(reading: Reading, known: frozenset[str]) -> bool:
    """Whether a shell could make something of it: it is read to its end, and begins with a program that is known."""
    if "syntax" in reading.effects.opaque or not reading.scripts or not reading.scripts[0].commands:
        return False
    first = reading.scripts[0].commands[0]
    return first.program in known or not first.words
