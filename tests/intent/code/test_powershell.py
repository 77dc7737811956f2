"""Texts of PowerShell in the words of a shell."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code.languages import read_code
from tests.support.cases import each_case


@each_case("text, said")
def test_a_text_is_said_in_the_words_of_a_shell(text: str, said: str) -> None:
    read = read_code("powershell", text)
    assert [code.text.plain for code in read.codes] == [said]
    assert not read.is_unknown


def test_what_the_grammar_does_not_know_is_read_as_far_as_it_goes() -> None:
    read = read_code("powershell", "rm a; )) ; rm b")
    assert read.is_unknown
    assert "rm a" in read.codes[0].text.plain


@given(st.text(alphabet="ab $@(){}[]'\"`|;&-=.:\\/,#\n", max_size=120))
def test_any_text_is_read(text: str) -> None:
    read_code("powershell", text)


def test_who_meets_no_powershell_does_not_load_its_grammar() -> None:
    program = (
        "import sys, tallystick.intent.code.languages as l; l.read_code('lua', 'x');"
        " print('tree_sitter_powershell' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.strip() == "False"
