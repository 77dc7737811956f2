"""Patches as models write them."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.tools.patching import Change, changes_in
from tallystick.model.intent import Operation
from tests.support.cases import each

UNIFIED = """diff --git a/old name.txt b/old name.txt
--- a/old name.txt\t2026-01-01
+++ b/old name.txt\t2026-01-02
@@ -1 +1 @@
-x
+y
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+x
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/one b/two
similarity index 90%
rename from one
rename to two
--- a/one
+++ b/two
"""


def test_each_file_of_a_unified_difference_is_told() -> None:
    assert changes_in(UNIFIED) == (
        Change(Operation.EDIT, "old name.txt"),
        Change(Operation.WRITE, "new.txt"),
        Change(Operation.DELETE, "gone.txt"),
        Change(Operation.EDIT, "one", moved_to="two"),
        Change(Operation.EDIT, "two"),
    )


@each(
    "text, expected",
    [
        ("*** Begin Patch\n*** Add File: a b.txt\n+x\n*** End Patch", (Change(Operation.WRITE, "a b.txt", "x\n"),)),
        ("*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch\r\n", (Change(Operation.WRITE, "a", "x\n"),)),
        ("*** Begin Patch\n*** Delete File: a\n*** End Patch", (Change(Operation.DELETE, "a"),)),
        (
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+*** Add File: no\n*** End Patch",
            (Change(Operation.EDIT, "a", moved_to="b"),),
        ),
        ("*** Begin Patch\n*** Add File:\n+x\n*** End Patch", ()),
        ("nothing of the kind", ()),
    ],
)
def test_each_part_of_an_envelope_is_told(text: str, expected: tuple[Change, ...]) -> None:
    assert changes_in(text) == expected


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_the_differences_that_git_writes_are_understood(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    for name in ("edited", "deleted", "moved"):
        (tmp_path / name).write_text(f"{name}\n" * 20)
    git("add", ".")
    git("commit", "-qm", "x")
    (tmp_path / "edited").write_text("other\n")
    (tmp_path / "deleted").unlink()
    (tmp_path / "moved").rename(tmp_path / "there")
    (tmp_path / "new").write_text("x\n")
    git("add", "-A")
    assert set(changes_in(git("diff", "--cached", "-M"))) == {
        Change(Operation.EDIT, "edited"),
        Change(Operation.DELETE, "deleted"),
        Change(Operation.EDIT, "moved", moved_to="there"),
        Change(Operation.WRITE, "new"),
    }


PARTS = st.sampled_from(
    ["*** Begin Patch", "*** Add File: a", "*** Update File: b", "*** Move to: c", "*** Delete File: d", "+x", "--- a/x",
     "+++ b/y", "--- /dev/null", "+++ /dev/null", "rename from p", "rename to q", "", "\r"]
)  # fmt: skip


@given(st.lists(PARTS | st.text(), max_size=30))
def test_no_patch_is_too_broken(parts: list[str]) -> None:
    for change in changes_in("\n".join(parts)):
        assert change.path


def test_a_patch_of_many_files_is_bounded() -> None:
    assert len(changes_in("".join(f"*** Delete File: {number}\n" for number in range(5000)))) == 200
