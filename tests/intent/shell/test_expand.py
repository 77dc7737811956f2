"""Words: what `tests/intent/shell/test_read.py` does not say of them."""

from tallystick.intent.shell import Environment, read_script
from tallystick.model.script import HOLE
from tests.support.cases import each

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
