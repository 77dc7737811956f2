from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.paths import placed
from tests.support.cases import each


@each(
    "path, folder, found",
    [
        ("a", "/w", "/w/a"),
        ("./a//b/../c/", "/w", "/w/a/c"),
        ("../../../a", "/w/x", "/a"),
        ("/a/./b", "/w", "/a/b"),
        ("//a", "/w", "/a"),
        ("a", "/", "/a"),
        ("", "/w", "/w"),
        ("a/../b", None, "b"),
        ("../a", None, "../a"),
        ("a", "", "a"),
    ],
)
def test_a_path_has_one_spelling(path: str, folder: str | None, found: str) -> None:
    assert placed(path, folder) == found


@given(st.text("a./~ ", max_size=20), st.sampled_from(["/w", "/", "/w/x", None]))
def test_what_is_simple_stays_as_it_is(path: str, folder: str | None) -> None:
    once = placed(path, folder)
    assert placed(once, None) == once
    if folder is not None:
        assert once.startswith("/")
        assert "//" not in once
