"""Calls that the hook lets through by itself: never one of which the policies would say anything, and the everyday ones."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.policy import HELD_OUT, files_everywhere, tables_of
from tallystick.agents.hooks import hook_adapter
from tallystick.graph.rules import PACKAGE
from tallystick.guard.decide import Decider
from tallystick.guard.plain_calls import keep_plain_calls
from tallystick.guard.policy_quality import Case, CaseCall, Machine, Wants, judge, read_cases
from tallystick.hook_looks import LIST, only_looks
from tallystick.model.decision import Effect
from tallystick.workspace.settings import set_setting
from tests.service.faults import before, event_word
from tests.support.cases import each

PLAIN = [
    "git status", "git status -sb", "git log --oneline -5", "git diff --stat", "git branch --show-current",
    "git rev-parse HEAD", "ls", "ls -la", "ls src", "ls -la ./src", "pwd", "cat README.md", "cat src/main.py",
    "head -n 5 src/main.py", "tail -20 src/main.py", "wc -l src/main.py", "stat src", "file src/main.py", "which python3",
    "whoami", "date", "uname -a",
]  # fmt: skip
NOT_PLAIN = [
    "", " ls", "ls  src", "ls; rm x", "ls|sh", "ls && id", "ls > x", "cat <x", "cat $HOME", "cat `id`", "cat ~/.ssh/id_rsa",
    "cat 'x'", "cat *", "cat .env", "cat ./.env", "cat src/.env", "cat ../other/x.py", "cat src/../README.md",
    "cat /etc/passwd", "cat -", "cat /dev/zero", "cat missing.py", "cat secrets.md", "cat api_key.py", "cat link.py",
    "cat folder/inside.py", "cat large.md", "cat server.pem", "cat id_rsa", "cat pipe.py", "ls ..", "ls ~", "ls /",
    "ls .git", "ls ./.git", "git push", "git log --output=x", "git -C / status", "git -c alias.x=y status",
    "git diff --ext-diff", "git status x.py", "git", "git branch -D main", "git branch new", "git remote add a b",
    "git rev-parse --git-dir x", "which evil", "date -s 2020", "sudo ls", "/bin/ls", "./ls", "A=b ls", "ls A=b", "env ls",
    "rm src/main.py", "python3 src/main.py", "ls\n", "ls\nid", "ls\tsrc", "ls \xa0src", "cat src/main.py\x00", "l\\s",
    "ls #",
]  # fmt: skip


class Project:
    """A machine with a store, a project in it, and things in the project that look plain and are not."""

    def __init__(self, folder: Path) -> None:
        self.machine = Machine(folder)
        self.machine.lay_out(files_everywhere())
        self.folder = self.machine.user / "project"
        self.store = self.machine.home.folder
        self.decider = self.machine.decider()
        for name in (
            "README.md",
            "src/main.py",
            "secrets.md",
            "api_key.py",
            "server.pem",
            "id_rsa",
            ".env",
            "src/.env",
        ):
            self.machine.write(name, "x = 1\n", self.folder)
        (self.folder / "large.md").write_text("x" * 2_000_000)
        (self.folder / "link.py").symlink_to(self.folder / ".env")
        (self.folder / "folder").symlink_to("/etc")
        os.mkfifo(self.folder / "pipe.py")
        (self.store / "run").mkdir(exist_ok=True)
        keep_plain_calls(self.machine.home, self.decider.policies)

    def lets(self, command: str, **changed: Any) -> bool:
        return only_looks(str(self.store), "claude-code", {**said(command, self.folder), **changed})


def said(command: str, folder: Path) -> dict[str, Any]:
    told = {
        "session_id": "s",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_use_id": "c",
        "cwd": str(folder),
    }
    return {**told, "tool_input": {"command": command, "description": "look"}}


def is_silent(decider: Decider, agent: str, told: dict[str, Any], event: str | None = None) -> bool:
    """Whether the policies say nothing that an agent hears, of the call as the agent's adapter reads it."""
    adapter = hook_adapter(agent)
    assert adapter is not None
    asks = adapter.parse(json.dumps(told).encode(), event).asks
    assert asks is not None
    return decider.decide(asks).effect in (Effect.ALLOW, Effect.WARN)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("plain"))


@each("command", PLAIN)
def test_an_everyday_look_is_let_through_and_is_nothing_to_the_policies(project: Project, command: str) -> None:
    assert project.lets(command)
    assert is_silent(project.decider, "claude-code", said(command, project.folder))


@each("command", NOT_PLAIN)
def test_what_is_not_on_the_list_is_left_to_the_policies(project: Project, command: str) -> None:
    assert not project.lets(command)


_WORDS = st.sampled_from([
    *PLAIN, "git", "ls", "cat", "status", "log", "diff", "branch", "remote", "describe", "-l", "-la", "-n", "-p", "--all",
    "--stat", "5", "-7", "HEAD", "main", ".", "./", "src", "src/", "src/main.py", "README.md", "link.py", "folder", ".env",
    "folder/hosts", "~/.ssh/id_rsa", "../project", "..", "/etc/shadow", "id_rsa", "server.pem", ";", "|", "$(id)", "*",
    "--output=x", "-O", "-c", "--", "-", "=", "wc", "head", "date", "which", "uname",
])  # fmt: skip


@given(st.lists(_WORDS, min_size=1, max_size=5))
def test_whatever_is_let_through_the_policies_are_silent_about(project: Project, words: list[str]) -> None:
    command = " ".join(words)
    if project.lets(command):
        assert is_silent(project.decider, "claude-code", said(command, project.folder)), command


def cases_of_one_look() -> Iterator[Case]:
    """The cases of the corpora whose judged call may be plain by its words; what else there is, the disk must tell."""
    known = load_words()
    for table in sorted({table for corpus in ("attacks", "benign", *HELD_OUT) for table in tables_of(corpus)}):
        for case in read_cases([table]):
            if set(_texts(case)) & known:
                yield case


def _texts(case: Case) -> Iterator[str]:
    for call in case.calls:
        if isinstance(call.args, dict) and isinstance(call.args.get("command"), str):
            yield str(call.args["command"]).split(" ", 1)[0]


def load_words() -> set[str]:
    return {command.split(" ", 1)[0] for command in PLAIN}


def test_no_call_of_the_corpora_is_let_through_that_the_policies_speak_of(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("plain")
    shared = Machine(folder / "shared")
    shared.lay_out(files_everywhere())
    (shared.home.folder / "run").mkdir(exist_ok=True)
    keep_plain_calls(shared.home, shared.decider().policies)
    let_through = []
    for number, case in enumerate(cases_of_one_look()):
        machine = shared
        if case.files or case.links or any(call.leaves for call in case.calls):
            machine = shared.copy_to(folder / f"case-{number}")
            machine.prepare(case)
            for call in case.calls:
                for path, text in call.leaves.items():
                    machine.write(
                        str(machine.filled(path)), str(machine.filled(text)), Path(str(machine.filled(case.folder)))
                    )
        if any(_is_let_through(machine, case, call) for call in _judged(case)):
            let_through.append(case)
    assert len(let_through) > 20
    assert [
        one for one in judge(let_through, files_everywhere()) if one.effect not in (Effect.ALLOW, Effect.WARN)
    ] == []


def _judged(case: Case) -> list[CaseCall]:
    if case.wants is Wants.SILENCE:
        return list(case.calls)
    return [case.calls[case.judged if case.judged is not None else -1]]


def _is_let_through(machine: Machine, case: Case, call: CaseCall) -> bool:
    told = {"tool_name": call.tool, "tool_input": machine.filled(call.args), "cwd": machine.filled(case.folder)}
    return only_looks(str(machine.home.folder), "claude-code", told)


@each("agent", ["claude-code", "codex", "copilot", "gemini", "qwen"])
def test_each_agent_that_is_on_the_list_is_understood_as_its_adapter_understands_it(
    project: Project, agent: str
) -> None:
    for reads in (False, True)[: 1 if agent == "codex" else 2]:  # it reads by its shell
        told = before(agent, 1, reads=reads, command="git status")
        args: dict[str, Any] = told.get("tool_input", told.get("toolArgs", {}))
        told["cwd"] = str(project.folder)
        if reads:
            args["file_path"] = str(project.folder / "src" / "main.py")
        assert only_looks(str(project.store), agent, told)
        assert is_silent(project.decider, agent, told, *event_word(agent, told))
        (args := dict(args))[next(iter(args))] = "/etc/shadow"
        assert not only_looks(str(project.store), agent, {**told, "tool_input": args, "toolArgs": args})


@each(
    "changed",
    [
        {"tool_name": "Write"}, {"tool_name": 1}, {"tool_input": "ls"}, {"tool_input": {"command": ["ls"]}},
        {"tool_input": {}}, {"tool_input": {"command": "ls", "run_in_background": True}}, {"cwd": None}, {"cwd": "project"},
        {"cwd": "/"}, {"cwd": "/etc/x"},
    ],
)  # fmt: skip
def test_a_call_of_another_form_is_left_to_the_policies(project: Project, changed: dict[str, Any]) -> None:
    assert not project.lets("ls", **changed)


def test_an_agent_that_works_where_secrets_are_is_left_to_the_policies(project: Project) -> None:
    for place in (
        project.machine.user / ".ssh",
        project.store,
        project.store / "run",
        project.machine.user / "api-keys",
    ):
        place.mkdir(exist_ok=True)
        assert not project.lets("ls", cwd=str(place))


def test_a_letter_that_no_entry_names_is_let_through_of_no_program(project: Project) -> None:
    listed = tomllib.loads((PACKAGE / "catalog" / "plain_calls.toml").read_text("utf-8"))
    starts = [*listed["programs"], *(f"{name} {verb}" for name, verbs in listed["verbs"].items() for verb in verbs)]
    assert len(starts) > 15
    assert [start for start in starts if project.lets(f"{start} -X")] == []


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("plain"))


def test_where_the_user_has_policies_or_other_settings_there_is_no_list(own: Project) -> None:
    assert own.lets("ls")
    policy = own.store / "policy" / "mine.cedar"
    policy.parent.mkdir(exist_ok=True)
    policy.write_text("forbid (principal, action, resource);")
    assert not own.lets("ls"), "the list was made before the policy was there"
    keep_plain_calls(own.machine.home, own.machine.decider().policies)
    assert not (own.store / LIST).exists()
    policy.unlink()
    keep_plain_calls(own.machine.home, own.machine.decider().policies)
    assert own.lets("ls")
    set_setting(own.machine.home, "policy.profile", "strict")
    assert not own.lets("ls")
    keep_plain_calls(own.machine.home, own.machine.decider().policies)
    assert not (own.store / LIST).exists()


def test_a_repository_may_have_policies_and_settings_of_its_own(own: Project) -> None:
    config = own.folder / ".git" / "config"
    text = config.read_text()
    config.write_text(text + "\tfsmonitor = ./evil\n")
    assert (own.lets("git status"), own.lets("ls")) == (False, True)
    config.write_text(text)
    (own.folder / ".tally" / "policy").mkdir(parents=True)
    assert not own.lets("ls")


@each("text", ["", "{}", "[]", "null", '{"settings": [0, 0, 0, 0]}'])
def test_a_list_that_cannot_be_used_is_none(own: Project, text: str) -> None:
    (own.store / LIST).write_text(text)
    assert not own.lets("ls")
