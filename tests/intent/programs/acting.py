"""What a command line does, by the tables alone: no shell, no pipes."""

from __future__ import annotations

import shlex

from tallystick.intent.actions import Actions
from tallystick.intent.programs import actions_of
from tallystick.model.script import Command, Redirect, Word


def command(text: str, *, fed: str | None = None, reads: str | None = None) -> Command:
    """A command; `fed` is the text on its standard input, `reads` the file that is."""
    words = tuple(Word(part) for part in shlex.split(text))
    redirects = (Redirect(Word(reads), False, "<"),) if reads is not None else ()
    return Command(words=words, redirects=redirects, fed=fed or "", input=Word(fed) if fed is not None else None)


def acted(text: str, *, fed: str | None = None, reads: str | None = None) -> Actions:
    """What it does."""
    return actions_of(command(text, fed=fed, reads=reads), home="/home/dev")


def lines(done: Actions) -> list[str]:
    """Actions as `operation target`, in their order; `*` is deep, `<` is fed from the input."""
    return [
        f"{action.operation}{'*' * action.is_deep}{'<' * action.from_input} {action.target.plain}"
        for action in done.actions
    ]


def does(text: str, *, fed: str | None = None, reads: str | None = None) -> list[str]:
    """The same for a text."""
    return lines(acted(text, fed=fed, reads=reads))


def flows(text: str) -> list[str]:
    """How data goes from action to action, as `target -> target`."""
    done = acted(text)
    return [f"{done.actions[a].target.plain} -> {done.actions[b].target.plain}" for a, b in done.flows]
