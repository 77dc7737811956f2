"""Tools that run commands, code and other agents."""

from typing import Any

from tallystick.intent.tools.calls import uses_of
from tallystick.intent.tools.uses import Code, ToolCall
from tests.intent.tools.cases import lines, uses
from tests.support.cases import each, each_case


@each_case("tool, args, expected")
def test_a_tool_starts_and_stops_what_its_name_says(tool: str, args: Any, expected: list[str]) -> None:
    assert lines(uses(tool, args)) == expected


@each(
    "tool, args, commands, programs, folder",
    [
        ("Bash", {"command": "ls", "description": "x"}, ("ls",), (), "/w"),
        ("exec_command", {"cmd": "ls", "workdir": "/x"}, ("ls",), (), "/x"),
        ("run_shell_command", {"command": "ls", "directory": "sub"}, ("ls",), (), "/w/sub"),
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, (), (("bash", "-lc", "ls | wc"),), "/w"),
        (
            "local_shell",
            {"action": {"type": "exec", "command": ["ls", "-l"], "working_directory": "/z"}},
            (),
            (("ls", "-l"),),
            "/z",
        ),
        ("run_commands", {"commands": ["ls", "pwd"]}, ("ls", "pwd"), (), "/w"),
        ("run_commands", {"commands": '["ls -l", "pwd"]'}, ("ls -l", "pwd"), (), "/w"),
        ("run_commands", {"commands": [{"command": "ls", "args": ["-l"]}]}, (), (("ls", "-l"),), "/w"),
        ("bash", '{"command": "ls"}', ("ls",), (), "/w"),
        ("bash", "ls", ("ls",), (), "/w"),
        ("bash", {"unheard-of": "ls"}, ("ls",), (), "/w"),
        ("bash", {"command": {"text": "ls"}, "description": "x"}, ("ls",), (), "/w"),
        ("bash", {"command": [["ls -l"]]}, ("ls -l",), (), "/w"),
        ("bash", {"restart": True}, (), (), "/w"),
        ("run_command", {"CommandLine": "ls", "Cwd": "/x"}, ("ls",), (), "/x"),
        ("Shell", {"command": "ls", "working_directory": "/x"}, ("ls",), (), "/x"),
        ("mcp__box__bash", {"command": "ls"}, ("ls",), (), "/w"),
        ("mcp__box__do_it", {"command": "ls"}, ("ls",), (), "/w"),
        ("functions.exec_command", {"cmd": "ls"}, ("ls",), (), "/w"),
        ("[ -f x ] && y", None, (), (), "/w"),
        ("bash", {"command": "[ -f x ] && ls"}, ("[ -f x ] && ls",), (), "/w"),
    ],
)  # fmt: skip
def test_commands_are_found_in_every_form_that_agents_give_them(
    tool: str, args: Any, commands: tuple[str, ...], programs: tuple[tuple[str, ...], ...], folder: str
) -> None:
    found = uses(tool, args)
    assert (found.commands, found.programs, found.folder) == (commands, programs, folder)


@each(
    "tool, args, code",
    [
        ("ipython", {"code": "print(1)"}, Code("python", "print(1)")),
        ("execute_code", {"code": "x", "language": "js"}, Code("javascript", "x")),
        ("js_repl", "1+1", Code("javascript", "1+1")),
        ("exec", "await tools.exec_command({})", Code("javascript", "await tools.exec_command({})")),
        ("mcp__ide__executeCode", {"code": "print(1)"}, Code("python", "print(1)")),
        ("sql", {"query": "SELECT 1"}, Code("sql", "SELECT 1")),
        ("browser_evaluate", {"function": "() => 1"}, Code("javascript", "() => 1")),
        ("mcp__puppeteer__puppeteer_evaluate", {"script": "1"}, Code("javascript", "1")),
        ("browser_console", {"expression": "1"}, Code("javascript", "1")),
    ],
)
def test_code_is_told_with_its_language(tool: str, args: Any, code: Code) -> None:
    assert uses(tool, args).codes == (code,)


def test_a_sub_agent_is_named() -> None:
    assert uses("Task", {"subagent_type": "reviewer", "prompt": "x"}).agent == "reviewer"


def test_what_is_typed_into_a_program_is_kept() -> None:
    assert uses("mcp__desktop-commander__interact_with_process", {"pid": 1, "input": "ls"}).typed == ("ls",)
    assert uses("write_stdin", {"session_id": 3, "chars": "y\n"}).typed == ("y\n",)
    assert uses("tmux", {"content": "send_keys 0 'ls' Enter"}).typed == ("send_keys 0 'ls' Enter",)
    assert uses("Bash", {"command": "y"}).typed == ()


def test_a_task_of_an_editor_is_a_program_or_a_line() -> None:
    task = {"label": "x", "command": "rm", "args": ["-r", "a"]}
    assert uses("create_and_run_task", {"workspaceFolder": "/w", "task": task}).programs == (("rm", "-r", "a"),)
    assert uses("create_and_run_task", {"task": {"command": "rm -r a"}}).commands == ("rm -r a",)
    assert uses("shell", {"command": {"argv": ["rm", "-r", "a"]}}).programs == (("rm", "-r", "a"),)


@each("agent, folder, codes", [("codex", r"C:\work", 1), ("codex", "/mnt/c/work", 0), ("claude-code", r"C:\work", 0)])
def test_some_agents_speak_powershell_on_windows(agent: str, folder: str, codes: int) -> None:
    found = uses_of(ToolCall(tool="shell_command", args={"command": "ls"}, folder=folder, agent=agent))
    assert (len(found.codes), len(found.commands)) == (codes, 1 - codes)
