from __future__ import annotations

import pytest

from tallystick.intent.programs import actions_of
from tallystick.intent.programs.packages import package_of
from tallystick.model.script import HOLE, Command, Word
from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("pypi", "a", "pkg:pypi/a"),
        ("pypi", "a==1.0", "pkg:pypi/a@1.0"),
        ("pypi", "a[x,y]>=1", "pkg:pypi/a"),
        ("pypi", "a; python_version<'3'", "pkg:pypi/a"),
        ("npm", "@s/a@^1", "pkg:npm/@s/a@^1"),
        ("npm", "@s/a", "pkg:npm/@s/a"),
        ("deb", "a=1-2", "pkg:deb/a@1-2"),
        ("golang", "a.b/c@latest", "pkg:golang/a.b/c@latest"),
        ("gem", "a", "pkg:gem/a"),
    ],
)
def test_a_package_has_one_name_whatever_its_manager(kind: str, text: str, expected: str) -> None:
    assert package_of(kind, Word(text)).text == expected


def test_a_package_that_is_not_known_stays_so() -> None:
    assert package_of("npm", Word(HOLE)).text == HOLE
    done = actions_of(Command(words=tuple(map(Word, ("pip", "install", f"a=={HOLE}")))))
    assert not done.actions[0].target.is_known


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pip install -r a -c b c", ["read a", "read b", "fetch pkg:pypi/c"]),
        ("pip install -e ./d[x]", ["read* ./d"]),
        ("pip install https://h/a.whl", ["fetch https://h/a.whl"]),
        ("pip wheel -w d a", ["fetch pkg:pypi/a", "write* d"]),
        ("uv pip install a", ["fetch pkg:pypi/a"]),
        ("uv venv", ["create* .venv"]),
        ("uv run a.py", ["execute a.py"]),
        ("npm i --prefix d", ["read d/package.json", "edit* d/node_modules"]),
        ("npm i --no-save a", ["fetch pkg:npm/a", "edit* node_modules"]),
        ("npm install git+https://h/a", ["fetch git+https://h/a", "edit package.json", "edit* node_modules"]),
        ("npm publish ./d", ["read* ./d", "send pkg:npm"]),
        ("npm test", ["execute package.json"]),
        ("yarn", ["read package.json", "edit* node_modules"]),
        ("yarn dev", ["execute package.json"]),
        ("yarn --version", []),
        ("npx prettier -w a", ["edit* a"]),
        ("npx a b", ["fetch pkg:npm/a"]),
        ("gem push a.gem", ["read a.gem", "send pkg:gem"]),
        ("bundle", []),
    ],
)
def test_what_is_fetched_and_where_it_goes(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_what_a_script_of_the_project_does_is_unknown() -> None:
    assert acted("npm run x").is_unknown
    assert acted("yarn x").is_unknown
    assert acted("npx x").is_unknown
    assert not acted("npx eslint a").is_unknown
    assert not acted("npm install").is_unknown


def test_packages_go_into_the_folder_of_the_project() -> None:
    assert flows("npm i a b") == ["pkg:npm/a -> node_modules", "pkg:npm/b -> node_modules"]
    assert flows("pip install -t d a") == ["pkg:pypi/a -> d"]


def test_a_runner_of_runners_comes_to_an_end() -> None:
    assert acted("npx " * 1900).is_unknown
    assert acted("pipx run " * 900).is_unknown
