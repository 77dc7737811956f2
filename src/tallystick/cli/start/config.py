"""`tally config`: settings, from the one table in `workspace.settings`."""

from __future__ import annotations

import click

from tallystick.cli import completing
from tallystick.cli.command import Command, Group
from tallystick.cli.context import Run, pass_run, path_text, table
from tallystick.display.text import one_line
from tallystick.workspace import settings
from tallystick.workspace.settings import Set, Value

config = Group(
    "config",
    lazy={
        "show": ("tallystick.cli.start.config:show", "Show all settings with their values and meanings."),
        "get": ("tallystick.cli.start.config:get", "Print the value of one setting."),
        "set": ("tallystick.cli.start.config:set_", "Change a setting."),
        "unset": ("tallystick.cli.start.config:unset", "Reset a setting to its default."),
        "path": ("tallystick.cli.start.config:path", "Print the path of the settings file."),
    },
    help="Show and change settings.",
)


def _value_text(value: Value) -> str:
    if isinstance(value, tuple):
        return one_line(", ".join(value))
    return one_line(str(value))


def _data(item: Set) -> dict[str, object]:
    setting = item.setting
    return {
        "key": setting.key,
        "value": item.value,
        "default": setting.default,
        "is_default": item.is_default,
        "takes": setting.takes,
        "does": setting.does,
    }


@click.command("show", cls=Command, example="tally config show")
@pass_run
def show(run: Run) -> None:
    """Show all settings with their values and meanings."""
    found, unknown = settings.read_settings(run.home)
    for key in unknown:
        run.warn(f"{run.home.config}: unknown setting {key!r} is ignored")
    rows = [
        (item.setting.key, _value_text(item.value), "" if item.is_default else "set", item.setting.does)
        for item in found
    ]
    run.answer("config", [_data(item) for item in found], table(rows, head=("KEY", "VALUE", "", "MEANING")))


@click.command("get", cls=Command, example="tally config get journal.fsync")
@click.argument("key", shell_complete=completing.settings)
@pass_run
def get(run: Run, key: str) -> None:
    """Print the value of one setting."""
    settings.known_setting(key)
    found = next(item for item in settings.read_settings(run.home)[0] if item.setting.key == key)
    run.answer("config.setting", _data(found), [_value_text(found.value)])


@click.command(
    "set",
    cls=Command,
    example="tally config set journal.fsync always",
    context_settings={"help_option_names": ["-h", "--help"], "ignore_unknown_options": True},  # -1 is a bad value
)
@click.argument("key", shell_complete=completing.settings)
@click.argument("value")
@pass_run
def set_(run: Run, key: str, value: str) -> None:
    """Change a setting. Comments in the file are kept, and the change is recorded."""
    from tallystick.setup.change_setting import set_setting

    changed = set_setting(run.home, key, value)
    run.answer("config.setting", _data(changed), [f"{key} = {_value_text(changed.value)}"])


@click.command("unset", cls=Command, example="tally config unset output.pager")
@click.argument("key", shell_complete=completing.settings)
@pass_run
def unset(run: Run, key: str) -> None:
    """Reset a setting to its default."""
    from tallystick.setup.change_setting import unset_setting

    changed = unset_setting(run.home, key)
    run.answer("config.setting", _data(changed), [f"{key} = {_value_text(changed.value)} (the default)"])


@click.command("path", cls=Command, example='"$EDITOR" "$(tally config path)"')
@pass_run
def path(run: Run) -> None:
    """Print the path of the settings file. The file may be missing: all settings have defaults."""
    run.answer("config.path", {"path": str(run.home.config)}, [path_text(run.home.config)])
