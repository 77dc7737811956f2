"""What build tools run."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.recipes import Recipe, recipe_of


def made(text: str, *arguments: str) -> Sequence[str] | None:
    found = recipe_of("make", arguments, "/w", {"/w/Makefile": text}.get)
    return found.texts if found is not None else None


def test_the_first_rule_is_made_where_none_is_named() -> None:
    assert made(".PHONY: x\na: b\n\techo a\nb:\n\techo b\nc:\n\techo c\n") == ("echo b", "echo a")
    assert made("a:\n\techo a\n", "b") is None


def test_variables_are_filled_in_and_what_is_not_told_is_no_name() -> None:
    assert made("X = 1\ny := $(X)2\na:\n\techo $(y) ${X} $@ $$HOME $(Z)\n") == (
        "echo 12 1 a $HOME ${MAKE_DOES_NOT_TELL}",
    )
    assert made("X = 1\na:\n\techo $(X)\n", "a", "X=2") == ("echo 2",)


def test_signs_before_a_line_are_not_of_it() -> None:
    assert made("a:\n\t@-echo 1\n\t+echo 2; \\\n\techo 3\n") == ("echo 1", "echo 2; \\\n\techo 3")


def test_what_leads_back_to_itself_ends() -> None:
    assert made("a: b\n\techo a\nb: a\n\techo b\n") == ("echo b", "echo a")
    found = made("X = $(X)\na:\n\techo $(X)\n")
    assert found is not None
    assert len(found) == 1


def test_a_script_runs_with_what_is_before_and_after_it() -> None:
    package = '{"scripts": {"prebuild": "a", "build": "b", "postbuild": "c", "test": "t"}}'
    read = {"/w/package.json": package}.get
    assert recipe_of("npm", ["run", "build"], "/w", read) == Recipe("/w/package.json", "build", ("a", "b", "c"), "/w")
    assert recipe_of("npm", ["test"], "/w", read) == Recipe("/w/package.json", "test", ("t",), "/w")
    assert recipe_of("npm", ["install"], "/w", read) is None
    assert recipe_of("npm", ["build"], "/w", read) is None
    assert recipe_of("yarn", ["build"], "/w", read) == Recipe("/w/package.json", "build", ("a", "b", "c"), "/w")
    assert recipe_of("npm", ["run", "build"], "/x", read) is None
    assert recipe_of("ls", ["build"], "/w", read) is None


@given(
    st.text(alphabet="a:=$(){}\t\n\\ @%#", max_size=60),
    st.lists(st.sampled_from(["a", "-C", "-f", "X=$(X)"]), max_size=3),
)
def test_any_makefile_is_read_and_no_line_is_endless(text: str, arguments: list[str]) -> None:
    found = recipe_of("make", arguments, "/w", lambda path: text)
    assert found is None or all(len(line) <= 4096 + 64 for line in found.texts)


@given(st.text(max_size=40))
def test_any_package_is_read(text: str) -> None:
    recipe_of("npm", ["run", "a"], "/w", lambda path: text)


def test_a_package_may_lie_in_a_folder_that_an_option_names() -> None:
    files = {"/w/web/package.json": '{"scripts": {"test": "vitest"}}'}
    for words in (["--prefix", "web", "test"], ["-C", "web", "run", "test"], ["run", "test", "--prefix=web"]):
        found = recipe_of("npm", words, "/w", files.get)
        assert found is not None
        assert found.texts == ("vitest",)
