from tallystick.policy.patches import patched_files


def test_every_file_that_a_patch_names_is_found() -> None:
    text = (
        "*** Begin Patch\n*** Add File: a b.txt\n+x\n*** Update File: c/d\n*** Move to: e \n@@\n-x\n+y\n"
        "*** Delete File: ~/f\n*** End Patch\n"
    )
    assert patched_files(text) == ("a b.txt", "c/d", "e", "~/f")


def test_files_of_a_unified_difference_are_found_without_its_prefixes() -> None:
    text = "--- a/x/y.py\t2026-01-01\n+++ b/x/y.py\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ /abs/new\n"
    assert patched_files(text) == ("x/y.py", "/dev/null", "/abs/new")


def test_a_line_that_is_added_is_no_file() -> None:
    assert patched_files("*** Begin Patch\n*** Add File: a\n+*** Add File: b\n*** End Patch") == ("a",)
    assert patched_files("no patch at all") == ()
