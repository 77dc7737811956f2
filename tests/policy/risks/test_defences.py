"""What protects the machine and is switched off, by programs, services and settings."""

from tallystick.model.script import Word
from tallystick.policy.risks.call_forms import form_of, programs_of
from tallystick.policy.risks.defences import RISKS, risks
from tallystick.policy.risks.programs import Started
from tests.policy.risks.readings import found
from tests.support.cases import cases, each, each_case


@each("name", sorted(programs_of("defences")))
def test_to_ask_for_the_version_is_work(name: str) -> None:
    assert form_of("defences", Started(name, (Word("--version"),), name)) is None


FOUND = cases(__file__, "found", dict[str, tuple[str, ...]])


@each("word, command", [(word, command) for word, commands in FOUND.items() for command in commands])
def test_what_is_grave_is_found(word: str, command: str) -> None:
    assert word in found(risks, command)


@each_case("command")
def test_what_only_looks_alike_is_not(command: str) -> None:
    assert found(risks, command) == set()


def test_each_word_is_explained() -> None:
    assert set(RISKS) == set(FOUND)
