"""What is typed into a program that runs already."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell import Environment
from tallystick.model.intent import Operation
from tallystick.policy.typed import read_typed
from tests.support.cases import each_case

ENVIRONMENT = Environment(variables={"HOME": "/home/dev"}, folder="/w")


def done(*texts: str) -> list[str]:
    """What such texts do, programs left out."""
    readings = (reading for _, reading in read_typed(texts, ENVIRONMENT))
    found = (intent for reading in readings for intent in reading.effects.intents)
    return [f"{intent.operation} {intent.target}" for intent in found if intent.operation is not Operation.RUN]


@each_case("typed, does")
def test_a_command_at_a_prompt_is_a_command(typed: str, does: list[str]) -> None:
    assert done(typed) == does


@each_case("typed")
def test_anything_else_is_none(typed: str) -> None:
    assert done(typed) == []


def test_only_so_many_are_read() -> None:
    assert len(done(*["rm a"] * 100)) == 20


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    list(read_typed([text], ENVIRONMENT))
