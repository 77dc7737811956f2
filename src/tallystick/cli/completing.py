"""What the shell offers for an argument: names from `workspace.completing`, as click's completion items."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from tallystick.cli.context import Run
from tallystick.display.text import first_line, one_line

if TYPE_CHECKING:
    from tallystick.journal.home import Home

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_WORDS = 60


def _from(name: str) -> Completer:
    """A completer that asks `workspace.completing`, which is loaded only when a key is pressed."""

    def complete(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from tallystick.workspace import completing

        offer: Callable[[Home, str], list[tuple[str, str]]] = getattr(completing, name)
        found = offer(context.ensure_object(Run).home, incomplete)
        return [CompletionItem(one_line(value), help=first_line(words, _WORDS) or None) for value, words in found]

    return complete


sessions = _from("session_ids")
steps = _from("step_names")
checkpoints = _from("checkpoint_ids")
rules = _from("rule_ids")
settings = _from("setting_names")
agents = _from("agent_names")


def paths(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The shell's own completion of files."""
    return [CompletionItem(incomplete, type="file")]


def steps_or_paths(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Steps and sessions, as far as there are any; else files."""
    if incomplete:
        named = steps(context, parameter, incomplete)
    else:
        named = []
    return named or paths(context, parameter, incomplete)
