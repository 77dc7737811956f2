"""Quotes, escapes and braces, against bash itself where that can be asked."""

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.intent.shell.quotes import alternatives, ansi, bare, count, in_quotes
from tallystick.model.script import STAR
from tests.support.cases import each
from tests.support.laws import examples

PARTS = st.recursive(
    st.sampled_from(["a", "b", "{1..3}", "{03..1}", "{a..c}", "{c..a..2}", "{1..9..4}", "{-1..1}", "{x}", "{}"]),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: "{" + ",".join(parts) + "}"),
        st.lists(inner, min_size=1, max_size=2).map("".join),
    ),
    max_leaves=5,
)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@settings(max_examples=examples(80), deadline=None)
@given(PARTS)
def test_braces_stand_for_the_words_that_bash_makes_of_them(text: str) -> None:
    bash = subprocess.run(["bash", "-c", f"printf '%s\\n' {text}"], capture_output=True, check=True)
    expected = bash.stdout.decode().splitlines()
    if len(expected) <= 32:
        assert alternatives(bare(text)) == expected


def test_a_long_range_is_a_wildcard() -> None:
    assert alternatives(bare("f{1..999999}")) == [f"f{STAR}"]


@given(st.lists(st.sampled_from(["{a,b}", "{c,d,e}", "x"]), max_size=40).map("".join))
def test_braces_never_make_many_words(text: str) -> None:
    assert len(alternatives(bare(text))) <= 128


def test_escapes_are_taken_off() -> None:
    assert bare(r"a\ b\*c*") == f"a b*c{STAR}"
    assert in_quotes(r"\$a\\b\c") == r"$a\b\c"
    assert ansi(r"\x41\101\u0042\cA\n\q") == "AAB\x01\n\\q"


@given(st.text(alphabet="\\xuU0123456789abcdefnrt'\"", max_size=30))
def test_any_escapes_make_text_that_can_be_stored(text: str) -> None:
    assert ansi(text).encode("utf-8").decode("utf-8") == ansi(text)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@settings(max_examples=examples(80), deadline=None)
@given(PARTS)
def test_so_many_words_are_counted_as_bash_makes(text: str) -> None:
    bash = subprocess.run(["bash", "-c", f"printf '%s\\n' {text}"], capture_output=True, check=True)
    assert count(bare(text)) == len(bash.stdout.decode().splitlines())


@each(
    "text, many",
    [
        ("f{1..5000}", 5000),
        ("{a..z}{1..1000}", 26_000),
        ("{a,{1..900}}", 901),
        ("{1..9..3}", 3),
        ("'{1..5}'"[1:-1], 5),
        ("x", 1),
    ],
)
def test_words_that_are_not_made_are_counted(text: str, many: int) -> None:
    assert count(bare(text)) == many


@given(st.text(alphabet="{},.a1", max_size=300))
def test_any_braces_can_be_counted(text: str) -> None:
    assert count(bare(text)) >= 0
