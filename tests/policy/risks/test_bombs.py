"""What multiplies without end, or fills a disk."""

from tallystick.policy.risks.bombs import RISKS, multiplies, risks
from tests.policy.risks.readings import found
from tests.support.cases import cases, each, each_case


@each_case("language, text")
def test_processes_without_end_are_seen(language: str, text: str) -> None:
    assert multiplies(language, text)


@each_case("language, text")
def test_workers_and_servers_are_not(language: str, text: str) -> None:
    assert not multiplies(language, text)


@each("text", ["while(1){" * 2000 + "fork", "fork(" * 4000, "sub f{" * 3000 + "fork f"])
@each("language", ["python", "perl", "javascript"])
def test_text_made_to_hurt_is_answered(language: str, text: str) -> None:
    assert multiplies(language, text) in (True, False)


@each_case("language, text")
def test_a_program_or_function_that_starts_itself_anew_is_seen(language: str, text: str) -> None:
    assert multiplies(language, text)


@each_case("language, text")
def test_supervisors_pools_wrappers_and_one_new_start_are_not(language: str, text: str) -> None:
    assert not multiplies(language, text)


FOUND = cases(__file__, "found", dict[str, tuple[str, ...]])


@each("word, command", [(word, command) for word, commands in FOUND.items() for command in commands])
def test_what_is_grave_is_found(word: str, command: str) -> None:
    assert word in found(risks, command)


@each_case("command")
def test_what_only_looks_alike_is_not(command: str) -> None:
    assert found(risks, command) == set()


def test_each_word_is_explained() -> None:
    assert set(RISKS) == set(FOUND)
