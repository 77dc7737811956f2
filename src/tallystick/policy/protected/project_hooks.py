"""What the hooks of other programs run that stand in a project's settings of an agent.

Owns when such a hook is the project's own business: each of its commands is read as a call in that project would be, with
the scripts that it starts, and must stay in the project, reach no host and answer no question for the user. Must not know
which file they stand in, nor what is decided.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import NamedTuple

from tallystick.model.decision import Call
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.step import Json
from tallystick.policy.calls.acts import is_below
from tallystick.policy.calls.reader import read_call
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.content.unasked import runs_of
from tallystick.policy.kinds import Named, kinds_of
from tallystick.policy.risks import risks_of
from tallystick.policy.settings import Settings
from tallystick.policy.world import FileKind, World

_MOST_COMMANDS = 64
_MOST_NESTED = 12
_COMMANDS = ("command", "bash")
_ANSWERS = pattern_of(
    r"(?i)approve|permissiondecision|updatedinput|[\"']?(?:decision|behavior)[\"']?\s{0,9}[:=]|\ballow\b"
)
"""A hook that prints this answers the agent's questions in place of its user."""
_HARMLESS_UNKNOWN = frozenset((Operation.READ, Operation.EDIT, Operation.LIST))
"""What may be done to a file that the agent names to the hook: a formatter's or a linter's work."""


class Runs(enum.Enum):
    """What the hooks of settings run."""

    NOTHING = "nothing"
    """Nothing is said of hooks."""
    PROJECT = "project"
    """Programs of the project and installed ones, in the project alone."""
    ELSEWHERE = "elsewhere"
    """What is not known, lies elsewhere, talks to a host or answers for the user."""


class HooksRead(NamedTuple):
    """Reads the hooks that one call writes."""

    reading: CallReading
    world: World
    settings: Settings

    def runs(self, hooks: Json, project: str) -> Runs | None:
        """What hooks run in a project; None: what no hook may do, or none are left."""
        found = Runs.PROJECT
        commands = list(_commands(hooks, 0))
        if not 0 < len(commands) <= _MOST_COMMANDS:
            return None
        for command in commands:
            one = Runs.ELSEWHERE if command is None else self._of_command(command, project)
            if one is None:
                return None
            found = one if one is Runs.ELSEWHERE else found
        return found

    def _of_command(self, command: str, project: str) -> Runs | None:
        call = Call(agent=self.reading.call.agent, session="", tool="Bash", cwd=project, args={"command": command})
        inner = read_call(call, self.world, home=self.reading.home, workspace=project)
        texts = [command, *(snippet.text for snippet in inner.snippets)]
        texts += [word.plain for script in inner.scripts for one in script.commands for word in one.words]
        if any(risks_of(inner, self.settings)) or any(runs_of("", text) for text in texts):
            return None
        intents = inner.effects.intents
        if any(self._is_secret(intent, project) for intent in intents):
            return None
        is_plain = all(self._is_of_project(intent, project) for intent in intents)
        if inner.effects.opaque or not intents or not is_plain or any(map(_ANSWERS.search, texts)):
            return Runs.ELSEWHERE
        return Runs.PROJECT

    def _is_secret(self, intent: Intent, project: str) -> bool:
        if intent.domain is not Domain.FILE or not intent.target.startswith("/"):
            return False
        home = self.reading.home
        named = Named(path=intent.target, real=self.world.real(intent.target), home=home, workspace=project)
        return any("secret" in kind for kind in kinds_of(named, self.settings))

    def _is_of_project(self, intent: Intent, project: str) -> bool:
        """Whether an intent stays in the project, or starts an installed program of which nothing else is known."""
        if intent.domain is Domain.PROCESS:
            return intent.operation is Operation.RUN and intent.is_known
        if intent.domain is Domain.UNKNOWN:
            what, _, name = intent.target.partition(": ")
            return (what == "program" and name.replace("-", "").isalnum()) or (
                what == "script" and self._is_there(name)
            )
        if intent.domain is not Domain.FILE:
            return False
        if not intent.is_known:
            return intent.operation in _HARMLESS_UNKNOWN
        if intent.operation is Operation.EXECUTE and not self._is_there(intent.target):
            return False
        real = self.world.real(intent.target)
        projects = (project, self.world.real(project))
        return intent.target == "/dev/null" or (is_below(intent.target, projects) and is_below(real, projects))

    def _is_there(self, path: str) -> bool:
        return path.startswith("/") and self.world.state(path).kind in (FileKind.FILE, FileKind.FOLDER)


def _commands(value: Json, depth: int) -> Iterator[str | None]:
    """The commands of hooks; None for a hook that is none: an address, a prompt, what is nested too deep."""
    if depth > _MOST_NESTED:
        yield None
    elif isinstance(value, list):
        for item in value:
            yield from _commands(item, depth + 1)
    elif isinstance(value, dict):
        yield from _of_hook(value, depth)


def _of_hook(hook: dict[str, Json], depth: int) -> Iterator[str | None]:
    named = [hook[name] for name in _COMMANDS if name in hook]
    if named:
        yield from (text if isinstance(text, str) else None for text in named)
        if hook.get("type", "command") != "command" or "args" in hook or "cwd" in hook or "env" in hook:
            yield None
    elif "type" in hook or "url" in hook or "prompt" in hook:
        yield None
    else:
        for item in hook.values():
            yield from _commands(item, depth + 1)
