"""Package managers: what they fetch and where they put it."""

from __future__ import annotations

from tallystick.intent.programs import actions_of
from tallystick.intent.programs.packages import package_of
from tallystick.model.script import HOLE, Command, Word
from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("kind, text, expected")
def test_a_package_has_one_name_whatever_its_manager(kind: str, text: str, expected: str) -> None:
    assert package_of(kind, Word(text)).text == expected


def test_a_package_that_is_not_known_stays_so() -> None:
    assert package_of("npm", Word(HOLE)).text == HOLE
    done = actions_of(Command(words=tuple(map(Word, ("pip", "install", f"a=={HOLE}")))))
    assert not done.actions[0].target.is_known


@each_case("text, expected")
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


@each_case("text, expected")
def test_a_change_of_the_machine_is_an_elevation(text: str, expected: list[str]) -> None:
    assert does(text) == expected
