"""A guard as a program: where it is installed, what it writes into the settings of Claude Code, and what its hooks answer.

Owns packages, processes and the contract of a hook. Guards are programs of strangers: each has a home folder of its own, a
time limit, and no network where the system can take it away. Must not know what cases there are, nor which answer is right.
"""

from __future__ import annotations

import enum
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec

from tallystick.model.decision import Effect
from tallystick.model.step import Json

_GUARDS = Path(__file__).parent / "guards.toml"
_SETTINGS = (".claude/settings.json", "project/.claude/settings.json", "project/.claude/settings.local.json")
_ORDER = (Effect.ALLOW, Effect.ASK, Effect.DENY)
_DECISIONS = {"deny": Effect.DENY, "block": Effect.DENY, "ask": Effect.ASK}
_REFUSES = 2
_LONGEST_SECONDS = 30.0


class Registry(enum.StrEnum):
    """Where a guard is from."""

    PYPI = "pypi"
    NPM = "npm"
    HERE = "here"


class Guard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One guard, as guards.toml says."""

    name: str
    registry: Registry = Registry.HERE
    version: str = ""
    install: tuple[str, ...] = ()
    hooks: dict[str, str] = {}
    start: tuple[str, ...] = ()
    """What starts a process that its hooks ask, where it has one."""
    stop: tuple[str, ...] = ()
    """What ends that process."""


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """One command of the settings. Members that are not named here do not change an answer."""

    command: str
    args: tuple[str, ...] | None = None
    on_failure: str = msgspec.field(name="onFailure", default="")


class _Matched(msgspec.Struct, frozen=True):
    hooks: tuple[Hook, ...]
    matcher: str = ""


class _Settings(msgspec.Struct, frozen=True):
    hooks: dict[str, tuple[_Matched, ...]] = {}


class Answer(msgspec.Struct, frozen=True):
    """What the hooks of a guard said of a call, and how long the agent waited for it."""

    effect: Effect
    took_ms: float


def guards() -> tuple[Guard, ...]:
    """All that are compared, ours first."""
    return msgspec.convert(tomllib.loads(_GUARDS.read_text("utf-8"))["guard"], tuple[Guard, ...])


# Installing ----------------------------------------------------------------------------------------------------------


def fetched(guard: Guard, kept: Path) -> Path:
    """The folder of the guard's commands; what is not there yet is installed below `kept`, without scripts of its own.

    Raises: subprocess.CalledProcessError: the registry has no such version, or none that needs no building.
    """
    if guard.registry is Registry.HERE:
        return Path(sys.executable).parent
    place = kept / f"{guard.name}-{guard.version}"
    commands = place / ("bin" if guard.registry is Registry.PYPI else "node_modules/.bin")
    if not commands.exists():
        for command in _installing(guard, place):
            subprocess.run(command, check=True, capture_output=True, timeout=600)
    return commands


def _installing(guard: Guard, place: Path) -> Iterator[list[str]]:
    if guard.registry is Registry.NPM:
        flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(place)]
        yield ["npm", "install", *flags, f"{guard.name}@{guard.version}"]
        return
    yield [sys.executable, "-m", "venv", str(place)]
    yield [f"{place}/bin/pip", "install", "-q", "--only-binary", ":all:", f"{guard.name}=={guard.version}"]


@cache
def _without_network() -> tuple[str, ...]:
    taken_away = ("unshare", "--net")
    if shutil.which("unshare") is None:
        return ()
    tried = subprocess.run([*taken_away, "true"], check=False, capture_output=True, timeout=10)
    return () if tried.returncode else taken_away


class Seat:
    """A guard in one home folder: its settings are there, and calls are put before its hooks."""

    def __init__(self, guard: Guard, commands: Path, user: Path) -> None:
        self.guard = guard
        self.user = user
        self._commands = commands
        self._wrapper = () if guard.registry is Registry.HERE else _without_network()

    def install(self) -> None:
        """Put the guard into the settings of this home folder, as its page says."""
        if self.guard.install:
            self._run(self.guard.install, b"")
        if self.guard.hooks:
            entries = [
                {"matcher": tool, "hooks": [{"type": "command", "command": command}]}
                for tool, command in self.guard.hooks.items()
            ]
            (self.user / _SETTINGS[0]).write_text(json.dumps({"hooks": {"PreToolUse": entries}}), "utf-8")

    def moved(self, user: Path) -> Seat:
        """The same in a copy of the home folder, whose settings name the first."""
        for name in _SETTINGS:
            path = user / name
            if path.exists():
                path.write_text(path.read_text("utf-8").replace(str(self.user), str(user)), "utf-8")
        return Seat(self.guard, self._commands, user)

    def start(self) -> None:
        """Start what the hooks ask."""
        if self.guard.start:
            self._run(self.guard.start, b"")

    def leave(self) -> None:
        """End what the hooks ask."""
        if self.guard.stop:
            self._run(self.guard.stop, b"")

    def hooks(self, event: str, tool: str) -> Iterator[Hook]:
        """Those that Claude Code would run for an event, in order, each once."""
        found: dict[Hook, None] = {}
        for name in _SETTINGS:
            path = self.user / name
            if not path.exists():
                continue
            settings = msgspec.json.decode(path.read_bytes(), type=_Settings)
            for entry in settings.hooks.get(event, ()):
                if entry.matcher in ("", "*") or re.fullmatch(entry.matcher, tool):
                    found.update(dict.fromkeys(entry.hooks))
        yield from found

    def ask(self, payload: Mapping[str, Json]) -> Answer:
        """The strictest answer of all hooks for a payload."""
        event, tool = str(payload["hook_event_name"]), str(payload.get("tool_name", ""))
        sent = msgspec.json.encode(payload)
        began = time.perf_counter()
        said = [self._answer(hook, sent) for hook in self.hooks(event, tool)]
        took = (time.perf_counter() - began) * 1000
        return Answer(max(said, key=_ORDER.index, default=Effect.ALLOW), took)

    def _answer(self, hook: Hook, sent: bytes) -> Effect:
        command = ("sh", "-c", hook.command) if hook.args is None else (hook.command, *hook.args)
        code, output = self._run(command, sent)
        if code == _REFUSES:
            return Effect.DENY
        if code:
            return Effect.DENY if hook.on_failure == "block" else Effect.ALLOW
        return said_in(output)

    def _run(self, command: tuple[str, ...], sent: bytes) -> tuple[int, bytes]:
        environment = {
            "HOME": str(self.user),
            "PATH": os.pathsep.join((str(self._commands), os.environ.get("PATH", os.defpath))),
            "LANG": "C.UTF-8",
            "CLAUDE_PROJECT_DIR": str(self.user / "project"),
        }
        try:
            done = subprocess.run(
                [*self._wrapper, *command],
                input=sent,
                capture_output=True,
                check=False,
                cwd=self.user / "project",
                env=environment,
                timeout=_LONGEST_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return 1, b""
        return done.returncode, done.stdout


def said_in(output: bytes) -> Effect:
    """The decision that a hook printed; silence, and what is not a decision, let the call through."""
    try:
        value = json.loads(output or b"null")
    except ValueError:
        return Effect.ALLOW
    if not isinstance(value, dict):
        return Effect.ALLOW
    if value.get("continue") is False:
        return Effect.DENY
    specific = value.get("hookSpecificOutput")
    said = specific.get("permissionDecision") if isinstance(specific, dict) else None
    return _DECISIONS.get(str(said or value.get("decision")), Effect.ALLOW)
