"""The plugin of gptme, in the real gptme: its own registry of hooks, its own tools, its own settings."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tallystick.plugins.gptme
from tallystick.agents.gptme import hooks as gptme
from tallystick.agents.hooks import HookCommand
from tallystick.journal.home import Home
from tests.plugins.store import a_store, steps, until
from tests.support import recorders
from tools.live import install

PLUGINS = Path(tallystick.plugins.gptme.__file__).parent
_PROGRAM = install.program(install.agent_named("gptme"))
pytestmark = pytest.mark.skipif(_PROGRAM is None, reason=f"gptme is not installed in {install.place()}: make agents")

_SETUP = """
import contextvars, json, sys, threading
from pathlib import Path
plugins, python, store, work = sys.argv[1:]
sys.path.insert(0, plugins)
from gptme.hooks import HookType, get_hooks, register_hook, trigger_hook, unregister_hook
from gptme.hooks.registry import disable_hook
from gptme.logmanager import LogManager
from gptme.tools import init_tools
from gptme.tools.base import ToolUse
from tallystick_gptme.hooks import record
record._deliver.use(python=python, home=store)
shown = []
def conversation(name):
    return LogManager.load(Path(work) / "logs" / name, create=True, lock=False)
def run(tool, content, call_id=None, kwargs=None):
    return [m.content for m in ToolUse(tool, None if kwargs else [], content, kwargs=kwargs, call_id=call_id).execute()]
init_tools(["shell", "save", "read"])
"""
Run = Callable[[str], Any]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with a_store(tmp_path) as store:
        recorders.start(store.folder)
        yield store


@pytest.fixture
def run(home: Home, tmp_path: Path) -> Run:
    """Run Python in gptme's own environment; what it leaves in `shown`."""

    def run_it(script: str) -> Any:
        assert _PROGRAM is not None
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        program = f"{_SETUP}\n{script}\nprint('\\nSHOWN', json.dumps(shown))"
        words = [str(_PROGRAM.parent / "python"), "-c", program, str(PLUGINS), sys.executable, str(home.folder)]
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "user"), "GPTME_TIKTOKEN_TIMEOUT": "0"}
        done = subprocess.run(
            [*words, str(work)], cwd=work, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.rpartition("SHOWN ")[2])

    return run_it


def test_a_refused_call_is_not_done_and_gptme_is_told_why(home: Home, run: Run, tmp_path: Path) -> None:
    forbidden = home.folder / "planted.txt"
    shown = run(
        f"""
conversation("demo")
record.register()
shown.append(run("shell", "echo hi > ok.txt"))
shown.append(run("shell", "echo no > {forbidden}", "call_1"))
shown.append(run("save", None, "call_2", {{"path": {str(forbidden)!r}, "content": "no"}}))
shown.append(len(record._refused))
"""
    )
    assert (tmp_path / "work" / "ok.txt").read_text() == "hi\n"
    assert not forbidden.exists()
    until(lambda: len(steps(home, "gptme", "tool_result")) == 3)
    reasons = [step.values["content.text"] for step in steps(home, "gptme", "decision")]
    assert shown[1:] == [[reasons[0]], [reasons[1]], 0]
    results = steps(home, "gptme", "tool_result")
    assert [step.meta.get("decision") for step in results] == [None, "deny", "deny"]
    assert {step.session for step in results} == {results[0].session}


def test_without_the_plugin_the_same_call_is_done(home: Home, run: Run) -> None:
    planted = home.folder / "planted.txt"
    run(f'conversation("demo")\nrun("shell", "echo no > {planted}")')
    assert planted.read_text() == "no\n"


@pytest.mark.parametrize("away", ["unregister_hook", "disable_hook"])
def test_hooks_that_are_taken_away_come_back_and_the_record_says_so(home: Home, run: Run, away: str) -> None:
    forbidden = home.folder / "planted.txt"
    (missing, left, shown) = run(
        f"""
manager = conversation("demo")
record.register()
{away}("tallystick.tool.confirm")
shown.append(record.missing())
for _ in trigger_hook(HookType.TURN_PRE, manager=manager): pass
shown.append(record.missing())
{away}("tallystick.tool.confirm")
shown.append(run("shell", "echo no > {forbidden}"))
"""
    )
    assert (missing, left) == (["tool.confirm"], [])
    assert not forbidden.exists(), "a call checks, too"
    assert shown
    until(lambda: len(steps(home, "gptme", "warning")) == 2)
    assert steps(home, "gptme", "warning")[0].meta["hooks"] == ["tool.confirm"]


def test_a_thread_without_hooks_gets_them_by_registering_again_and_shares_what_is_known(home: Home, run: Run) -> None:
    forbidden = home.folder / "planted.txt"
    shown = run(
        f"""
record.register()
def serve():
    conversation("served")
    shown.append(len(record.missing()))
    record.register()
    record.register()
    shown.append(len(record.missing()))
    shown.append(len([hook for hook in get_hooks() if hook.name.startswith("tallystick.")]))
    shown.append(run("shell", "echo no > {forbidden}"))
thread = threading.Thread(target=lambda: contextvars.Context().run(lambda: (init_tools(["shell"]), serve())))
thread.start()
thread.join()
"""
    )
    assert shown[:3] == [len(gptme.EVENTS), 0, len(gptme.EVENTS)]
    assert not forbidden.exists()
    until(lambda: steps(home, "gptme", "decision"))


def test_each_hook_of_the_plugin_is_an_event_of_the_adapter(run: Run) -> None:
    assert sorted(run("shown += [kind.value for kind in record._HOOKS]")) == sorted(gptme.EVENTS)


def test_provenance_is_a_command_in_a_conversation(run: Run, tmp_path: Path) -> None:
    shown = run(
        """
import io, os
from contextlib import redirect_stdout
from types import SimpleNamespace
from gptme.commands.base import get_registered_commands
from tallystick_gptme import commands, plugin
commands.register()
shown.append("provenance" in get_registered_commands())
shown.append(plugin().name)
said = io.StringIO()
with redirect_stdout(said):
    list(commands.provenance(SimpleNamespace(args=["list"])))
shown.append(said.getvalue())
program = Path(work) / "gptme-provenance"
program.write_text('#!/bin/sh\\necho "$@" > asked.txt\\n')
program.chmod(0o755)
os.environ["PATH"] = work + ":" + os.environ["PATH"]
list(commands.provenance(SimpleNamespace(args=["verify", "a b"])))
"""
    )
    assert shown[:2] == [True, "tallystick"]
    assert "not on the PATH" in shown[2]
    assert (tmp_path / "work" / "asked.txt").read_text() == "verify a b\n"


@pytest.mark.parametrize("before", ["", "[plugins]\nenabled = []\n", '[plugins]\nenabled = ["other"]\n'])
def test_gptme_loads_the_plugin_from_the_settings_that_are_installed(run: Run, tmp_path: Path, before: str) -> None:
    (file,) = gptme.settings(project=False)
    settings = tmp_path / "user" / file.path
    settings.parent.mkdir(parents=True)
    hook = HookCommand(python=sys.executable, hook=str(PLUGINS.parents[1] / "hook.py"))
    settings.write_bytes(gptme.configure(file, before.encode(), hook))
    shown = run(
        """
from gptme.config import get_config
from gptme.plugins.registry import discover_all_plugins
shown += [plugin.name for plugin in discover_all_plugins(*get_config().get_plugin_config())]
"""
    )
    assert "tallystick_gptme" in shown


@pytest.mark.parametrize("named", [True, False])
def test_the_store_is_that_of_the_settings_whatever_the_environment_says(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    (file,) = gptme.settings(project=False)
    settings = tmp_path / "user" / file.path
    settings.parent.mkdir(parents=True)
    hook = HookCommand(python="p", hook=str(PLUGINS.parents[1] / "hook.py"), home="/of/the/settings" if named else None)
    settings.write_bytes(gptme.configure(file, b"", hook))
    shown = run(
        """
record._deliver._told.clear()
record._deliver._BY_ENVIRONMENT = "/of/the/environment"
record.register()
settings = Path.home() / ".config/gptme/config.toml"
settings.write_text(settings.read_text().replace("/of/the/settings", "/written/later"))
record.register()
shown.append(str(record._deliver.store()))
"""
    )
    assert shown == ["/of/the/settings" if named else "/of/the/environment"]


def test_a_list_of_plugins_without_ours_leaves_it_out(run: Run, tmp_path: Path) -> None:
    (file,) = gptme.settings(project=False)
    settings = tmp_path / "user" / file.path
    settings.parent.mkdir(parents=True)
    content = f'[plugins]\npaths = ["{PLUGINS}/tallystick_gptme"]\nenabled = ["other"]\n'.encode()
    settings.write_bytes(content)
    shown = run(
        """
from gptme.config import get_config
from gptme.plugins.registry import discover_all_plugins
shown += [plugin.name for plugin in discover_all_plugins(*get_config().get_plugin_config())]
"""
    )
    assert "tallystick_gptme" not in shown
    assert gptme.hooked(file, content) == ()
