"""What programs make of texts that are run in the end."""

import base64
import codecs

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.carrying import passed_on
from tallystick.intent.shell.files import read
from tallystick.model.script import Command, Word
from tests.support.cases import each

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=200)


def passed(line: str, text: str | None) -> tuple[str | None, bool]:
    words = tuple(Word(word) for word in line.split(" "))
    held, is_exact = passed_on(words[0].text, Command(words=words), text)
    return read(held), is_exact


@given(TEXTS)
def test_what_is_encoded_is_decoded(text: str) -> None:
    assert passed("base64 -d", base64.b64encode(text.encode()).decode()) == (text, True)
    assert passed("base32 --decode", base64.b32encode(text.encode()).decode()) == (text, True)
    assert passed("xxd -r -p", text.encode().hex()) == (text, True)
    assert passed("openssl enc -d -base64", base64.encodebytes(text.encode()).decode()) == (text, True)


@given(st.text("abcdefXYZ 019~/.", max_size=80))
def test_letters_that_are_turned_are_turned_back(text: str) -> None:
    assert passed("tr a-zA-Z n-za-mN-ZA-M", codecs.encode(text, "rot13")) == (text, True)
    assert passed("rev", text[::-1]) == (text, True)


@each(
    "line, expected",
    [
        ("cat", ("x", True)),
        ("tee out", ("x", True)),
        ("tail -n +2", ("x", False)),
        ("sed s/a/b/", ("x", False)),
        ("tr -d x", ("x", False)),
        ("base64", (None, False)),
        ("gunzip", (None, False)),
        ("openssl enc -d -aes-256-cbc -a", (None, False)),
        ("wc -l", (None, False)),
    ],
)
def test_what_is_passed_on(line: str, expected: tuple[str | None, bool]) -> None:
    assert passed(line, "x") == expected


def test_what_is_not_told_stays_so() -> None:
    assert passed("cat", None) == (None, False)
    assert passed("base64 -d", "=") == ("", True)
