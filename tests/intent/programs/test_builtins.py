from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does


@pytest.mark.parametrize(
    "text",
    [
        "echo a > b",
        "cd a",
        "export A=b",
        "[ -f a ]",
        "test -e a",
        "true",
        "printf x",
        "set -e",
        "sleep 1",
        "eval 'rm a'",
    ],
)
def test_what_a_shell_has_built_in_touches_no_file(text: str) -> None:
    assert does(text) == []
    assert not acted(text).is_unknown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("history 5", ["read history:"]),
        ("history", ["read history:"]),
        ("history -c", []),
        ("pbpaste", ["read clipboard:"]),
        ("screencapture -x a.png", ["read screen:", "write a.png"]),
        ("history -w f", ["write f"]),
        ("history -a f", ["append f"]),
        ("history -r f", ["read f"]),
        ("xclip -selection clipboard a", ["read a"]),
    ],
)
def test_some_of_it_does(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_the_clipboard_takes_what_it_is_fed() -> None:
    assert acted("pbcopy").reads_input
