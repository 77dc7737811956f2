import tomllib
from collections.abc import Iterator

import click

from tallystick.cli import main
from tools.same.commands import LINES, command_lines


def leaves(group: click.Group, name: str) -> Iterator[str]:
    context = click.Context(group)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, f"{name} {word}".strip())
        elif not command.hidden:
            yield f"{name} {word}".strip()


def test_each_command_is_compared_or_left_out_with_a_reason() -> None:
    assert isinstance(main, click.Group)
    there = set(leaves(main, ""))
    left_out = tomllib.loads(LINES.with_name("left_out.toml").read_text("utf-8"))
    lines = {" ".join(line[:length]) for line in command_lines() for length in (1, 2)}
    assert there - lines == set(left_out)
    assert not [name for name in left_out if name in there & lines]
