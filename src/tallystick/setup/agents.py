"""The agents on this machine: which there are, whether they call our hook, and what is not seen of them.

Owns putting together what their programs, their settings and the record say. Must not know any agent's format.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from tallystick.agents.blind_spots import BLIND_SPOTS
from tallystick.agents.hooks import hook_adapters
from tallystick.agents.hooks.hook_identity import is_ours
from tallystick.capture.programs import codex_hooks, find_program, program_version
from tallystick.capture.surroundings import Surroundings
from tallystick.catalog.agents import AGENTS, AgentFacts
from tallystick.errors import TallystickError
from tallystick.graph.queries import newest_time
from tallystick.journal.home import Home
from tallystick.model.step import Source
from tallystick.setup.install import hooked_events, switched_off_by
from tallystick.workspace.indexing import open_index

TRACES: Mapping[str, AgentFacts] = {
    name: facts for name, facts in AGENTS.items() if facts.programs and (facts.readers or facts.hooks is not None)
}
"""The agents that are looked for on a machine: by their programs, and folders below the user's home that they make."""
UNTRUSTED = {name: facts.hooks.untrusted for name, facts in AGENTS.items() if facts.hooks is not None}
"""What to say while an agent does not trust our handlers, by agent."""


class Agent(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one agent. `program` and `folder` None: not found.

    `hooked` are the events that call our hook and `unhooked` those that could; both empty: it has no hooks. `trusted` is None
    where an agent runs hooks without asking, or was not asked. `problem` says what is wrong with its settings.
    """

    agent: str
    program: Path | None
    folder: Path | None
    version: str | None = None
    can_be_hooked: bool
    hooked: tuple[str, ...] = ()
    unhooked: tuple[str, ...] = ()
    trusted: bool | None = None
    last_event: str | None = None
    unseen: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def is_found(self) -> bool:
        """Whether there is any trace of it on this machine."""
        return self.program is not None or self.folder is not None


def find_agent(agent: str, where: Surroundings) -> Agent:
    """Whether an agent is on this machine, without running it."""
    facts = AGENTS.get(agent)
    adapter = hook_adapters().get(agent)
    return Agent(
        agent=agent,
        program=find_program(facts.programs if facts is not None else (), where.environment),
        folder=_folder(facts, where.user),
        can_be_hooked=adapter is not None,
        unseen=tuple(spot.when for spot in BLIND_SPOTS.get(agent, ()) if spot.source is Source.HOOK),
    )


def _folder(facts: AgentFacts | None, user: Path) -> Path | None:
    paths = (user / name for name in (facts.folders if facts is not None else ()))
    return next((path for path in paths if path.is_dir()), None)


def find_agents(where: Surroundings) -> tuple[Agent, ...]:
    """All agents that could be here, found or not, without running any."""
    return tuple(find_agent(agent, where) for agent in dict.fromkeys((*TRACES, *hook_adapters())))


def agents(home: Home, where: Surroundings) -> tuple[Agent, ...]:
    """All agents that could be here, with all that is known of them. Those that are found are asked for their version."""
    found = find_agents(where)
    with ThreadPoolExecutor(4, thread_name_prefix="tallystick-agents") as pool:
        known = tuple(pool.map(lambda agent: _described_agent(agent, where), found))
    return tuple(_with_last_events(home, known))


def _described_agent(agent: Agent, where: Surroundings) -> Agent:
    if agent.can_be_hooked:
        agent = _with_hooks(agent, where)
    if agent.program is None:
        return agent
    version = program_version(agent.program, where.environment)
    trusted = None
    if agent.hooked and UNTRUSTED[agent.agent]:
        trusted = _trusted(agent, where)
    return msgspec.structs.replace(agent, version=version, trusted=trusted)


def _with_hooks(agent: Agent, where: Surroundings) -> Agent:
    try:
        hooked, problem = hooked_events(agent.agent, where), switched_off_by(agent.agent, where)
    except TallystickError as error:
        return msgspec.structs.replace(agent, problem=str(error))
    left = tuple(event for event in hook_adapters()[agent.agent].EVENTS if event not in hooked)
    return msgspec.structs.replace(agent, hooked=hooked, unhooked=left, problem=problem)


def _trusted(agent: Agent, where: Surroundings) -> bool | None:
    """Whether Codex runs our handlers: it skips, silently, those that its user has not trusted. None: it does not say."""
    assert agent.program is not None, "only a program can be asked"
    found = codex_hooks(agent.program, where.environment, where.project or where.user)
    ours = [hook for hook in found or () if isinstance(command := hook.get("command"), str) and is_ours(command)]
    if not ours:
        return None
    return all(hook.get("trustStatus") in ("trusted", "managed") and hook.get("enabled") is not False for hook in ours)


def _with_last_events(home: Home, found: Iterable[Agent]) -> Iterable[Agent]:
    """With the time of each agent's newest event that a hook reported, as far as the index knows."""
    times: dict[str, str | None] = {}
    found = tuple(found)
    if home.exists:
        with contextlib.suppress(TallystickError), open_index(home) as index:
            times = {agent.agent: newest_time(index.graph, agent.agent, Source.HOOK.value) for agent in found}
    for agent in found:
        yield msgspec.structs.replace(agent, last_event=times.get(agent.agent))
