from __future__ import annotations

from tallystick.intent.programs.patches import patched
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word
from tests.intent.programs.acting import does, flows
from tests.support.cases import each, each_case

DIFF = """--- a/x.c\t2024-01-01
+++ b/x.c\t2024-01-02
@@ -1 +1 @@
-a
+b
--- /dev/null
+++ b/new
@@ -0,0 +1 @@
+c
--- a/old
+++ /dev/null
@@ -1 +0,0 @@
-d
"""


def fed(text: str) -> Command:
    return Command(words=(Word("patch"),), input=Word(text))


def test_a_diff_names_the_files_that_it_changes() -> None:
    assert patched(fed(DIFF), strip=1) == [
        (Operation.EDIT, Word("x.c")),
        (Operation.WRITE, Word("new")),
        (Operation.DELETE, Word("old")),
    ]
    assert patched(fed(DIFF), strip=0)[0] == (Operation.EDIT, Word("b/x.c"))
    assert patched(fed(DIFF), strip=99)[0] == (Operation.EDIT, Word("x.c"))


@each("text", ["", "--- ", "--- a\n", "--- a\n+++", "x" * 100_000, "--- " + "a" * 100_000])
def test_what_is_no_diff_names_none(text: str) -> None:
    assert patched(fed(text), strip=0) == []
    assert patched(Command(words=(Word("patch"),)), strip=0) == []


def test_of_very_many_files_the_first_are_taken() -> None:
    assert len(patched(fed("--- a\n+++ b\n" * 1000), strip=0)) == 200


@each_case("text, expected")
def test_patch_edits_what_it_is_told(text: str, expected: list[str]) -> None:
    assert does(text, fed=DIFF) == expected


ENVELOPE = """*** Begin Patch
*** Add File: a
+x
*** Update File: b
*** Move to: ../c
@@
-x
+y
*** Delete File: d
*** End Patch
"""


def test_an_envelope_says_what_it_does_to_which_file() -> None:
    assert does("apply_patch", fed=ENVELOPE) == ["write< a", "edit< b", "write< ../c", "delete< d"]
    assert does(f"apply_patch '{ENVELOPE}'") == ["write< a", "edit< b", "write< ../c", "delete< d"]
    assert does("apply_patch", fed="no patch") == ["edit*< ."]


def test_a_diff_goes_into_what_it_changes() -> None:
    assert flows("patch a p") == ["p -> a"]
