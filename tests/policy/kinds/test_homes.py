"""Paths in one form, and what of them lies below a home folder."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.kinds.homes import below_home, is_above_homes, plain
from tests.support.cases import each, each_case

HOME = "/home/dev"


@each_case("path, wanted")
def test_a_path_has_one_form(path: str, wanted: str) -> None:
    assert plain(path) == wanted


@given(st.text(max_size=200))
def test_the_form_is_stable(path: str) -> None:
    assert plain(plain(path)) == plain(path) or "/proc/" in path.lower() or path.startswith("/")


@each(
    "path, wanted",
    [
        ("/home/dev", ""),
        ("/home/dev/.netrc", ".netrc"),
        ("/users/me/.netrc", ".netrc"),
        ("/mnt/c/users/me/.netrc", ".netrc"),
        ("~other/.netrc", ".netrc"),
        (".netrc", ".netrc"),
        ("/etc/hosts", None),
        ("/home", None),
        ("/mnt/c/windows", None),
    ],
)
def test_it_is_told_what_lies_below_a_home_folder(path: str, wanted: str | None) -> None:
    assert below_home(path, HOME) == wanted


@each("path, wanted", [("/", True), ("/home", True), ("/users", True), (HOME, False), ("/etc", False)])
def test_it_is_told_what_lies_above_home_folders(path: str, wanted: bool) -> None:
    assert is_above_homes(path, HOME) is wanted
