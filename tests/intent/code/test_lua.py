"""Lua → what it does."""

import pytest

from tests.intent.code.cases import done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("local f = io.open('a', 'w') f:write('x') os.remove('b')", ["write a", "delete b"]),
        ("for l in io.lines('a') do print(l) end", ["read a"]),
        (
            "os.rename('a', 'b') os.execute('ls') io.popen('ls ' .. x)",
            ["rename a", "copy_dest b", "sh: ls", "sh: ls _"],
        ),
        ("dofile 'c.lua'", ["execute c.lua"]),
        ("require 'x'", ["unknown"]),
        ("io.open(os.getenv('HOME') .. '/a')", ["read /home/dev/a"]),
        ("-- os.remove('no')\nprint([[os.remove('no')]])", []),
    ],
)
def test_a_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("lua", text) == expected
