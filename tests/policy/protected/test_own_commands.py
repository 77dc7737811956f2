"""What our own commands do to the record: the table against the command line as it is, and how a command is known."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click

import tallystick
from tallystick.catalog import load
from tallystick.cli import main
from tallystick.model.script import HOLE, Word
from tallystick.policy.protected.own_commands import Does, done_by_code, own_command, started_by_code
from tests.support.cases import each_case

SOURCE = Path(tallystick.__file__).parent
ROOT = Path(__file__).parents[3]
TABLE = load("own_commands", dict[str, object])


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """All commands of the command line, each with its name: `config set`."""
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from leaves(inner, (*path, name))


COMMANDS = dict(leaves(main))


def words(text: str) -> list[Word]:
    return list(map(Word, text.split()))


def test_each_command_has_one_entry() -> None:
    told = [path for does in Does for path in TABLE[does]]  # type: ignore[attr-defined]
    assert sorted(told) == sorted(COMMANDS)


def test_the_options_that_take_a_value_are_those_of_the_commands() -> None:
    options = [one for command in (main, *COMMANDS.values()) for one in command.params if isinstance(one, click.Option)]
    flags = {name for one in options if one.is_flag or one.count for name in one.opts}
    taking = {name for one in options if not (one.is_flag or one.count) for name in one.opts}
    assert set(str(TABLE["takes"]).split()) == taking - flags


def test_an_option_that_makes_a_difference_is_one_of_its_command() -> None:
    for member in ("reads_with", "changes_with"):
        for path, option in TABLE[member].items():  # type: ignore[attr-defined]
            assert any(option in one.opts for one in COMMANDS[path].params), path


def test_an_option_that_names_a_file_to_write_is_known() -> None:
    """Those that take a path which need not be there: new ones are put in the table, or among these that only read."""
    only_read = {"--home", "--ca", "--cost", "--db", "--key", "--token-file", "--into", "--from", "--policy", "--proof"}
    only_read |= {"--remembered", "--folder", "--disclose", "--store", "--project"}
    taking = {
        name
        for command in COMMANDS.values()
        for one in command.params
        if isinstance(one, click.Option) and isinstance(one.type, click.Path | click.File)
        for name in one.opts
    }
    assert taking - only_read == set(str(TABLE["writes"]).split())


def test_all_that_starts_a_command_is_known() -> None:
    starts = TABLE["starts"]
    assert isinstance(starts, dict)
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    modules = {
        re.sub(r"\.__(?:init|main)__$", "", ".".join(("tallystick", *path.relative_to(SOURCE).with_suffix("").parts)))
        for path in SOURCE.rglob("*.py")
        if path.name == "__main__.py" or re.search(r"^if __name__ == ", path.read_text("utf-8"), re.MULTILINE)
    }
    assert {*scripts, *modules} <= set(starts)
    assert {path for path in starts.values() if path} <= set(COMMANDS)


@each_case("does, text")
def test_what_each_line_does_is_known(does: str, text: str) -> None:
    found = own_command(words(text))
    assert found is not None
    assert found.does == does


@each_case("text")
def test_what_is_another_program_is_not_ours(text: str) -> None:
    assert own_command(words(text)) is None


def test_a_command_that_nothing_tells_is_asked_about() -> None:
    for line in ([Word("tally"), Word(HOLE, "$X")], [Word("tally"), Word("service"), Word(HOLE, "$X")]):
        found = own_command(line)
        assert found is not None
        assert found.does is Does.RECORD
    found = own_command([Word(HOLE, "which tally"), Word("erase"), Word("x")])
    assert found is not None
    assert found.does is Does.CHANGE


def test_the_files_that_a_command_writes_are_named() -> None:
    for text in ("export s -o /x", "graph s --output=/x", "prove s:1 -o/x"):
        found = own_command(words(f"tally {text}"))
        assert found is not None
        assert [word.text for word in found.writes] == ["/x"]


@each_case("code, expected")
def test_code_that_calls_such_a_command_is_found(code: str, expected: str) -> None:
    assert done_by_code(code) == expected


def test_what_code_starts_through_its_own_interpreter_is_read() -> None:
    (found,) = started_by_code("run([sys.executable, '-m', \"pip\", 'install', 'x'], check=True)")
    assert [word.text for word in found] == ["python3", "-m", "pip", "install", "x"]
    assert list(started_by_code("run(['pip', 'install'])")) == []
