"""Functions of Python's library that touch nothing."""

from tallystick.intent.code import python_values as values
from tallystick.intent.code.found import HOME
from tallystick.intent.code.python_given import Call, text_given
from tallystick.model.script import HOLE
from tests.support.cases import each


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
