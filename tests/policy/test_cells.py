"""Cells of notebooks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.cells import commands_in


@pytest.mark.parametrize(
    ("cell", "commands", "python"),
    [
        ("!cat x", ("cat x",), ""),
        ("files = !ls -a\nprint(files)", ("ls -a",), "print(files)"),
        ("%%bash\ncat x\nls", ("cat x\nls",), ""),
        ("%%time\nf()", (), "f()"),
        ("%env", ("env",), ""),
        ("%cat x", ("cat x",), ""),
        ("%run tool.py --all", ("python tool.py --all",), ""),
        ("%matplotlib inline\nplot()", (), "%matplotlib inline\nplot()"),
        ("x = 5 % 3\nif a != b: pass", (), "x = 5 % 3\nif a != b: pass"),
        ("print(1)", (), "print(1)"),
    ],
)
def test_commands_and_python_are_told_apart(cell: str, commands: tuple[str, ...], python: str) -> None:
    assert commands_in(cell) == (commands, python)


@given(st.text(max_size=300))
def test_any_text_is_a_cell(cell: str) -> None:
    commands, python = commands_in(cell)
    assert all(isinstance(command, str) for command in commands)
    assert len(python) <= len(cell)
