from __future__ import annotations

from tests.intent.programs.acting import acted, does
from tests.support.cases import each_case


@each_case("text, expected")
def test_the_working_tree_changes_where_the_words_say(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_patch_on_the_input_names_its_files() -> None:
    fed = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n"
    assert does("git -C d apply", fed=fed) == ["edit< d/x"]
    assert acted("git apply p").flows == ((0, 1),)
    assert does("git apply --cached", fed=fed) == []
