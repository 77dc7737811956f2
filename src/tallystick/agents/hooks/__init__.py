"""Hooks: what agents tell a hook while they work, how they are answered, and how they are made to call it.

Owns the values and the Protocol that each agent's module satisfies, and the list of these modules. Nothing here opens a
file or a socket: `live.hook_pipeline` records and answers, `setup.install` reads and writes settings. Facts about each
agent's hooks are in its module and on its page in docs/agents.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from importlib import import_module
from typing import Protocol, cast

import msgspec

from tallystick.catalog.agents import AGENTS, Hooks
from tallystick.model.decision import Call, Decision
from tallystick.model.step import Event, Json

__all__ = ["asks", "hook_identity", "switches"]

UNNAMED = "hook/"
"""What the ids of events begin with for which an agent's hooks give none (docs/format.md 13.2, 19)."""


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """What one call of a hook said."""

    event: str
    """The agent's name of the event."""
    session: str
    """The session that the events belong to (for a sub-agent `<id>/<agent id>`)."""
    events: tuple[Event, ...] = ()
    """What is to be recorded, in order; their source is `hook`. A step that the payload gives no id has the source_id
    None: anyone who records names it `hook/<k>`, and finds the call to a result by tool, arguments and order."""
    asks: Call | None = None
    """The call that waits for our answer."""
    transcript: str | None = None
    """The file that the agent writes the session to, if it says so."""
    begins: bool = False
    """The agent began, resumed or compacted the session: its transcript is read before the events are recorded."""
    ends: bool = False
    """The agent ends the session: it is closed once its transcript is quiet."""
    continues: str | None = None
    """The session that this one continues under another id: the agent has left it, and it is closed likewise."""
    never_asks: bool = False
    """In the mode that the agent is in, it asks nobody: it would run a call on which we answer `ask`."""
    timed: bool = False
    """The payload holds the time of the event, so that the same bytes again are the same event reported twice."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What the hook prints and how it exits. Nothing at all is `no opinion` for every agent."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0


SILENT = Reply()


class HookCommand(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent calls our hook."""

    python: str
    """The interpreter, an absolute path."""
    hook: str
    """hook.py, an absolute path."""
    home: str | None = None
    """The store, an absolute path. None: the hook asks its environment, as those did that were installed long ago."""
    url: str | None = None
    """The recorder's loopback address, without a path: the agent is to call that instead, where it can."""
    token: str | None = None
    """What opens it."""

    def words(self, agent: str, event: str | None = None) -> list[str]:
        """The words of the command."""
        place = []
        if self.home is not None:
            place = ["--home", self.home]
        return [self.python, "-I", "-S", self.hook, *place, agent, *([event] if event is not None else [])]

    def shell(self, agent: str, event: str | None = None) -> str:
        """A command for /bin/sh, which ends silently with 0 where Tallystick was removed.

        Several agents would block every call because of an interpreter or a script that is not there.
        """
        python, hook = shlex.quote(self.python), shlex.quote(self.hook)
        return f"[ -x {python} ] && [ -f {hook} ] || exit 0; exec {shlex.join(self.words(agent, event))}"

    def http(self, agent: str) -> dict[str, Json] | None:
        """The handler that calls the recorder's port, without what an agent calls a time limit; None: by command alone."""
        if self.url is None:
            return None
        return {
            "type": "http",
            "url": f"{self.url}/hook/{agent}",
            "headers": {"Authorization": f"Bearer {self.token}", "X-Tally-Session": "$TALLY_SESSION"},
            "allowedEnvVars": ["TALLY_SESSION"],
        }


class SettingsFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of an agent that makes it call our hook."""

    path: str
    """Below the home folder, or below the project."""
    ours: bool = False
    """The whole file is ours: it is removed with the hook."""
    executable: bool = False
    variable: str | None = None
    """An environment variable that, if set, names the folder that stands for the first part of `path`."""
    name: str = ""
    """Which of the agent's files it is, for `configure`."""


class HookAdapter(Protocol):
    """One agent's hooks."""

    NAME: str
    """The agent's name, the same as of the reader of its histories."""
    EVENTS: tuple[str, ...]
    """The events that we subscribe to, as the agent calls them."""

    def settings(self, *, project: bool) -> tuple[SettingsFile, ...]:
        """The files that an installation touches: the user's, or those of a project. None: it cannot be done there."""
        ...

    def configure(self, file: SettingsFile, content: bytes, hook: HookCommand) -> bytes:
        """The file with our hook in it, all else untouched to the byte. Twice is as once; an older form is replaced.

        Raises:
            FormatError: the file is not what the agent would read; the message has the line.
        """
        ...

    def remove(self, file: SettingsFile, content: bytes) -> bytes:
        """The file without anything of ours. Raises what `configure` raises."""
        ...

    def hooked(self, file: SettingsFile, content: bytes) -> tuple[str, ...]:
        """The events for which the file calls our hook. Raises what `configure` raises."""
        ...

    def parse(self, data: bytes, event: str | None) -> Payload:
        """What a call of the hook said. `event` is what the command line gave, for agents whose payload has no name.

        Raises: FormatError: it is not a payload of this agent.
        """
        ...

    def reply(self, payload: Payload, decision: Decision) -> Reply:
        """What makes the agent obey: never asked for `allow` and `warn`, which are silence."""
        ...


def hook_agents() -> Iterator[str]:
    """The agents that have hooks, by their names in the catalogue."""
    return (name for name, facts in AGENTS.items() if facts.hooks is not None)


NAMES: tuple[str, ...] = tuple(name.replace("-", "_") for name in hook_agents())
"""The agents whose folder has a module `hooks`."""


def hooks_of(agent: str) -> Hooks:
    """What the catalogue says about the hooks of an agent that has some."""
    hooks = AGENTS[agent].hooks
    assert hooks is not None, agent
    return hooks


def hook_files(agent: str, *, project: bool) -> tuple[SettingsFile, ...]:
    """The files that an installation touches, as the catalogue has them."""
    hooks = hooks_of(agent)
    return tuple(
        SettingsFile(
            path=file.path.replace(_EVENT, event),
            ours=file.ours,
            executable=file.executable,
            variable=file.variable,
            name=file.name.replace(_EVENT, event),
        )
        for file in (hooks.project_files if project else hooks.files)
        for event in (hooks.events if _EVENT in file.path else ("",))
    )


_EVENT = "{event}"


def hook_adapters() -> dict[str, HookAdapter]:
    """All adapters by the agent's name."""
    return {adapter.NAME: adapter for adapter in map(_load, NAMES)}


def hook_adapter(agent: str) -> HookAdapter | None:
    """The adapter of one agent, loaded alone, or None."""
    module = agent.replace("-", "_")
    if module in NAMES:
        return _load(module)
    return None


def _load(module: str) -> HookAdapter:
    return cast("HookAdapter", import_module(f"tallystick.agents.{module}.hooks"))
