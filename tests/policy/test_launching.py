"""Files that programs run though no word of the command names them."""

from tallystick.model.script import Command, Word
from tallystick.policy import launching
from tests.support.cases import each, each_case


def command(line: str) -> Command:
    return Command(words=tuple(map(Word, line.split())), folder="/p")


@each_case("line, path")
def test_what_a_command_loads(line: str, path: str) -> None:
    assert path in list(launching.launched(command(line)))


@each("line", ["pytest --version", "ls", "pip install x", "go build ./...", "git status", "npm --help"])
def test_what_loads_nothing(line: str) -> None:
    assert list(launching.launched(command(line))) == []


@each_case("line, paths")
def test_what_runs_as_a_whole(line: str, paths: list[str]) -> None:
    assert list(launching.as_a_whole(command(line))) == paths


def test_hooks_of_git_are_those_of_its_verb() -> None:
    assert launching.hooks(command("git commit -m x")) == (
        "/p",
        ("commit", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    )
    assert launching.hooks(command("git commit --no-verify -m x")) == (
        "/p",
        ("commit", "prepare-commit-msg", "post-commit"),
    )
    assert launching.hooks(command("git -C ../q push")) == ("/q", ("push", "pre-push"))
    assert launching.hooks(command("git status")) == ("/p", ("status",))
    assert launching.hooks(command("gitk")) is None
    assert launching.hooks(command("git --version")) is None


def test_a_configuration_of_git_names_commands() -> None:
    text = """
[core]
    hooksPath = .husky/_
    fsmonitor = cat a
[alias]
    st = !cat b
    ci = commit
[filter "x"]
    clean = cat c
[credential]
    helper = !cat d
[user]
    name = x
"""
    assert launching.of_git_config(text, "st") == (".husky/_", ("cat a", "cat b", "cat c", "cat d"))
    assert launching.of_git_config(text, "ci") == (".husky/_", ("cat a", "cat c", "cat d"))
    assert launching.of_git_config("", "x") == (None, ())


@each(
    "line, names",
    [
        ("npm install", launching.LIFECYCLE),
        ("npm ci", launching.LIFECYCLE),
        ("yarn", launching.LIFECYCLE),
        ("npm publish", (*launching.LIFECYCLE, *launching.PUBLISHING)),
        ("npm install --ignore-scripts", None),
        ("npm install -g x", None),
        ("npm run build", None),
        ("node x", None),
    ],
)
def test_scripts_of_a_package_that_run_by_themselves(line: str, names: tuple[str, ...] | None) -> None:
    expected = None if names is None else ("/p/package.json", names)
    assert launching.lifecycle(command(line)) == expected


def test_test_runners_are_known() -> None:
    assert launching.is_test_runner("pytest")
    assert launching.is_test_runner("jest")
    assert not launching.is_test_runner("python")
