"""Code that starts processes without end, and servers and workers that do not."""

from tallystick.policy.risks.forking import multiplies
from tests.support.cases import each, each_case


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
