"""Code that shows all environment variables."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks.environments_in_code import prints_environment
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
