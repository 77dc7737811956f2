from __future__ import annotations

import pytest

from tests.intent.programs.acting import acted, does


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git checkout main", ["edit* ."]),
        ("git checkout origin/a.b", ["edit* ."]),
        ("git checkout src/", ["write* src/"]),
        ("git checkout main a.c", ["write a.c"]),
        ("git checkout --orphan x", []),
        ("git -C d checkout -- a", ["write d/a"]),
        ("git switch -", ["edit* ."]),
        ("git restore -SW a", ["write a"]),
        ("git restore -S a", []),
        ("git reset a", []),
        ("git reset --keep", ["edit* ."]),
        ("git rm -rf d", ["delete* d"]),
        ("git mv a d/", ["rename a", "copy_dest d/a"]),
        ("git mv a", []),
        ("git clean -fde x", ["delete* ."]),
        ("git stash drop", []),
        ("git apply --stat p", ["read p"]),
        ("git diff HEAD -- a", ["read a"]),
        ("git diff main..x.y", []),
        ("git blame -L 1,2 a", ["read a"]),
        ("git hash-object a", ["read a"]),
    ],
)
def test_the_working_tree_changes_where_the_words_say(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_patch_on_the_input_names_its_files() -> None:
    fed = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n"
    assert does("git -C d apply", fed=fed) == ["edit< d/x"]
    assert acted("git apply p").flows == ((0, 1),)
    assert does("git apply --cached", fed=fed) == []
