"""Agents' tools: which arguments are shell commands, code, or paths that are written.

Owns one table for the tools of all supported agents and of common MCP servers, and what the arguments of a tool that is not
in it may mean. Must not know which paths are protected. Sources: the tool lists of the agents (docs/agents) and of the
reference MCP file-system server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import msgspec

from tallystick.model.step import Json
from tallystick.policy.patches import patched_files


class Use(msgspec.Struct, frozen=True, kw_only=True):
    """What a call of a tool would do, as far as its arguments tell."""

    kind: str
    """`shell`, `code`, `write`, `read`, `other`."""
    commands: tuple[str, ...] = ()
    """Shell texts."""
    programs: tuple[tuple[str, ...], ...] = ()
    """Programs with arguments, started without a shell."""
    code: tuple[str, ...] = ()
    """Code in other languages."""
    writes: tuple[str, ...] = ()
    """Paths that are written."""
    named: tuple[str, ...] = ()
    """Paths that are read, or used in a way that the tool's name does not tell."""
    folder: str | None = None
    """Where it runs, if the arguments say so."""


_SHELL_NAMES = """
bash shell sh run_shell_command exec_command local_shell run_commands run_command execute_command terminal
run_terminal_cmd run_in_terminal shell_command unified_exec powershell tmux run_bash execute_bash beforeshellexecution
bash_command execute_shell_command container.exec
"""
_CODE_NAMES = """
ipython python execute_code run_python exec js_repl python_repl code_interpreter node_repl write_stdin
"""
_WRITE_NAMES = """
write edit multiedit notebookedit write_file edit_file replace create create_file str_replace_editor str_replace
strreplace str_replace_based_edit_tool editor insert insert_edit_into_file save append patch morph apply_patch applypatch
write_to_file replace_in_file insert_content apply_diff search_and_replace search_replace delete delete_file remove_file
move move_file rename_file rename copy_file create_directory editnotebook edit_notebook notebook_edit multi_edit
undo_edit create_or_update_file patch_file append_file modify_file update_file delete_path vim_edit filewrite fileedit
"""
_PATH_NAMES = """
file_path filepath path notebook_path target_file target_notebook filename file_name absolute_path new_path old_path
destination dest dst source src target from to paths files file relative_workspace_path rel_path uri relative_path
"""
_SHELL, _CODE, _WRITE, _PATHS = (
    frozenset(names.split()) for names in (_SHELL_NAMES, _CODE_NAMES, _WRITE_NAMES, _PATH_NAMES)
)
_READ = re.compile(
    r"(?:^|[_.-])(?:read|view|get|list|ls|glob|grep|search|find|fetch|cat|show|open|look|stat|tree|query|describe|info|check|"
    r"diff|status|log|todo\w*|think|plan|browse|websearch|webfetch)(?:$|[_.-]|[A-Z])|^(?:task|agent|spawn_agent|invoke_agent|skill)$"
)
_FOLDERS = ("workdir", "working_directory", "workingdirectory", "cwd", "directory", "dir_path")
_TEXTS = ("command", "cmd", "commands", "script", "chars", "input", "content", "code", "source", "text")
_PATCHES = frozenset({"patch", "patchtext", "patch_text", "input", "command", "diff"})
_MOST_STRINGS = 2000
_MOST_NESTED = 12


def use_of(tool: str, args: Json) -> Use:
    """What a call does. `tool` is the agent's name of it, also with the prefix of an MCP server."""
    name = re.split(r"__|/", tool.strip())[-1]
    known = name.lower()
    args = _decoded(args)
    if known in _SHELL:
        return _shell(args)
    if known in _CODE:
        return Use(kind="code", code=tuple(text for _, text in strings(args)), folder=_folder(args))
    is_viewing = isinstance(args, dict) and args.get("command") == "view"
    if known in _WRITE and not is_viewing:
        return _write(args)
    named = tuple(text for key, text in strings(args) if _may_be_path(key, text))
    if is_viewing or _READ.search(name) or _READ.search(re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()):
        return Use(kind="read", named=named, folder=_folder(args))
    commands = tuple(text for key, text in strings(args) if key in ("command", "cmd", "commands"))
    return Use(kind="other", commands=commands, named=named, folder=_folder(args))


def _decoded(args: Json) -> Json:
    """Arguments that are the text of a JSON object, as that object."""
    if isinstance(args, str) and args.lstrip()[:1] == "{":
        try:
            return json.loads(args)
        except (ValueError, RecursionError):
            return args
    return args


def _shell(args: Json) -> Use:
    if isinstance(args, dict):
        lowered = {str(key).lower(): value for key, value in args.items()}
        given = next((lowered[key] for key in _TEXTS if key in lowered), None)
        if given is None:  # no name that is known: any text may be the command
            given = [text for _, text in strings(args)]
    else:
        given = args
    commands, programs = _command_forms(given)
    return Use(kind="shell", commands=tuple(commands), programs=tuple(programs), folder=_folder(args))


def _command_forms(given: Json) -> tuple[list[str], list[tuple[str, ...]]]:
    """A command as agents give it: a text, several, one with its arguments, or the words of one program."""
    if isinstance(given, str):
        decoded = _decoded_list(given)
        return ([given], []) if decoded is None else _command_forms(decoded)
    if isinstance(given, dict):
        program, rest = given.get("command", given.get("cmd")), given.get("args", [])
        if isinstance(program, str) and isinstance(rest, list) and rest:
            return [], [(program, *map(str, rest))]
        return _command_forms(program)
    if not isinstance(given, list):
        return [], []
    texts = [item for item in given if isinstance(item, str)]
    nested = [_command_forms(item) for item in given if isinstance(item, dict)]
    programs = [program for _, found in nested for program in found]
    # The words of one program, or one text after another: what it is does not show, so it is read both ways.
    return texts + [text for found, _ in nested for text in found], [tuple(texts), *programs] if len(
        texts
    ) > 1 else programs


def _decoded_list(text: str) -> list[Json] | None:
    if not text.startswith('["'):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _write(args: Json) -> Use:
    found: list[str] = [args] if isinstance(args, str) and "\n" not in args else []
    found += patched_files(args) if isinstance(args, str) else ()
    for key, text in strings(args):
        if key in _PATHS or (key == "args" and "\n" not in text):
            found.append(text)
        elif key in _PATCHES:
            found += patched_files(text)
    return Use(kind="write", writes=tuple(dict.fromkeys(found)), folder=_folder(args))


def _folder(args: Json) -> str | None:
    if not isinstance(args, dict):
        return None
    found = (value for key, value in args.items() if str(key).lower() in _FOLDERS)
    return next((value for value in found if isinstance(value, str) and value), None)


def _may_be_path(key: str, text: str) -> bool:
    """Whether a string may be a path: not prose, not code, no other URL than a file's."""
    return len(text) <= 4096 and "\n" not in text and (key in _PATHS or not re.search(r"\s", text.strip()))


def strings(value: Json, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every string in a JSON value with the lower-cased name of the member that it is, or is an item, of."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict) and depth < _MOST_NESTED:
        for name, item in list(value.items())[:_MOST_STRINGS]:
            yield from strings(item, str(name).lower(), depth + 1)
    elif isinstance(value, list) and depth < _MOST_NESTED:
        for item in value[:_MOST_STRINGS]:
            yield from strings(item, key, depth + 1)
