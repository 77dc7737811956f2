from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("svn co https://h/y d", ["fetch https://h/y", "write* d"]),
        ("svn up a", ["edit* a"]),
        ("svn rm a", ["delete* a"]),
        ("svn ci -m x", ["send default"]),
        ("svn cat a", ["read a"]),
        ("svn", []),
        ("hg push h", ["send h"]),
        ("hg commit -m x", []),
    ],
)
def test_the_kinds_of_subcommands(text: str, expected: list[str]) -> None:
    assert does(text) == expected
    assert not acted(text).is_unknown


def test_another_subcommand_is_unknown() -> None:
    assert acted("svn frobnicate").is_unknown
