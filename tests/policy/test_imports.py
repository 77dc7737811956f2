"""Modules that code loads from beside it."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.imports import imported
from tests.support.cases import each_case

LANGUAGES = ["python", "javascript", "typescript", "ruby", "perl", "php", "lua"]


def first(language: str, text: str, package: str | None = "/p/a") -> list[str]:
    return [candidates[0] for candidates in imported(language, text, ("/p",), package)]


@each_case("language, text, expected")
def test_where_modules_may_lie(language: str, text: str, expected: list[str]) -> None:
    assert first(language, text) == expected


def test_names_are_looked_for_in_all_folders() -> None:
    assert next(iter(imported("python", "import x", ("/a", "/b"), None))) == (
        "/a/x.py",
        "/a/x/__init__.py",
        "/b/x.py",
        "/b/x/__init__.py",
    )
    assert not any(imported("python", "from . import x", ("/a",), None))


@given(st.sampled_from(LANGUAGES), st.text(max_size=300))
def test_any_text_has_an_answer(language: str, text: str) -> None:
    assert len(list(imported(language, text, ("/p",), "/p"))) <= 200
