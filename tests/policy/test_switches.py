"""Settings in which an editor lets agents and tasks act unasked."""

from tallystick.policy.switches import TAG, switches_of
from tests.support.cases import each_case


@each_case("text")
def test_a_setting_that_ends_asking_is_found(text: str) -> None:
    assert switches_of(text) == {TAG}


@each_case("text")
def test_other_settings_are_none(text: str) -> None:
    assert switches_of(text) == frozenset()


def test_a_long_hostile_text_is_answered() -> None:
    for piece in ('"chat.tools.', '"a.autoapprove": {', '"' + "x" * 60 + ".yolo"):
        assert switches_of(piece * 100_000) <= {TAG}
