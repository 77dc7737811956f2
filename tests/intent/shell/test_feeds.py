"""What programs make of texts that are run in the end."""

import base64
import codecs
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from tallystick.intent.shell.feeds import Feed, carried, echoed, passed_on, printed, printed_by, read_from
from tallystick.intent.shell.files import read
from tallystick.model.intent import Chance
from tallystick.model.script import HOLE, Command, Redirect, Role, Word
from tests.support.cases import each
from tests.support.laws import examples

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


PLAIN = st.text(alphabet="ab c-%", max_size=6)


def command(*words: str, **more: object) -> Command:
    return Command(words=tuple(Word(text) for text in words), **more)  # type: ignore[arg-type]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@settings(max_examples=examples(60), deadline=None)
@given(
    st.sampled_from(
        [
            ["echo"],
            ["echo", "-n"],
            ["echo", "-e", r"a\tb\x41"],
            ["printf", "%s\\n"],
            ["printf", "%s-%s|"],
            ["printf", "x%%\\n"],
            ["printf", "%5s|%-4s|"],
        ]
    ),
    st.lists(PLAIN, max_size=4),
)
def test_what_is_told_of_echo_and_printf_is_what_bash_prints(start: list[str], more: list[str]) -> None:
    said = echoed(start[0], [Word(text) for text in (*start[1:], *more)])
    bash = subprocess.run(["bash", "-c", '"$@"', "_", *start, *more], capture_output=True, check=False)
    if said is not None and bash.returncode == 0:
        assert said.text == bash.stdout.decode()


def test_what_goes_elsewhere_is_not_printed() -> None:
    assert printed(command("echo", "a")) == Word("a\n")
    assert printed(command("echo", "a", redirects=(Redirect(Word("f"), True, ">"),))) is None
    assert printed(command("echo", "a", redirects=(Redirect(Word("f"), True, ">", "2"),))) == Word("a\n")
    assert printed(command("echo", "a", is_diverted=True)) is None


def test_what_is_not_told_is_none() -> None:
    assert printed(command("ls")) is None
    assert printed(command("echo", HOLE)) is None
    assert printed(command("cat", "f", input=Word("a"))) is None
    assert printed(command("base64", "-d", input=Word("!"))) in (None, Word(""))
    assert printed(command("pwd")) is None


def test_what_passes_through_is_told() -> None:
    assert printed(command("cat", input=Word("a"))) == Word("a")
    assert printed(command("base64", "-d", input=Word("YWI="))) == Word("ab")
    assert printed(command("pwd", folder="/w")) == Word("/w\n")
    assert printed(command("dirname", "a/b")) == Word("a\n")
    assert printed(command("basename", "a/b/")) == Word("b\n")


def test_of_several_commands_those_that_print_tell() -> None:
    cd, echo, group = command("cd", "x"), command("echo", "a"), Command(words=(), role=Role.GROUP)
    assert printed_by([cd, echo, group]) == Word("a\n")
    assert printed_by([echo, cd, echo]) == Word("a\na\n")
    assert printed_by([echo, command("ls")]) is None
    assert printed_by([echo, structs.replace(echo, chance=Chance.MAYBE)]) is None
    assert printed_by([cd]) is None
    assert printed_by([Command(words=(), role=Role.UNTOLD), echo]) is None


def test_a_pipe_carries_what_is_printed_or_else_the_words() -> None:
    assert carried([command("echo", "a")], Feed(), (3,)) == Feed("a\n", Word("a\n"), (3,))
    assert carried([command("ls", "a")], Feed("q"), (3,)) == Feed("ls a q", None, (3,))


def test_a_redirect_feeds_the_name_of_its_file() -> None:
    assert read_from([Redirect(Word("f"), False, "<")], Feed()).text == "f"
    assert read_from([Redirect(Word("f"), True, ">")], Feed("q")).text == "q"
    assert read_from([Redirect(Word("f"), False, "<", "3")], Feed("q")).text == "q"
