"""What a decision costs where much is on record: everyday calls, each judged once, over a graph of many artifacts."""

from __future__ import annotations

import cProfile
import pstats
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.measure import Figure
from bench.policy import files_everywhere, tables_of
from tallystick.guard.decide import Decider
from tallystick.guard.policies import schema, shipped_policies
from tallystick.guard.policy_quality import Machine, read_cases
from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.cedar.engine import load
from tallystick.policy.settings import Profile
from tallystick.workspace.index_live import index_sessions

ARTIFACTS = 200_000
_WARMING = 100
_ROUNDS = 3
_RUNS_A_FILE = (
    "sh scripts/build.sh",
    "bash scripts/dev.sh",
    "python3 scripts/seed.py",
    "python3 src/main.py",
    "make test",
    "npm test",
    "make build && sh scripts/build.sh",
    "python3 -m pytest -q tests/test_cart.py",
)
_PHASES = {
    "reading the call": ("reading.py", "read_call"),
    "risks of the whole call": ("__init__.py", "risks_of"),
    "acts, files and what is on record": ("acts.py", "acts_of"),
    "the policies": ("engine.py", "decide"),
}


def figures(folder: Path) -> Iterator[Figure]:
    """Milliseconds of one decision: half of them, and all but one of a hundred, take less."""
    machine = Machine(folder / "machine")
    machine.lay_out(files_everywhere())
    index_sessions(machine.home, [])
    _fill(machine.home.folder / "graph.db", ARTIFACTS)
    began = time.perf_counter()
    load(shipped_policies(Profile.STANDARD), schema())
    took = (time.perf_counter() - began) * 1000
    yield Figure("policies loaded and checked, of themselves", took, "ms", target="< 150 ms", met=took < 150)
    decider = machine.decider()
    calls = _everyday(machine)
    for call in calls[:_WARMING]:
        decider.decide(call)
    name = f"a decision, {len(calls) - _WARMING:,} everyday calls, {ARTIFACTS:,} artifacts"
    yield from _shares(name, _timed(decider, calls[_WARMING:]), (1.5, 10.0))
    scripts = [call for _ in range(_ROUNDS * 10) for call in _calls(machine, _RUNS_A_FILE)]
    yield from _shares("a decision on what runs files", _timed(decider, scripts), (None, 40.0))
    yield from _phases(machine, calls)


def _fill(path: Path, artifacts: int) -> None:
    """Put artifacts into an index, each with its row of facts."""
    uris = (
        f"file:///home/dev/p{number % 97}/src/module_{number % 997}/file_{number}.py" for number in range(artifacts)
    )
    with sqlite3.connect(path) as index:
        index.executemany(
            "INSERT INTO artifacts (artifact_id, kind, uri, digest, created_at, updated_at, version, thing)"
            " VALUES (?1, 'file', ?2, '', 1, 1, 1, ?1)",
            enumerate(uris, start=1),
        )
        index.execute(
            "INSERT INTO artifact_facts (kind, uri, current_artifact_id, last_seen_at, last_modified_at,"
            " last_modified_source, last_modified_session_id)"
            " SELECT kind, uri, artifact_id, 1, 1, 'agent', 'ab' FROM artifacts"
        )


def _everyday(machine: Machine) -> list[Call]:
    """The calls of everyday work that are made by themselves, in an order that mixes their classes."""
    cases = [case for case in read_cases(tables_of("benign")) if len(case.calls) == 1]
    found = [(case.calls[0].tool, machine.filled(case.calls[0].args)) for case in cases]
    step = max(1, len(found) // 37)
    mixed = [found[n] for start in range(step) for n in range(start, len(found), step)]
    return [_call(machine, tool, args) for tool, args in mixed]


def _calls(machine: Machine, commands: Sequence[str]) -> list[Call]:
    return [_call(machine, "Bash", {"command": command}) for command in commands]


def _call(machine: Machine, tool: str, args: Json) -> Call:
    return Call(agent="claude-code", session="bench", tool=tool, args=args, cwd=str(machine.user / "project"))


def _timed(decider: Decider, calls: Sequence[Call]) -> list[float]:
    times: list[float] = []
    for call in calls:
        began = time.perf_counter()
        decider.decide(call)
        times.append((time.perf_counter() - began) * 1000)
    return sorted(times)


def _shares(name: str, times: list[float], targets: tuple[float | None, float]) -> Iterator[Figure]:
    for share, target in zip((0.5, 0.99), targets, strict=True):
        value = times[int(len(times) * share)]
        met = None if target is None else value < target
        yield Figure(f"{name}, p{share * 100:.0f}", value, "ms", target=f"< {target} ms" if target else "", met=met)


def _phases(machine: Machine, calls: Sequence[Call]) -> Iterator[Figure]:
    """How the time is spent, as a profile sees it, which makes all of it slower."""
    decider = machine.decider()
    profile = cProfile.Profile()
    profile.enable()
    for call in calls:
        decider.decide(call)
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    whole = _spent(stats, ("decide.py", "decide"))
    for name, place in _PHASES.items():
        yield Figure(f"share of {name}", _spent(stats, place) / whole * 100, "%")


def _spent(stats: dict[tuple[str, int, str], tuple[int, int, float, float, object]], place: tuple[str, str]) -> float:
    """Seconds in a function and what it calls; of a generator, over all its steps."""
    file, name = place
    return sum(found[3] for (path, _, function), found in stats.items() if Path(path).name == file and function == name)
