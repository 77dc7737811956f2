from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gh issue create -F b.md", ["read b.md", "send https://github.com"]),
        ("gh -R a/b issue list", ["fetch https://github.com/a/b"]),
        ("gh --hostname h api x", ["fetch https://h/x"]),
        ("gh api x -f a=@f", ["read f", "send https://api.github.com/x"]),
        ("gh api x -X GET -f a=b", ["fetch https://api.github.com/x"]),
        ("gh api x --input -", ["send< https://api.github.com/x"]),
        ("gh repo clone https://h/a/b.git c", ["fetch https://h/a/b.git", "write* c"]),
        ("gh run rerun 1", ["send https://github.com"]),
        ("gh run view 1", ["fetch https://github.com"]),
        ("gh auth login", ["edit /home/dev/.config/gh/hosts.yml"]),
        ("gh version", []),
        ("gh release download v1 -p a.js", ["fetch https://github.com", "write a.js"]),
        ("gh release download v1 -p a.js -D d", ["fetch https://github.com", "write d/a.js"]),
        ("gh release download v1 -p a -p 'b*'", ["fetch https://github.com", "write a", "write* ."]),
        ("gh release download v1 -A zip -O x.zip", ["fetch https://github.com", "write x.zip"]),
        ("gh run download 7 -n logs", ["fetch https://github.com", "write* ."]),
    ],
)
def test_what_goes_to_a_forge_and_comes_from_it(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_files_go_with_what_is_sent_and_answers_are_printed() -> None:
    assert flows("gh release create v1 a") == ["a -> https://github.com"]
    assert acted("gh pr view 1").prints == (0,)
    assert flows("gh release download -D d") == ["https://github.com -> d"]


def test_what_others_added_is_unknown() -> None:
    assert acted("gh extension exec x").is_unknown
