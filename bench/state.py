"""What a long history costs: the first decision in a resumed session, and a step of the state that calls are judged by."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Figure
from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.journal.home import Home
from tallystick.model.decision import Call
from tallystick.model.intent import Domain
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Source, Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import init_store
from tallystick.state.effects import CallEffects
from tallystick.state.families import Start
from tallystick.state.family_state import FamilyState
from tallystick.state.reducer import FamilyStep, Knowledge, advance

AGENT = "claude-code"
CALLS = 10_000
_HISTORIES = (1_000, 100_000)
_TAIL = 2_000


def figures(folder: Path) -> Iterator[Figure]:
    """Seconds and milliseconds in one process: a recorder's, without its socket."""
    user = folder / "dev"
    (user / "project").mkdir(parents=True)
    home = Home(user / ".tally")
    _lay_down(home, user / "project", CALLS)
    yield from _resumed(home, user)
    yield from _steps()


# A session that goes on ------------------------------------------------------------------------------------------------


def command_of(number: int) -> str:
    """A command, of ten kinds, as agents run them."""
    return (
        f"cat src/module_{number}.py",
        f"echo 'x = {number}' > src/module_{number}.py",
        f"grep -rn name_{number} src | head -20",
        "git status --short && git diff --stat",
        f"python3 -m pytest -q tests/test_{number}.py",
        f"sed -i 's/a{number}/b{number}/' src/module_{number}.py",
        f"cp src/module_{number}.py src/copy_{number}.py",
        f"mkdir -p build/{number} && make -C build/{number} all",
        f"ls -la docs/{number}",
        f"rm -f build/{number}/out.o",
    )[number % 10]


def _lay_down(home: Home, project: Path, calls: int) -> None:
    """A session of so many calls, each with its result."""
    init_store(home)
    with SessionWriter(home) as writer:
        for number in range(calls):
            members: dict[str, Json] = {"tool": "Bash", "corr": f"c{number}"}
            made: dict[str, Json] = {"content.args": {"command": command_of(number)}, "personal.cwd": str(project)}
            given: dict[str, Json] = {"content.output": f"line {number}\n" * 20}
            for kind, values in (("tool_call", made), ("tool_result", given)):
                step = Step(
                    session="long",
                    type=kind,
                    source=Source.HOOK,
                    source_id=f"{number}/{kind}",
                    meta=members,
                    values=values,
                )
                writer.add(AGENT, step)


def _decider(home: Home, user: Path) -> Decider:
    found = Decider(home, AgentMachine(user, environment={"HOME": str(user)}))
    found.decide(_call(user, "other"))  # what any first call loads
    return found


def _call(user: Path, session: str) -> Call:
    return Call(agent=AGENT, session=session, tool="Bash", args={"command": "git status"}, cwd=str(user / "project"))


def _resumed(home: Home, user: Path) -> Iterator[Figure]:
    name = f"resumed session of {CALLS:,} calls"
    decider = _decider(home, user)
    began = time.perf_counter()
    decider.decide(_call(user, "long"))
    took = (time.perf_counter() - began) * 1000
    yield Figure(f"first decision in a {name}, nothing kept", took, "ms", target="< 500", met=took < 500)
    began = time.perf_counter()
    while not decider.has_read(_call(user, "long")):
        time.sleep(0.01)
    yield Figure(f"history read beside answering, {name}", time.perf_counter() - began, "s")
    decider.states.close()
    size = sum(path.stat().st_size for path in home.states.iterdir()) / 1_000_000
    yield Figure(f"what is kept of a {name}", size, "MB")
    decider = _decider(home, user)
    began = time.perf_counter()
    decider.decide(_call(user, "long"))
    took = (time.perf_counter() - began) * 1000
    yield Figure(f"first decision in a {name}, from what was kept", took, "ms", target="< 100", met=took < 100)


# Steps ----------------------------------------------------------------------------------------------------------------


def _read(call: Call) -> CallEffects:
    """The effects of a call, as `guard` reads them but for the machine."""
    assert isinstance(call.args, dict)
    command = str(call.args["command"])
    told = effects(command, Environment(variables={"HOME": "/home/dev"}, folder="/home/dev/project"))
    files = sum(intent.domain is Domain.FILE for intent in told.intents)
    return CallEffects(effects=told, texts=(command,), folder="/home/dev/project", files=files)


def _told(first: int, calls: int) -> Iterator[FamilyStep]:
    start = Start("0" * 32, AGENT, "long")
    for number in range(first, first + calls):
        meta: dict[str, Json] = {"tool": "Bash", "corr": f"c{number}", "ts": "2026-01-02T03:04:05.000000Z"}
        values: tuple[dict[str, Json], ...] = (
            {"content.args": {"command": command_of(number)}},
            {"content.output": f"line {number}\n" * 20},
        )
        for kind, value in zip(("tool_call", "tool_result"), values, strict=True):
            yield FamilyStep(
                start,
                Recorded(
                    session=start.sid,
                    n=number,
                    hash=f"{kind}{number}",
                    prev="",
                    parents=(),
                    meta={**meta, "type": kind},
                    values=value,
                ),
            )


def _steps() -> Iterator[Figure]:
    """A step of the state after a short and after a long history; reading its call is not counted."""
    known: dict[str, CallEffects] = {}

    def read(call: Call) -> CallEffects:
        return known[str(call.call_id)]

    state, done, costs = FamilyState(), 0, []
    for history in _HISTORIES:
        calls = (history - done) // 2
        for told in _told(done, calls):
            _note(known, told)
            state, _ = advance(state, told, Knowledge(read=read))
        done += calls
        tail = list(_told(10_000_000, _TAIL // 2))
        known.clear()
        for told in tail:
            _note(known, told)
        costs.append(min(_timed(state, tail, Knowledge(read=read)) for _ in range(3)))
    for history, cost in zip(_HISTORIES, costs, strict=True):
        ratio = cost / costs[0]
        yield Figure(
            f"a step of the state after {history:,} steps",
            cost * 1e6,
            "µs",
            f"after {_HISTORIES[0]:,}",
            ratio,
            "< 1.5 times",
            ratio < 1.5,
        )


def _note(known: dict[str, CallEffects], told: FamilyStep) -> None:
    if told.step.type == "tool_call":
        if len(known) > 2 * _TAIL:
            known.clear()
        call = Call(agent=AGENT, session="long", tool="Bash", args=told.step.values["content.args"])
        known[str(told.step.meta["corr"])] = _read(call)


def _timed(state: FamilyState, tail: list[FamilyStep], known: Knowledge) -> float:
    began = time.perf_counter()
    for told in tail:
        state, _ = advance(state, told, known)
    return (time.perf_counter() - began) / len(tail)
