"""What is typed into a program that runs already."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell import Environment
from tallystick.model.intent import Operation
from tallystick.policy.typed import read_typed

ENVIRONMENT = Environment(variables={"HOME": "/home/dev"}, folder="/w")


def done(*texts: str) -> list[str]:
    """What such texts do, programs left out."""
    readings = (reading for _, reading in read_typed(texts, ENVIRONMENT))
    found = (intent for reading in readings for intent in reading.effects.intents)
    return [f"{intent.operation} {intent.target}" for intent in found if intent.operation is not Operation.RUN]


@pytest.mark.parametrize(
    ("typed", "does"),
    [
        ("rm -r ~/a\n", ["delete /home/dev/a"]),
        ("rm -r ~/a{enter}", ["delete /home/dev/a"]),
        ("\x15rm -r ~/a\r", ["delete /home/dev/a"]),
        ("cd /tmp && rm a", ["delete /tmp/a"]),
        ("for i in 1; do rm a; done", ["delete /w/a"]),
        ("send_keys 0 'rm a' Enter", ["delete /w/a"]),
        ("new_session 'rm a'", ["delete /w/a"]),
        ("import os; os.remove('a')", ["delete /w/a"]),
        ("open('a').read()\n", ["read /w/a"]),
    ],
)
def test_a_command_at_a_prompt_is_a_command(typed: str, does: list[str]) -> None:
    assert done(typed) == does


@pytest.mark.parametrize(
    "typed",
    [
        "y\n",
        "",
        "\x03",
        "{enter}",
        "print('rm -r ~')\n",
        "SELECT * FROM a;",
        "please remove (all of) ~/a",
        ":q!",
        "inspect_pane 0",
    ],
)
def test_anything_else_is_none(typed: str) -> None:
    assert done(typed) == []


def test_only_so_many_are_read() -> None:
    assert len(done(*["rm a"] * 100)) == 20


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    list(read_typed([text], ENVIRONMENT))
