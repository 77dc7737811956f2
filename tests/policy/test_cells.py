"""Cells of notebooks."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.cells import commands_in
from tests.support.cases import each_case


@each_case("cell, commands, python")
def test_commands_and_python_are_told_apart(cell: str, commands: tuple[str, ...], python: str) -> None:
    assert commands_in(cell) == (commands, python)


@given(st.text(max_size=300))
def test_any_text_is_a_cell(cell: str) -> None:
    commands, python = commands_in(cell)
    assert all(isinstance(command, str) for command in commands)
    assert len(python) <= len(cell)
