"""Files that programs run though no word of the command names them."""

import pytest

from tallystick.model.script import Command, Word
from tallystick.policy import launching


def command(line: str) -> Command:
    return Command(words=tuple(map(Word, line.split())), folder="/p")


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("pytest", "/p/conftest.py"),
        ("pytest -q tests/test_a.py", "/p/tests/test_a.py"),
        ("pytest tests/unit", "/p/tests/unit/conftest.py"),
        ("python -m pytest", "/p/conftest.py"),
        ("python3.12 -m unittest", "/p/tests/test_*.py"),
        ("npx jest", "/p/jest.config.ts"),
        ("vitest run", "/p/vitest.config.ts"),
        ("npx vite build", "/p/vite.config.js"),
        ("eslint .", "/p/eslint.config.mjs"),
        ("bundle install", "/p/Gemfile"),
        ("rspec", "/p/spec/spec_helper.rb"),
        ("pip install -e .", "/p/setup.py"),
        ("python -m build", "/p/setup.py"),
        ("python -m a.b", "/p/a/__init__.py"),
        ("uvicorn app.main:app", "/p/app/main.py"),
        ("cargo build", "/p/build.rs"),
        ("cargo run", "/p/src/main.rs"),
        ("go test ./...", "/p/*.go"),
    ],
)
def test_what_a_command_loads(line: str, path: str) -> None:
    assert path in list(launching.launched(command(line)))


@pytest.mark.parametrize(
    "line", ["pytest --version", "ls", "pip install x", "go build ./...", "git status", "npm --help"]
)
def test_what_loads_nothing(line: str) -> None:
    assert list(launching.launched(command(line))) == []


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("python -m app", ["/p/app.py", "/p/app/__main__.py"]),
        ("foreman start", ["/p/Procfile", "/p/Procfile.dev"]),
        ("terraform apply -auto-approve", ["/p/*.tf"]),
        ("terraform fmt", []),
        ("deno task x", ["/p/deno.json", "/p/deno.jsonc"]),
        ("run-parts --test hooks", ["/p/hooks/*"]),
        ("jupyter nbconvert --execute a.ipynb", ["/p/a.ipynb"]),
        ("jupyter nbconvert --to html a.ipynb", []),
        ("find s -name *.sh -exec bash {} ;", ["/p/s/*.sh", "/p/s/*/*.sh", "/p/s/*/*/*.sh"]),
        ("find s -name *.sh -exec rm {} ;", []),
    ],
)
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


@pytest.mark.parametrize(
    ("line", "names"),
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
