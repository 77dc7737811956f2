"""Programs in languages without a reader of their own, read by verbs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.actions import Found
from tallystick.intent.code.languages import glimpse_code, read_code
from tallystick.intent.code.verbs import read_glimpses
from tests.support.cases import each, each_case


@each_case("language, text, expected")
def test_what_a_text_does_is_found(language: str, text: str, expected: list[str]) -> None:
    read = read_code(language, text, home="/h")
    found = [f"{action.operation} {action.target.plain}" for action in read.actions]
    found += [f"{code.language}: {code.text.plain}" for code in read.codes]
    assert list(dict.fromkeys(found)) == expected


@each("language", ["applescript", "elisp", "julia", "other", "r"])
def test_it_is_never_all(language: str) -> None:
    assert read_code(language, "x").is_unknown
    assert not read_code(language, " ").is_unknown


@given(st.sampled_from(["applescript", "elisp", "julia", "other", "r"]), st.text(max_size=300))
def test_any_text_is_read(language: str, text: str) -> None:
    read = read_code(language, text)
    assert all(action.target.text for action in read.actions)


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
