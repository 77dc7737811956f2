"""What a variable, an option or a file of settings makes a program load is read as if it were run."""

from __future__ import annotations

from tallystick.catalog.loads import HOOKS, LOADING, MODULES, VARIABLES, WHOLE, WHOLE_WITH, loads_file
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.intent.shell.loads import command_of, git_settings
from tallystick.model.intent import Domain, Operation
from tests.support.cases import each, each_case

_KEY = "/h/.ssh/id_rsa"


def done(command: str, files: dict[str, str]) -> set[str]:
    """The files that a command runs or reads, with the files of a machine at hand."""
    found = effects(command, Environment(variables={"HOME": "/h"}, folder="/w", read_text=files.get))
    return {
        f"{one.operation} {one.target}"
        for one in found.intents
        if one.domain is Domain.FILE and one.operation in (Operation.EXECUTE, Operation.READ)
    }


@each_case("command, path, text")
def test_a_file_that_is_loaded_is_read_as_if_it_were_run(command: str, path: str, text: str) -> None:
    found = done(command, {f"/w/{path}": text, "/w/ok.sh": "true\n"})
    assert f"execute /w/{path}" in found
    assert f"read {_KEY}" in found


@each_case("command")
def test_a_command_in_a_variable_an_option_or_a_setting_is_read(command: str) -> None:
    assert f"read {_KEY}" in done(command, {})


@each_case("command")
def test_nothing_is_loaded_that_no_program_looks_at(command: str) -> None:
    assert not {one for one in done(command, {"/w/x": f"cat {_KEY}\n"}) if one.endswith((" /w/x", _KEY))}


def test_the_same_file_is_read_once_for_many_commands() -> None:
    found = effects(
        "export BASH_ENV=./x; bash -c a; bash -c b; bash -c c",
        Environment(variables={"HOME": "/h"}, folder="/w", read_text={"/w/x": f"cat {_KEY}\n"}.get),
    )
    assert [one.target for one in found.intents].count(_KEY) == 1


def test_a_library_is_run_by_its_path() -> None:
    assert "execute /w/x.so" in done("LD_PRELOAD='./x.so libm.so' ls", {})
    assert "execute /w/a.jar" in done("java -javaagent:./a.jar=on -jar b.jar", {})


def test_without_files_at_hand_only_written_paths_are_told() -> None:
    found = effects("ENV=production sh x; BASH_ENV=./e.sh bash x", Environment(variables={"HOME": "/h"}, folder="/w"))
    assert {one.target for one in found.intents if one.operation is Operation.EXECUTE} == {"/w/x", "/w/e.sh"}


@each(
    "name, value, command",
    [
        ("core.pager", "less", "less"),
        ("alias.x", "!cat a", "cat a"),
        ("alias.x", "commit", ""),
        ("filter.lfs.clean", "cat b", "cat b"),
        ("core.fsmonitor", "true", ""),
        ("core.autocrlf", "input", ""),
    ],
)
def test_a_setting_of_git_is_a_command_by_its_name(name: str, value: str, command: str) -> None:
    assert command_of("git", name, value) == command


def test_settings_of_git_are_named_by_their_section() -> None:
    text = '[core]\n\thooksPath = .husky/_\n[filter "x"]\n clean = cat c\n[user]\nname\n'
    assert list(git_settings(text)) == [("core.hookspath", ".husky/_"), ("filter.x.clean", "cat c"), ("user.name", "")]
    assert list(git_settings("")) == []


def test_a_variable_is_a_preload_if_its_value_names_a_file() -> None:
    assert loads_file("BASH_ENV", "x.sh")
    assert loads_file("NODE_OPTIONS", "--max-old-space-size=4096 --require ./x.js")
    assert not loads_file("NODE_OPTIONS", "--max-old-space-size=4096")
    assert not loads_file("PAGER", "less")
    assert not loads_file("BASH_ENV", "")


def test_the_table_speaks_of_itself() -> None:
    assert {"BASH_ENV", "GIT_CONFIG_VALUE_0"} <= LOADING
    assert VARIABLES["ENV"].as_ == "sh"
    assert "conftest.py" in MODULES["pytest"]
    assert MODULES["vite"] == ("vite.config.{js,cjs,mjs,ts,cts,mts}",)
    assert WHOLE["direnv"] == (".envrc",)
    assert set(WHOLE_WITH) <= set(WHOLE)
    assert HOOKS["push"] == ("pre-push",)
