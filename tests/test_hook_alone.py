"""The state table of docs/live.md: what a hook prints, how long it takes and what is on disk, whatever the recorder does.

Each test runs the hook as the agent does, in a state made for real, and asserts no time: where the recorder hangs, the hook
ends all the same. `python -m bench` has the figures.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tallystick import hook, hook_alone
from tallystick.agents.hooks import NAMES, Payload, hook_adapter
from tallystick.agents.hooks.asks import ASKS
from tallystick.capture import recorder
from tallystick.catalog.agents import AGENTS as CATALOGUED
from tallystick.catalog.agents import SHARED_TOOLS, Asking
from tallystick.hook_looks import LIST
from tallystick.journal.home import Home
from tallystick.journal.keys import spool_key
from tallystick.model.decision import Call, Decision, Effect
from tallystick.recording.store import init_store
from tallystick.service.deciding import Deciding
from tests.service import faults
from tests.service.faults import AGENTS, SmallDisk, before, event_word, needs_mount, prompt, run_hook, steps, wait_for
from tests.support import hooks, recorders
from tests.support.cases import each

small_disk = faults.small_disk

_ASKING, _REFUSED = (next(agent for agent in AGENTS if (ASKS[agent] is Asking.PROMPT) == can) for can in (True, False))
BOTH_WAYS = [_ASKING, _REFUSED]
"""One agent that can ask its user and one that cannot: what the state of the recorder does to a call depends on no more. The
answers to each agent are in three tests: …is_there_decides, on_error_answers… and asking_and_refusing…"""
ONE_WAY = [_ASKING, pytest.param(_REFUSED, marks=pytest.mark.soak)]
"""Where the answer is that of a policy, it is the same for both."""


class Told(msgspec.Struct, frozen=True):
    """What a hook answered to one payload."""

    code: int
    out: bytes
    error: bytes

    @property
    def silent(self) -> bool:
        return (self.code, self.out, self.error) == (0, b"", b"")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    store = Home(tmp_path / "store")
    yield store
    recorder.stop(store.folder)


def tell(home: Path, agent: str, said: dict[str, Any], **options: Any) -> Told:
    done = run_hook(home, said, agent, **options)
    return Told(done.returncode, done.stdout, done.stderr)


KINDS = ("reads", "acts", "harms", "other")


def tell_all(home: Path, agent: str, hook: Path | None = None, *, kinds: Sequence[str] = KINDS) -> dict[str, Told]:
    """The four kinds of payload, or some of them, at once."""
    said = {
        "reads": before(agent, 1, reads=True),
        "acts": before(agent, 2),
        "harms": before(agent, 3, command=f"rm -rf {home}"),
        "other": prompt(agent, 4),
    }
    with ThreadPoolExecutor(4) as threads:
        return dict(zip(kinds, threads.map(lambda kind: tell(home, agent, said[kind], hook=hook), kinds), strict=True))


def refuses(agent: str, told: Told) -> bool:
    """Whether the answer makes the agent refuse the call, by what was observed of each."""
    if told.code == 2:
        return bool(told.error)
    said = json.loads(told.out or b"{}")
    nested = said.get("hookSpecificOutput", {})
    where = {"gemini": said.get("decision"), "copilot": said.get("permissionDecision")}
    return told.code == 0 and where.get(agent, nested.get("permissionDecision")) == "deny"


def asks(agent: str, told: Told) -> bool:
    said = json.loads(told.out or b"{}")
    nested = said.get("hookSpecificOutput", {})
    return told.code == 0 and (said if agent == "copilot" else nested).get("permissionDecision") == "ask"


def kept(home: Path) -> list[Path]:
    return sorted((home / "spool").glob("*.spool"))


def assert_recorded(home: Home, agent: str) -> None:
    """All four are in the record once a recorder runs, each once."""
    recorders.start(home.folder)
    wait_for(lambda: sum(step.type in ("tool_call", "user") for step in steps(home, agent)) >= 4)
    assert sorted(step.type for step in steps(home, agent) if step.type in ("tool_call", "user")) == [
        "tool_call",
        "tool_call",
        "tool_call",
        "user",
    ]
    wait_for(lambda: not kept(home.folder))


@pytest.mark.parametrize("agent", AGENTS)
def test_a_recorder_that_is_there_decides(home: Home, agent: str) -> None:
    recorders.start(home.folder)
    tell(home.folder, agent, prompt(agent, 0))  # its modules are loaded
    told = tell_all(home.folder, agent)
    assert [told[kind].silent for kind in ("reads", "acts", "other")] == [True, True, True]
    assert refuses(agent, told["harms"]), told["harms"]
    assert kept(home.folder) == []
    assert sum(step.type == "tool_call" for step in steps(home, agent)) == 3
    decided = [step for step in steps(home, agent) if step.type == "decision"]
    assert [step.meta["effect"] for step in decided] == ["deny"]


@pytest.mark.parametrize("agent", ONE_WAY)
def test_a_recorder_that_does_not_run_is_started(home: Home, agent: str) -> None:
    told = tell_all(home.folder, agent)
    assert [told[kind].silent for kind in ("reads", "other")] == [True, True]
    assert refuses(agent, told["harms"]) or asks(agent, told["harms"]), told["harms"]
    wait_for(lambda: recorder.status(home.folder) is not None)
    assert_recorded(home, agent)


@pytest.mark.parametrize("agent", ONE_WAY)
def test_a_recorder_that_hangs_is_not_waited_for_long(home: Home, agent: str) -> None:
    running = recorders.start(home.folder)
    os.kill(running, signal.SIGSTOP)
    try:
        told = tell_all(home.folder, agent, hooks.hook(**hooks.HASTY))  # it ends while the recorder hangs
        assert len(kept(home.folder)) == 4
        assert_decided_alone(home.folder, agent, told)
    finally:
        os.kill(running, signal.SIGCONT)
    assert_recorded(home, agent)


@pytest.mark.parametrize("agent", BOTH_WAYS)
def test_where_no_time_is_left_to_decide_the_setting_answers(home: Home, agent: str) -> None:
    home.folder.mkdir()
    (home.folder / "run").write_text("no folder")
    told = tell_all(home.folder, agent, hooks.hook(answer=0.1, start=0.1, deadline=0.0))
    assert [told[kind].silent for kind in ("reads", "other")] == [True, True]
    for kind in ("acts", "harms"):
        assert refuses(agent, told[kind]) or asks(agent, told[kind]), told[kind]
    assert sum(".on_error-" in path.name for path in kept(home.folder)) == 2
    (home.folder / "run").unlink()


def test_an_agent_waits_two_seconds_at_most() -> None:
    assert hook.ANSWER_SECONDS + hook_alone.START_SECONDS < hook_alone.DEADLINE_SECONDS <= 2


@pytest.mark.parametrize("agent", ONE_WAY)
def test_a_recorder_that_cannot_be_started_is_done_without(home: Home, agent: str) -> None:
    home.folder.mkdir()
    (home.folder / "run").write_text("no folder")
    told = tell_all(home.folder, agent, hooks.hook(**hooks.HASTY), kinds=("harms", "other"))
    assert len(kept(home.folder)) == 2
    assert told["other"].silent
    assert refuses(agent, told["harms"]) or asks(agent, told["harms"]), told["harms"]
    (home.folder / "run").unlink()
    recorders.start(home.folder)
    wait_for(lambda: {"tool_call", "user"} <= {step.type for step in steps(home, agent)})
    wait_for(lambda: not kept(home.folder))


def assert_decided_alone(home: Path, agent: str, told: dict[str, Told]) -> None:
    """What only reads is let go; of the rest a full interpreter has decided: the file says so."""
    assert [told[kind].silent for kind in ("reads", "acts", "other")] == [True, True, True]
    names = [path.name for path in kept(home)]
    assert sum(".alone." in name for name in names) >= 2, names  # of what only reads nothing need be decided
    assert refuses(agent, told["harms"]) or asks(agent, told["harms"]), told["harms"]


@needs_mount
@pytest.mark.parametrize("agent", BOTH_WAYS)
def test_on_a_full_disk_calls_are_decided_from_memory(small_disk: SmallDisk, agent: str) -> None:
    home = Home(small_disk.path / "store")
    recorders.start(home.folder)
    try:
        tell(home.folder, agent, before(agent, 0))  # the policies are loaded
        small_disk.fill()
        told = tell_all(home.folder, agent)
        assert [told[kind].silent for kind in ("reads", "acts", "other")] == [True, True, True]
        assert refuses(agent, told["harms"]), told["harms"]
        small_disk.free()
        tell(home.folder, agent, before(agent, 9))
        wait_for(lambda: [step for step in steps(home, "tallystick") if step.type == "gap"])
        # The last page of a journal may still have room for some of them, or for a call without its decision; that of the
        # recorder's own for a gap that tells of the first.
        gaps = [step for step in steps(home, "tallystick") if step.type == "gap"]
        there = sum(step.type in ("tool_call", "user") for step in steps(home, agent))
        assert {gap.meta["reason"] for gap in gaps} == {"not-writable"}
        assert there + sum(int(str(gap.meta["events"])) for gap in gaps) >= 6
    finally:
        recorder.stop(home.folder)


@needs_mount
def test_on_a_full_disk_without_a_recorder_calls_are_decided_all_the_same(small_disk: SmallDisk) -> None:
    home = Home(small_disk.path / "store")
    recorders.start(home.folder)
    recorder.stop(home.folder)
    small_disk.fill()
    try:
        harms = before("claude-code", 1, command=f"rm -rf {home.folder}")
        told = tell(home.folder, "claude-code", harms, hook=hooks.hook(**hooks.HASTY))
        assert refuses("claude-code", told) or asks("claude-code", told)
        assert tell(home.folder, "claude-code", prompt("claude-code", 2), hook=hooks.hook(**hooks.HASTY)).silent
    finally:
        small_disk.free()
        recorder.stop(home.folder)


# Nobody can decide ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter without Tallystick: what is left of an installation that was half removed."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return str(folder / "bin" / "python")


@pytest.mark.parametrize("wanted", ["ask", "deny", "allow"])
@pytest.mark.parametrize("agent", AGENTS)
def test_on_error_answers_where_nobody_can_decide(home: Home, bare_python: str, agent: str, wanted: str) -> None:
    home.folder.mkdir(mode=0o700)
    home.config.write_text(f'[hooks]\non_error = "{wanted}"\n')
    spool_key(home)  # as an installation of hooks leaves it
    told = tell(home.folder, agent, before(agent, 1), python=bare_python, hook=hooks.hook(**hooks.HASTY))
    if wanted == "allow":
        assert told.silent
    elif wanted == "ask" and ASKS[agent] is Asking.PROMPT:
        assert asks(agent, told), told
    else:
        assert refuses(agent, told), told
    effect = "ask" if wanted == "ask" and ASKS[agent] is Asking.PROMPT else wanted.replace("ask", "deny")
    assert [path.name.split(".")[1] for path in kept(home.folder)] == [f"on_error-{effect}"]
    recorders.start(home.folder)
    wait_for(lambda: any(step.type == "tool_call" for step in steps(home, agent)))
    found = [step.meta["effect"] for step in steps(home, agent) if step.type == "decision"]
    assert found == ([] if effect == "allow" else [effect])


@pytest.mark.parametrize("name", NAMES)
def test_asking_and_refusing_are_said_as_the_agent_module_says_them(tmp_path: Path, name: str) -> None:
    agent = name.replace("_", "-")
    adapter = hook_adapter(agent)
    assert adapter is not None
    call = Call(agent=agent, session="s", tool="Bash")
    payload = Payload(event="PreToolUse", session="s", asks=call)
    effect, (code, out, error) = hook_alone.on_error(str(tmp_path), agent, {})
    reply = adapter.reply(payload, Decision(effect=Effect(effect), reason=hook_alone._REASON))
    if effect == "ask" or code == 0:
        assert json.loads(out) == json.loads(reply.stdout)
        assert code == reply.exit_code
    else:
        assert (code, out) == (2, b"")
        assert error
    can_ask = ASKS.get(agent) is Asking.PROMPT or agent == "hermes"
    assert effect == ("ask" if can_ask else "deny")


def test_what_the_hook_knows_of_agents_is_what_the_catalogue_says() -> None:
    hooked = {name: facts.hooks for name, facts in CATALOGUED.items() if facts.hooks is not None}
    assert set(hook_alone._DECIDING) == {hooks.before_call for hooks in hooked.values()}
    assert set(hook_alone._ASKING) == {name for name, hooks in hooked.items() if hooks.asking is Asking.PROMPT}
    assert set(hook_alone._REFUSING) <= set(hooked) - set(hook_alone._ASKING)


def test_what_the_hook_lets_pass_unjudged_has_no_effects_in_any_agent() -> None:
    does = {
        (tool, kind)
        for tools in (*(facts.tools for facts in CATALOGUED.values()), SHARED_TOOLS)
        for kind, names in tools.items()
        for tool in names
        if tool in hook_alone._READ_ONLY
    }
    assert {tool for tool, _ in does} == set(hook_alone._READ_ONLY)
    assert {kind for _, kind in does} <= {"read", "list", "tree", "search", "look", "nothing"}


def test_claude_code_is_not_asked_in_the_mode_in_which_it_asks_nobody(tmp_path: Path) -> None:
    said: dict[str, object] = {"permission_mode": "bypassPermissions"}
    assert hook_alone.on_error(str(tmp_path), "claude-code", said)[0] == "deny"


@each(
    "said, deciding",
    [
        ({"hook_event_name": "PreToolUse", "tool_name": "Bash"}, True),
        ({"hook_event_name": "PreToolUse", "tool_name": "Read"}, True),
        ({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"tool_name": "Read"}}, True),
        ({"hook_event_name": "PostToolUse", "tool_input": {"hook_event_name": "PreToolUse"}}, False),
        ({"hook": "tool_call", "tool_name": "write"}, True),
        ({"tally_probe": True}, False),
    ],
    ids=["acts", "reads", "reads-in-its-arguments", "is-done", "pi", "nothing"],
)
def test_only_a_call_that_has_not_run_is_decided(said: dict[str, object], deciding: bool) -> None:
    data = json.dumps(said).encode()
    assert hook_alone.is_deciding("", hook_alone.told(data), data) is deciding


def test_where_nobody_can_decide_only_a_call_with_effects_is_held_up() -> None:
    assert hook_alone.has_effects({"tool_name": "Bash"})
    assert not hook_alone.has_effects({"tool_name": "Read"})
    assert hook_alone.has_effects({"tool_name": "Bash", "tool_input": {"tool_name": "Read"}})


TWICE = b'{"hook_event_name":"PreToolUse","hook_event_name":"PostToolUse"}'


@each(
    "event, data, deciding",
    [
        ("PreToolUse", b"", False),
        ("", b" ", False),
        ("PreToolUse", b"[]", True),
        ("PostToolUse", b"[]", False),
        ("", b"[" * 100_000, True),
        ("", b"\xff", True),
        ("", b'{"hook_event_name": "PostToolUse", "x": "\xff"}', False),
        ("", b'\xef\xbb\xbf{"hook_event_name": "PreToolUse"}', True),
        ("", '{"hook": "tool_call"}'.encode("utf-16"), True),
        ("", TWICE, True),
    ],
    ids=ascii,
)
def test_what_cannot_be_read_is_a_question_unless_it_tells_of_another_event(
    event: str, data: bytes, deciding: bool
) -> None:
    assert hook_alone.is_deciding(event, hook_alone.told(data), data) is deciding


def test_in_a_mode_without_questions_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    said: dict[str, object] = {"permission_mode": hook_alone.mode_in(b'{"permission_mode":"bypassPermissions"')}
    assert hook_alone.on_error(str(tmp_path), "claude-code", said)[0] == "deny"


def test_every_agent_can_be_told_from_what_its_command_says() -> None:
    assert [event_word(agent, before(agent, 1)) for agent in AGENTS] == [[], [], [], [], ["preToolUse"]]


def test_a_setting_behind_a_link_is_not_obeyed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text('[hooks]\non_error = "allow"\n')
    (tmp_path / "config.toml").symlink_to(tmp_path / "elsewhere.toml")
    assert hook_alone.on_error(str(tmp_path), "claude-code", {})[0] == "ask"


# Calls that only look -------------------------------------------------------------------------------------------------


def plain_project(home: Home, folder: Path) -> Path:
    """A folder that agents work in, and the list that a recorder leaves in the store."""
    place = folder / "project"
    place.mkdir()
    (place / "main.py").write_text("x = 1\n")
    init_store(home)
    (home.folder / "run").mkdir()
    Deciding(home).warm()
    return place


def test_a_plain_look_goes_on_although_nothing_can_decide_and_is_recorded_later(
    tmp_path_factory: pytest.TempPathFactory, bare_python: str
) -> None:
    folder = tmp_path_factory.mktemp("plain")
    home = Home(folder / "store")
    place = plain_project(home, folder)
    try:
        for number, command in enumerate(("git status", "ls", "cat main.py", "cat main.py; id", "cat ~/.ssh/id_rsa")):
            said = {**before("claude-code", number, command=command), "cwd": str(place)}
            told = tell(home.folder, "claude-code", said, python=bare_python, hook=hooks.hook(**hooks.HASTY))
            assert told.silent == (number < 3), command
            assert told.silent or asks("claude-code", told)
        assert len(kept(home.folder)) == 5
        recorders.start(home.folder)
        wait_for(lambda: sum(step.type == "tool_call" for step in steps(home, "claude-code")) == 5)
        wait_for(lambda: not kept(home.folder))
    finally:
        recorder.stop(home.folder)


def test_a_recorder_leaves_the_list_and_is_started_by_the_first_plain_look(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("plain")
    home = Home(folder / "store")
    place = plain_project(home, folder)
    (home.folder / LIST).unlink()
    try:
        recorders.start(home.folder)
        wait_for((home.folder / LIST).exists)
        recorder.stop(home.folder)
        for number in range(3):
            said = {**before("claude-code", number, command="git status"), "cwd": str(place)}
            assert tell(home.folder, "claude-code", said).silent
        wait_for(lambda: sum(step.type == "tool_call" for step in steps(home, "claude-code")) == 3)
    finally:
        recorder.stop(home.folder)
