"""What protects the machine and is switched off, by programs, services and settings."""

from tallystick.model.script import Word
from tallystick.policy.risks.call_forms import Forms
from tallystick.policy.risks.defences import RISKS, risks, stopped
from tallystick.policy.risks.programs import Started, programs
from tests.policy.risks.readings import found, reading
from tests.support.cases import cases, each, each_case

FORMS = Forms("defences")


@each("name", sorted(FORMS.programs))
def test_to_ask_for_the_version_is_work(name: str) -> None:
    assert FORMS.of(Started(name, (Word("--version"),), name)) is None


FOUND = cases(__file__, "found", dict[str, tuple[str, ...]])


@each("word, command", [(word, command) for word, commands in FOUND.items() for command in commands])
def test_what_is_grave_is_found(word: str, command: str) -> None:
    assert word in found(risks, command)


@each_case("command")
def test_what_only_looks_alike_is_not(command: str) -> None:
    assert found(risks, command) == set()


def test_each_word_is_explained() -> None:
    assert set(RISKS) == set(FOUND)


def units(command: str) -> tuple[str, ...]:
    return tuple(unit for started in programs(reading(command)) for unit in stopped(started))


@each_case("command")
def test_a_service_that_ends_is_named(command: str) -> None:
    assert "x" in units(command)


def test_what_a_process_is_looked_up_by_is_named() -> None:
    assert "auditd" in units("kill -9 $(pidof auditd)")


@each_case("command")
def test_asking_and_starting_end_nothing(command: str) -> None:
    assert units(command) == ()
