"""Files that run though the command does not name them: hooks, configurations that are code, tests, modules."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.script import Command, Role, Word
from tallystick.policy.calls import launching
from tallystick.policy.calls.launching import imported
from tests.support.cases import each, each_case


def command(line: str) -> Command:
    return Command(words=tuple(map(Word, line.split())), folder="/p")


@each_case("line, path")
def test_what_a_command_loads(line: str, path: str) -> None:
    assert path in list(launching.launched(command(line)))


@each("line", ["pytest --version", "ls", "pip install x", "go build ./...", "git status", "npm --help"])
def test_what_loads_nothing(line: str) -> None:
    assert list(launching.launched(command(line))) == []


def test_a_program_that_runs_another_one_loads_its_own_files() -> None:
    around = Command(
        words=(), spelled=tuple(map(Word, ["direnv", "exec", ".", "make"])), role=Role.WRAPPER, folder="/p"
    )
    assert list(launching.as_a_whole(around)) == ["/p/.envrc"]


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


LANGUAGES = ["python", "javascript", "typescript", "ruby", "perl", "php", "lua"]


def first(language: str, text: str, package: str | None = "/p/a") -> list[str]:
    return [candidates[0] for candidates in imported(language, text, ("/p",), package)]


@each_case("language, text, expected")
def test_where_modules_may_lie(language: str, text: str, expected: list[str]) -> None:
    assert first(language, text) == expected


def test_names_are_looked_for_in_all_folders() -> None:
    assert next(iter(imported("python", "import x", ("/a", "/b"), None))) == (
        "/a/x.py",
        "/a/x/__init__.py",
        "/b/x.py",
        "/b/x/__init__.py",
    )
    assert not any(imported("python", "from . import x", ("/a",), None))


@given(st.sampled_from(LANGUAGES), st.text(max_size=300))
def test_any_text_has_an_answer(language: str, text: str) -> None:
    assert len(list(imported(language, text, ("/p",), "/p"))) <= 200
