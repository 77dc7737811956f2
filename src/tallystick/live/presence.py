"""Who is there: the agents' processes behind the live sessions, and what becomes of a session whose process is gone.

Owns how often is looked, and that an agent which has done what it was asked leaves a completed session behind, any other a
failed one. Must not know how a process is found, nor how an end is recorded.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

import msgspec

from tallystick.agents.hooks import Payload
from tallystick.capture.agent_process import AgentProcess, agent_above, is_running
from tallystick.catalog.agents import AGENTS
from tallystick.live.delivery import Unfinished
from tallystick.model.step import Json, Step
from tallystick.sessions.states import Status

_LOOK_SECONDS = 2.0
_MOST_SESSIONS = 4096
_MOST_A_LOOK = 32
"""Of more processes than these, the others are looked for the next time."""
_WORKS = frozenset(("user", "tool_call"))
_GONE = "agent-gone"

_RESTS = {name: facts.hooks.rests for name, facts in AGENTS.items() if facts.hooks is not None}


class Processes(msgspec.Struct, frozen=True):
    """How a process is asked for."""

    above: Callable[[int], AgentProcess | None] = agent_above
    is_running: Callable[[AgentProcess], bool] = is_running


class Attended(msgspec.Struct):
    """A session and the process that works in it."""

    agent: str
    session: str
    process: AgentProcess
    rests: bool = False
    """It has done what it was asked, and waits."""

    @property
    def end(self) -> dict[str, Json]:
        """The members of its end, if the process is gone."""
        status = Status.COMPLETED if self.rests else Status.FAILED
        return {"status": status.value, "reason": _GONE}


def unfinished(key: tuple[str, str], transcript: str, attended: Attended | None, *, is_ending: bool) -> Unfinished:
    """What the next recorder needs to know of a session."""
    found = Unfinished(agent=key[0], session=key[1], transcript=transcript, ending=is_ending)
    if attended is None:
        return found
    process = attended.process
    return msgspec.structs.replace(found, pid=process.pid, began_ms=process.began_ms, rests=attended.rests)


class Presence:
    """Fed with what hooks deliver, in order."""

    def __init__(self, monotonic: Callable[[], float], processes: Processes | None = None) -> None:
        self._monotonic = monotonic
        self._processes = processes or Processes()
        self._known: OrderedDict[tuple[str, str], Attended] = OrderedDict()
        self._lost: OrderedDict[tuple[str, str], AgentProcess | None] = OrderedDict()
        """Sessions of which it was said that their process is gone, and who made the last delivery since."""
        self._waiting: list[AgentProcess] = []
        self._looked = float("-inf")

    def note(self, agent: str, payload: Payload, peer: int | None) -> bool:
        """Take in a delivery; whether what is known of the session has changed.

        Args: peer: the process that made it, a hook or the agent itself; None: it is not known.
        """
        key = (agent, payload.session)
        known = self._known.get(key)
        before = msgspec.structs.replace(known) if known is not None else None
        if payload.ends:
            self.forget(agent, payload.session)
            return known is not None
        if peer is not None and (known is None or payload.begins):
            known = self._look_above(key, peer, begins=payload.begins)
        if known is None:
            return False
        if payload.event in _RESTS.get(agent, ()):
            known.rests = True
        elif any(isinstance(event, Step) and event.type in _WORKS for event in payload.events):
            known.rests = False
        return known != before

    def _look_above(self, key: tuple[str, str], peer: int, *, begins: bool) -> Attended | None:
        """Who works in a session. One that goes on after its process was gone is resumed, if one process delivers twice."""
        process = self._processes.above(peer)
        if process is None:
            return self._known.get(key)
        if not begins and key in self._lost and self._lost[key] != process:
            self._lost[key] = process
            return None
        self._lost.pop(key, None)
        self._known[key] = Attended(*key, process)
        self._known.move_to_end(key)
        while len(self._known) > _MOST_SESSIONS:
            self._known.popitem(last=False)
        return self._known[key]

    def forget(self, agent: str, session: str) -> None:
        """A session has ended."""
        self._known.pop((agent, session), None)

    def attended(self) -> list[Attended]:
        """The sessions of which a process is known."""
        return list(self._known.values())

    def resume(self, attended: Iterable[Attended]) -> None:
        """Go on with what another recorder knew."""
        for one in attended:
            self._known.setdefault((one.agent, one.session), one)

    def below(self, agent: str, session: str) -> Iterator[Attended]:
        """The sessions of a session's sub-agents."""
        for one in self.attended():
            if one.agent == agent and one.session.startswith(f"{session}/"):
                yield one

    def gone(self, *, for_the_last_time: bool = False) -> list[Attended]:
        """The sessions whose process is gone, if it is time to look. They are not known any more.

        One that goes on all the same, each time from another process, had another than was thought, and is left alone.

        Args: for_the_last_time: no one looks later: it is time, and for all of them.
        """
        if not self._known or (not for_the_last_time and self._monotonic() - self._looked < _LOOK_SECONDS):
            return []
        self._looked = self._monotonic()
        if not self._waiting or for_the_last_time:
            self._waiting = list({one.process: None for one in self.attended()})
        most = len(self._waiting) if for_the_last_time else _MOST_A_LOOK
        asked, self._waiting = self._waiting[:most], self._waiting[most:]
        gone = {process for process in asked if not self._processes.is_running(process)}
        found = [one for one in self.attended() if one.process in gone]
        for one in found:
            self.forget(one.agent, one.session)
            self._lost[(one.agent, one.session)] = None
        while len(self._lost) > _MOST_SESSIONS:
            self._lost.popitem(last=False)
        return found
