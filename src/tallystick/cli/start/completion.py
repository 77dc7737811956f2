"""`tally completion`: the script that has a shell complete commands, options, ids, rules and settings."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from tallystick.capture.completion_files import MARK, SHELLS, completion_file, write_completion
from tallystick.cli.command import Command
from tallystick.cli.context import Run, pass_run, path_text

_NEXT = {
    "bash": "the next bash that starts completes `tally`, where bash-completion is installed",
    "zsh": "add its folder to fpath in ~/.zshrc, before compinit: fpath=({folder} $fpath)",
    "fish": "the next fish that starts completes `tally`",
}


@click.command("completion", cls=Command, example='tally completion bash --install\neval "$(tally completion zsh)"')
@click.argument("shell", type=click.Choice(SHELLS))
@click.option("--install", "is_installed", is_flag=True, help="Write it where the shell looks for it.")
@pass_run
def completion(run: Run, shell: str, is_installed: bool) -> None:
    """Print the completion script of a shell, or install it for this user.

    The shell then completes commands, options, and names from the index: sessions, steps, checkpoints, rules, settings.
    `tally uninstall --purge` removes an installed one.
    """
    text = script(shell)
    if not is_installed:
        run.answer("completion", {"shell": shell, "text": text}, text.splitlines())
        return
    path = completion_file(shell, Path.home(), os.environ)
    is_new = write_completion(path, text)
    said = f"{path_text(path)} {'written' if is_new else 'is as it should be'}"
    after = _NEXT[shell].format(folder=path_text(path.parent))
    run.answer("completion", {"shell": shell, "path": path, "changed": is_new}, [said, after])


def script(shell: str) -> str:
    """The script of a shell. zsh wants its first line to be a tag, so that our mark is the second."""
    from tallystick.cli import main

    kind = get_completion_class(shell)
    assert kind is not None, "click knows all three"
    source = kind(main, {}, "tally", "_TALLY_COMPLETE").source().strip("\n") + "\n"
    head, _, rest = source.partition("\n")
    mark = f"# {MARK} {shell}`.\n"
    if head.startswith("#compdef"):
        return f"{head}\n{mark}{rest}"
    return f"{mark}{source}"
