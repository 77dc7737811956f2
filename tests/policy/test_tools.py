from typing import Any

import pytest

from tallystick.policy.tools import use_of


@pytest.mark.parametrize(
    ("tool", "args", "kind", "commands", "programs"),
    [
        ("Bash", {"command": "ls", "description": "x"}, "shell", ("ls",), ()),
        ("run_shell_command", {"command": "ls"}, "shell", ("ls",), ()),
        ("exec_command", {"cmd": "ls"}, "shell", ("ls",), ()),
        ("shell", {"command": ["bash", "-lc", "ls"]}, "shell", ("bash", "-lc", "ls"), (("bash", "-lc", "ls"),)),
        ("run_commands", {"commands": ["ls", "pwd"]}, "shell", ("ls", "pwd"), (("ls", "pwd"),)),
        ("run_commands", {"commands": '["ls"]'}, "shell", ("ls",), ()),
        ("run_commands", {"commands": [{"command": "ls", "args": ["-l"]}]}, "shell", (), (("ls", "-l"),)),
        ("bash", "ls", "shell", ("ls",), ()),
        ("bash", '{"command": "ls"}', "shell", ("ls",), ()),
        ("mcp__box__bash", {"command": "ls"}, "shell", ("ls",), ()),
        ("mcp__box__do", {"command": "ls"}, "other", ("ls",), ()),
        ("bash", None, "shell", (), ()),
        ("bash", {"unheard-of": "ls"}, "shell", ("ls",), ()),
    ],
)
def test_a_command_is_found_in_the_arguments(
    tool: str, args: Any, kind: str, commands: tuple[str, ...], programs: tuple[tuple[str, ...], ...]
) -> None:
    use = use_of(tool, args)
    assert (use.kind, use.commands, use.programs) == (kind, commands, programs)


@pytest.mark.parametrize(
    ("tool", "args", "writes"),
    [
        ("Write", {"file_path": "a", "content": "b"}, ("a",)),
        ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}, ("a",)),
        ("NotebookEdit", {"notebook_path": "a"}, ("a",)),
        ("edit", {"filePath": "a"}, ("a",)),
        ("str_replace_editor", {"command": "create", "path": "a"}, ("a",)),
        ("mcp__filesystem__move_file", {"source": "a", "destination": "b"}, ("a", "b")),
        ("apply_patch", "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch", ("a",)),
        ("apply_patch", {"input": "*** Begin Patch\n*** Delete File: a\n*** End Patch"}, ("a",)),
        ("save", {"args": ["a"], "content": "b\n"}, ("a",)),
        ("save", "a", ("a",)),
    ],
)
def test_the_paths_that_a_file_tool_writes_are_found(tool: str, args: Any, writes: tuple[str, ...]) -> None:
    use = use_of(tool, args)
    assert (use.kind, use.writes) == ("write", writes)


@pytest.mark.parametrize(
    "tool",
    ["Read", "Grep", "Glob", "LS", "view", "read_file", "list_directory", "WebFetch", "TodoWrite", "Agent", "task",
     "mcp__fs__read_text_file", "mcp__fs__getFileInfo", "mcp__x__list"],
)  # fmt: skip
def test_a_tool_that_reads_is_known_by_its_name(tool: str) -> None:
    assert use_of(tool, {"path": "a"}).kind == "read"


@pytest.mark.parametrize("tool", ["reader_update", "mcp__fs__sync", "bread", "already"])
def test_a_name_that_only_looks_like_reading_is_not(tool: str) -> None:
    assert use_of(tool, {"path": "a"}).kind == "other"


def test_viewing_with_an_editor_is_reading() -> None:
    assert use_of("str_replace_editor", {"command": "view", "path": "a"}).kind == "read"


def test_prose_is_no_path_but_a_name_with_blanks_in_a_path_member_is() -> None:
    use = use_of("mcp__x__y", {"note": "look at ~/.tally", "path": "a b", "where": "~/.tally"})
    assert set(use.named) == {"a b", "~/.tally"}


def test_where_a_command_runs_is_taken_from_the_arguments() -> None:
    assert use_of("exec_command", {"cmd": "ls", "workdir": "/x"}).folder == "/x"
    assert use_of("run_shell_command", {"command": "ls", "directory": "x"}).folder == "x"


def test_a_value_nested_without_end_is_cut() -> None:
    deep: Any = "x"
    for _ in range(500):
        deep = [deep]
    assert use_of("mcp__x__y", {"path": deep}).named == ()
    assert use_of("bash", "[" * 5000).commands == ("[" * 5000,)
    assert use_of("bash", '{"a":' * 5000).kind == "shell"
