"""What an expression of Python is."""

import ast
import posixpath

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.actions import HOME
from tallystick.intent.code import python_values as values
from tallystick.intent.code.python_values import LONGEST, UNKNOWN, Call, Kind, text_given
from tallystick.model.script import HOLE
from tests.support.cases import each, each_case

PARTS = st.lists(st.sampled_from(["a", "/b", "c/", "", "d/e"]), min_size=1, max_size=4)


@given(PARTS)
def test_paths_are_joined_as_the_system_joins_them(parts: list[str]) -> None:
    expected = posixpath.join(*parts)
    assert posixpath.normpath(values.joined(parts)) == posixpath.normpath(expected)


@given(st.text("ab%{}", max_size=8), st.text("ab", max_size=3))
def test_known_texts_are_formatted_as_python_does_it(template: str, given: str) -> None:
    try:
        expected = template.format(given)
    except (ValueError, IndexError, KeyError):
        return
    assert values.braced(template, [values.text(given)], {}) == values.text(expected)


@each_case("method, args")
def test_methods_of_known_texts_give_what_they_give(method: str, args: list[str]) -> None:
    found = values.of_text(values.text("a/b.txt"), method, [values.text(arg) for arg in args], {})
    made = getattr("a/b.txt", method)(*args)
    expected = values.items([values.text(part) for part in made]) if isinstance(made, list) else values.text(made)
    assert found == expected


def test_what_is_not_known_stays_a_hole() -> None:
    assert values.added(values.text("a"), UNKNOWN) == values.text(f"a{HOLE}")
    assert values.formatted(values.text("%s-%s"), values.items([values.text("a"), UNKNOWN])) == values.text(f"a-{HOLE}")
    assert values.divided(values.path("a"), UNKNOWN) == values.path(f"a/{HOLE}")
    assert values.indexed(values.items([values.text("a")]), ast.Constant(5)) == UNKNOWN


def test_doubling_a_text_ends() -> None:
    found = values.text("x" * 100)
    for _ in range(100):
        found = values.added(found, found)
        assert len(found.text) <= LONGEST
    assert values.items([UNKNOWN] * 1000) == UNKNOWN


def test_members_of_a_path() -> None:
    path = values.path("d/a.tar.gz")
    assert [values.of_path(path, member).text for member in ("parent", "name", "stem", "suffix")] == [
        "d",
        "a.tar.gz",
        "a.tar",
        ".gz",
    ]
    made = values.path_made(path, "with_suffix", [values.text(".x")])
    assert made is not None
    assert (made.kind, made.text) == (Kind.PATH, "d/a.tar.x")


def call(*texts: str) -> Call:
    return Call([values.text(text) for text in texts], {}, 0)


@each(
    "name, args, text",
    [
        ("os.path.join", ("a", "b"), "a/b"),
        ("os.path.dirname", ("a/b",), "a"),
        ("os.path.basename", ("a/b",), "b"),
        ("os.path.abspath", ("a",), "a"),
        ("os.path.expanduser", ("~/a",), f"{HOME}/a"),
        ("os.path.expanduser", ("a~",), "a~"),
        ("os.getenv", ("HOME",), HOME),
        ("os.environ.get", ("USER",), HOLE),
        ("pathlib.Path", ("a", "b"), "a/b"),
        ("pathlib.Path", (), "."),
        ("pathlib.Path.home", (), HOME),
        ("os.getcwd", (), "."),
    ],
)
def test_a_text_is_given(name: str, args: tuple[str, ...], text: str) -> None:
    found = text_given(name, call(*args))
    assert found is not None
    assert found.text == text


def test_what_touches_something_is_not_answered() -> None:
    assert text_given("os.remove", call("a")) is None


def test_an_argument_is_found_by_its_place_or_its_name() -> None:
    made = Call([values.text("a")], {"mode": values.text("w")}, 0)
    assert (made.path(0, "file"), made.path(1, "mode"), made.path(2, "x")) == ("a", "w", None)
