"""Environment variables that are printed: as a whole, or single ones whose names promise a secret."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks.environments import is_secret_variable, prints_environment, risks, variable_risks
from tests.policy.risks.readings import found
from tests.support.cases import cases, each, each_case

SHOWN = cases(__file__, "shown", tuple[tuple[str, str], ...])


@each("language, text", SHOWN)
def test_all_are_shown(language: str, text: str) -> None:
    assert prints_environment(language, text)


@each_case("language, text")
def test_one_is_asked_for_or_all_are_handed_on(language: str, text: str) -> None:
    assert not prints_environment(language, text)


@given(st.sampled_from([language for language, _ in SHOWN]), st.text(max_size=300))
def test_any_text_has_an_answer(language: str, text: str) -> None:
    assert prints_environment(language, text) in (True, False)


@each_case("command")
def test_printing_all_is_found(command: str) -> None:
    assert found(risks, command) == {"prints-environment"}


@each_case("command")
def test_setting_or_asking_for_one_is_work(command: str) -> None:
    assert found(risks, command) == set()


@each_case("command")
def test_a_variable_with_a_telling_name_is_found(command: str) -> None:
    assert found(variable_risks, command) == {"prints-secret-variable"}


@each_case("command")
def test_other_variables_and_uses_are_work(command: str) -> None:
    assert found(variable_risks, command) == set()


@each_case("name, wanted")
def test_a_name_promises_or_not(name: str, wanted: bool) -> None:
    assert is_secret_variable(name) is wanted
