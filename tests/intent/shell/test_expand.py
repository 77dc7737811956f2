"""Variables, substitutions, arithmetic and quotes of one word."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.expand import computed
from tallystick.intent.shell.read import read_script
from tallystick.model.script import HOLE
from tests.support.cases import each, each_case

UNTOLD = (
    "", "x", "x+1", "1/0", "1%0", "2**9999", "1<<9999", "9**60", "1,2", "a=1", "1==1", "i++", "08", "99#1",
    "__import__", "f(1)", "1 if 1 else 2",
    "(" * 79, "1" * 79, "2**-1",
)  # fmt: skip


@each_case("text, value")
def test_numbers_are_computed_as_the_shell_does(text: str, value: int) -> None:
    assert computed(text) == value


@each("text", UNTOLD)
def test_what_is_no_number_or_too_large_is_not_told(text: str) -> None:
    assert computed(text) is None


@given(st.integers(-1000, 1000), st.integers(-1000, 1000))
def test_a_quotient_and_a_remainder_make_the_number_again(left: int, right: int) -> None:
    quotient, remainder = computed(f"({left})/({right})"), computed(f"({left})%({right})")
    if right == 0:
        assert quotient is None
    else:
        assert quotient is not None
        assert remainder is not None
        assert quotient * right + remainder == left


@given(st.text(alphabet="0123456789abcx#+-*/%()<>&|^~ ", max_size=80))
def test_any_expression_gives_a_bounded_number_or_nothing(text: str) -> None:
    value = computed(text)
    assert value is None or abs(value) <= 1 << 63


FILES = ["/w/a.txt", "/w/b.txt", "/q/c.txt"]
ENVIRONMENT = Environment(
    variables={"HOME": "/home/dev"},
    folder="/w",
    glob=lambda pattern: [path for path in FILES if path.startswith(pattern.partition("*")[0])],
)


def words(text: str) -> list[str]:
    return [word.text for word in read_script(text, ENVIRONMENT).commands[-1].words[1:]]


@each(
    "text, expected",
    [
        ("a *.txt", ["a.txt", "b.txt"]),
        ("a ./*", ["./a.txt", "./b.txt"]),
        ("a /q/*", ["/q/c.txt"]),
        ("a '*'", ["*"]),
        ("X=*.txt; a $X", ["a.txt", "b.txt"]),
        ("X=(b c); a ${X[@]} ${X[1]}", ["b", "c", "c"]),
        ('set -- b "c d"; a "$@"', ["b", "c d"]),
        ("X=d/e.tar.gz; a ${X##*/} ${X%/*} ${X%.*} ${X%%.*} ${X#*/}", ["e.tar.gz", "d", "d/e.tar", "d/e", "e.tar.gz"]),
        ("X=de; a ${X%*} ${X#d*e}", [HOLE, HOLE]),
        ("a {1..3} {b..c}", ["1", "2", "3", "b", "c"]),
        ("a {b,{c,d}}", ["b", "c", "d"]),
    ],
)
def test_words_are_expanded(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_pattern_that_names_no_file_stays_one() -> None:
    assert len(words("a /none/*")) == 1


def test_words_that_stand_too_deep_in_words_are_not_told() -> None:
    found = read_script("a " + '"${x:-' * 40 + "b" + '}"' * 40, ENVIRONMENT)
    assert "depth" in found.opaque
