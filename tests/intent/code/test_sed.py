"""sed → what it does."""

import pytest

from tests.intent.code.cases import done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s/a/b/g", []),
        ("s/a/w x/;w out.txt", ["write out.txt"]),
        ("/x/r in.txt", ["read in.txt"]),
        ("s/a/b/gw o.txt", ["write o.txt"]),
        ("e rm x", ["sh: rm x"]),
        ("s/a/b/e", ["unknown"]),
        ("1,3d;$!N;/a\\/b/w q", ["write q"]),
        ("s|a|b|;y/abc/def/;p", []),
        ("a\\\ntext w x\nw real", ["write real"]),
        ("/start/,/end/{s/x/y/;w z.txt\n}", ["write z.txt"]),
        ("s/[/]/w/w f", ["write f"]),
        ("w /dev/stdout", []),
        (":a;N;$!ba;s/\\n/ /g", []),
        ("\\,x,w f", ["write f"]),
        ("# w no\np", []),
    ],
)
def test_a_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("sed", text) == expected
