"""Tools that read, write, change, move and list files."""

from typing import Any

import pytest

from tallystick.model.intent import Flow, Operation
from tests.intent.tools.cases import PATCH, lines, uses


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("Read", {"file_path": "/w/a.py"}, ["read /w/a.py"]),
        ("Read", {"file_path": "~/a.py", "offset": 3, "limit": 2}, ["read /home/dev/a.py"]),
        ("Write", {"file_path": "a.py", "content": "x"}, ["write /w/a.py authored"]),
        ("Edit", {"file_path": "a/../b.py", "old_string": "x", "new_string": "y"}, ["edit /w/b.py authored"]),
        ("Edit", {"file_path": "/n.py", "old_string": "", "new_string": "y"}, ["write /n.py authored"]),
        ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}, ["edit /w/a authored"]),
        ("NotebookEdit", {"notebook_path": "/n.ipynb", "new_source": "1"}, ["edit /n.ipynb authored"]),
        ("NotebookRead", {"notebook_path": "/n.ipynb"}, ["read /n.ipynb"]),
        ("Grep", {"pattern": "x", "path": "/w/a.py"}, ["read /w/a.py"]),
        ("Grep", {"pattern": "x", "path": "src"}, ["list /w/src deep"]),
        ("Grep", {"pattern": "x"}, ["list /w deep"]),
        ("Glob", {"pattern": "**/*.md", "path": "/d"}, ["list /d/**/*.md? deep"]),
        ("Glob", {"pattern": "*.md"}, ["list /w/*.md?"]),
        ("LS", {"path": "/d"}, ["list /d"]),
        ("apply_patch", {"paths": ["/p/q"]}, ["edit /p/q authored"]),
        ("view_image", {"path": "a.png"}, ["read /w/a.png"]),
        ("vision_analyze", {"image_url": "a.png", "question": "x"}, ["read /w/a.png"]),
        ("vision_analyze", {"image_url": "https://x/a.png"}, ["network fetch https://x/a.png"]),
        ("vision_analyze", {"image_url": "data:image/png;base64,AA"}, []),
        ("read_file", {"absolute_path": "/w/a"}, ["read /w/a"]),
        ("read_many_files", {"include": ["src/**/*.py", "b.py"]}, ["read /w/src/**/*.py? deep", "read /w/b.py"]),
        ("write_file", {"file_path": "/w/a", "content": ""}, ["write /w/a authored"]),
        ("replace", {"file_path": "/w/a", "old_string": "x", "new_string": "y"}, ["edit /w/a authored"]),
        ("search_file_content", {"pattern": "x", "dir_path": "src"}, ["list /w/src deep"]),
        ("list_directory", {"dir_path": "src"}, ["list /w/src"]),
        ("glob", {"pattern": "/a/*.c"}, ["list /a/*.c?"]),
        ("view", {"path": "/w/a", "view_range": [1, 2]}, ["read /w/a"]),
        ("create", {"path": "/w/a", "file_text": "x"}, ["write /w/a authored"]),
        ("edit", {"path": "/w/a", "old_str": "x", "new_str": "y"}, ["edit /w/a authored"]),
        ("str_replace_editor", {"command": "view", "path": "/w/a"}, ["read /w/a"]),
        ("str_replace_editor", {"command": "create", "path": "/w/a", "file_text": "x"}, ["write /w/a authored"]),
        ("str_replace_editor", {"command": "insert", "path": "/w/a", "new_str": "x"}, ["edit /w/a authored"]),
        ("replace_string_in_file", {"filePath": "/w/a", "oldString": "x", "newString": "y"}, ["edit /w/a authored"]),
        (
            "multi_replace_string_in_file",
            {"replacements": [{"filePath": "/a", "oldString": "x", "newString": "y"}, {"filePath": "/b"}]},
            ["edit /a authored", "edit /b authored"],
        ),
        ("read", {"filePath": "/w/a"}, ["read /w/a"]),
        ("write", {"filePath": "a", "content": "x"}, ["write /w/a authored"]),
        ("list", {"path": "/d"}, ["list /d"]),
        ("read_files", {"files": [{"path": "/w/a"}, {"path": "b"}]}, ["read /w/a", "read /w/b"]),
        ("editor", {"path": "/w/a", "new_text": "x"}, ["write /w/a authored"]),
        ("editor", {"path": "/w/a", "old_text": "x", "new_text": "y"}, ["edit /w/a authored"]),
        (
            "replace_in_file",
            {"path": "a", "diff": "------- SEARCH\nx\n=======\ny\n+++++++ REPLACE"},
            ["edit /w/a authored"],
        ),
        (
            "use_mcp_tool",
            {"server_name": "filesystem", "tool_name": "read_file", "arguments": {"path": "a"}},
            ["read /w/a"],
        ),
        ("Write", {"path": "a", "contents": "x"}, ["write /w/a authored"]),
        ("StrReplace", {"path": "a", "old_string": "x", "new_string": "y"}, ["edit /w/a authored"]),
        ("Delete", {"path": "a"}, ["delete /w/a"]),
        ("edit_file", {"target_file": "a", "code_edit": "x"}, ["edit /w/a authored"]),
        ("Glob", {"glob_pattern": "*.py", "target_directory": "/d"}, ["list /d/*.py?"]),
        ("save", {"path": "a", "content": "x"}, ["write /w/a authored"]),
        ("save", {"args": ["a"], "content": "x"}, ["write /w/a authored"]),
        ("append", {"path": "a", "content": "x"}, ["append /w/a authored"]),
        ("patch", {"path": "a", "patch": "<<<<<<< ORIGINAL\nx\n=======\ny\n>>>>>>> UPDATED"}, ["edit /w/a authored"]),
        ("patch", {"path": "a", "old_string": "x", "new_string": "y"}, ["edit /w/a authored"]),
        ("edit", {"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}, ["edit /w/a authored"]),
        ("open", {"path": "a"}, ["read /w/a"]),
        ("edit", {"search": "x", "replace": "y"}, ["edit ? authored"]),
        ("find_file", {"file_name": "a.py", "dir": "src"}, ["list /w/src/a.py?"]),
        ("write_to_file", {"TargetFile": "/w/a", "CodeContent": "x"}, ["write /w/a authored"]),
        ("replace_file_content", {"TargetFile": "/w/a", "ReplacementChunks": [{}]}, ["edit /w/a authored"]),
        ("Create", {"file_path": "/w/a", "content": "x"}, ["write /w/a authored"]),
    ],
)
def test_a_tool_does_to_files_what_its_name_says(tool: str, args: Any, expected: list[str]) -> None:
    assert lines(uses(tool, args)) == expected


@pytest.mark.parametrize(
    ("tool", "args", "content"),
    [
        ("Write", {"file_path": "a", "content": "x\n"}, "x\n"),
        ("Write", {"file_path": "a", "content": ""}, ""),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, None),
        ("Edit", {"file_path": "a", "old_string": "", "new_string": "y"}, "y"),
        ("create", {"path": "a", "file_text": "x"}, "x"),
        ("append", {"path": "a", "content": "x"}, None),
        ("save", {"path": "a", "content": "x"}, "x\n"),
        ("save", {"path": "a", "content": "x\n"}, "x\n"),
        ("apply_patch", "*** Begin Patch\n*** Add File: a\n+x\n+\n*** End Patch", "x\n\n"),
        ("Write", {"file_path": "a", "content": "half \ud83d"}, None),
    ],
)
def test_what_a_file_holds_afterwards_is_known_only_where_the_call_tells_it_whole(
    tool: str, args: Any, content: str | None
) -> None:
    (intent,) = uses(tool, args).intents
    assert intent.content == content


def test_a_patch_does_what_each_of_its_parts_says() -> None:
    found = uses("apply_patch", {"input": PATCH})
    assert lines(found) == [
        "write /w/new.txt authored",
        "edit /w/old.txt authored",
        "delete /w/gone.txt",
        "rename /w/before.txt",
        "copy_dest /w/after.txt",
        "edit /w/after.txt authored",
    ]
    assert found.flows == (Flow(3, 4),)


@pytest.mark.parametrize("name", ["patch", "input", "command", "patchText", "diff"])
def test_a_patch_is_found_under_every_name_that_agents_give_it(name: str) -> None:
    assert lines(uses("apply_patch", {name: PATCH})) == lines(uses("apply_patch", PATCH))


def test_a_move_takes_what_the_file_held_along() -> None:
    found = uses("mcp__filesystem__move_file", {"source": "a", "destination": "b"})
    assert lines(found) == ["rename /w/a", "copy_dest /w/b"]
    assert found.flows == (Flow(0, 1),)


def test_many_paths_are_bounded() -> None:
    found = uses("read_many_files", {"paths": [f"/a/{number}" for number in range(1000)]})
    assert len(found.intents) == 200
    assert {intent.operation for intent in found.intents} == {Operation.READ}


def test_a_text_that_only_looks_like_a_patch_is_not_applied() -> None:
    assert lines(uses("insert", {"path": "a.md", "text": PATCH})) == ["edit /w/a.md authored"]
    assert lines(uses("Write", {"file_path": "a.md", "content": PATCH})) == ["write /w/a.md authored"]


def test_a_patch_that_was_taken_apart_is_understood() -> None:
    changes = {
        "/a": {"type": "add", "content": "x"},
        "/b": {"type": "update", "move_path": "/c"},
        "/d": {"type": "delete"},
    }
    assert lines(uses("apply_patch", {"changes": changes})) == [
        "write /a authored",
        "rename /b",
        "copy_dest /c",
        "edit /c authored",
        "delete /d",
    ]
