"""Tools that read, write, change, move and list files."""

from typing import Any

from tallystick.model.intent import Flow, Operation
from tests.intent.tools.cases import PATCH, lines, uses
from tests.support.cases import each, each_case


@each_case("tool, args, expected")
def test_a_tool_does_to_files_what_its_name_says(tool: str, args: Any, expected: list[str]) -> None:
    assert lines(uses(tool, args)) == expected


@each(
    "tool, args, content",
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
        ("Write", {"file_path": "a", "content": "half \ud83d"}, "half \ufffd"),
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


@each("name", ["patch", "input", "command", "patchText", "diff"])
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
