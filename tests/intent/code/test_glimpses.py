"""Long texts of code that are looked at where something stands out."""

import pytest

from tallystick.intent.code import glimpse_code, read_code
from tallystick.intent.code.found import Found
from tallystick.intent.code.glimpses import read_glimpses

PADDING = "x = 1 + 1\n" * 20_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("os.system('cat /k')", "cat /k"),
        ("execSync(`cat /k`)", "cat /k"),
        ("subprocess.run(['cat', '/k'])", "cat /k"),
        ("open('/k')", "/k"),
        ("fs.readFileSync('/k')", "/k"),
    ],
)
def test_what_stands_out_is_found_far_in_a_text(text: str, expected: str) -> None:
    read = glimpse_code(PADDING + text)
    assert expected in [*(action.target.plain for action in read.actions), *(code.text.plain for code in read.codes)]
    assert read.is_unknown


def test_plain_text_has_nothing_that_stands_out() -> None:
    read = glimpse_code(PADDING)
    assert (read.actions, read.codes) == ((), ())


def test_a_reader_that_stops_is_helped_out() -> None:
    read = read_code(
        "javascript", PADDING + "require('fs').unlinkSync('/k')\nrequire('child_process').execSync('cat /k')"
    )
    assert "cat /k" in [code.text.plain for code in read.codes]


def test_what_stands_before_a_place_is_left_alone() -> None:
    found = Found()
    read_glimpses("open('/a')\n\nopen('/b')", found, start=5)
    assert [action.target.plain for action in found.actions] == ["/b"]
