from tallystick.model.script import Command, Word
from tallystick.policy.protected.own_package import replaces_package
from tests.support.cases import each_case


def command(text: str, folder: str = "/home/dev/project") -> Command:
    return Command(words=tuple(map(Word, text.split())), folders=(folder,))


@each_case("text")
def test_what_would_replace_it_is_found(text: str) -> None:
    assert replaces_package(command(text))


@each_case("text")
def test_what_installs_something_else_is_not(text: str) -> None:
    assert not replaces_package(command(text))


def test_a_project_of_that_name_may_be_installed_by_who_works_on_it() -> None:
    assert not replaces_package(command("pip install -e /home/dev/tallystick[dev]", "/home/dev/tallystick"))
    assert replaces_package(command("pip install -e /home/dev/tallystick", "/home/dev/project"))
