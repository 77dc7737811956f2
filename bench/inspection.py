"""What it costs to read what a call runs before it runs: long scripts, many modules, many tests, first and again."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from bench.measure import Figure
from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.journal.home import Home
from tallystick.model.decision import Call

_ROUNDS = 60
_COPIES = 12
_MOST_MS = 40
_MODULE = (
    "import os\n\n\ndef run(path):\n    with open(path) as file:\n        return os.environ.get(file.read(), '')\n\n\n"
    * 12
)
_STATEMENT = 'if [ -f "$1" ]; then\n  cp "$1" build/ && echo "copied $1" | tee -a log.txt\nfi\n'
_COMMENTS = "# a comment that says what is done below\n" * 2000
_IMPORTS = "".join(f"import m{n}\n" for n in range(30))
_TARGETS = "".join(f"t{n}:\n\tsh run.sh {n}\n" for n in range(60))
_SHAPES = {
    "a script of 30 commands": ("sh run.sh", {"run.sh": _STATEMENT * 10}),
    "a script of 150 commands": ("sh run.sh", {"run.sh": _STATEMENT * 50}),
    "a script of 100 KB": ("sh run.sh", {"run.sh": _COMMENTS + _STATEMENT * 30}),
    "a program of 200 KB": ("python3 run.py", {"run.py": _MODULE * 160}),
    "30 modules": ("python3 run.py", {"run.py": _IMPORTS, **{f"m{n}.py": _MODULE for n in range(30)}}),
    "200 changed tests": ("pytest -q", {f"tests/test_{n}.py": _MODULE for n in range(200)}),
    "a Makefile of 60 targets": ("make t1", {"Makefile": _TARGETS, "run.sh": _STATEMENT}),
}


def figures(folder: Path) -> Iterator[Figure]:
    """Milliseconds of a decision: on content that was never seen, and on what was."""
    for name, (command, files) in _SHAPES.items():
        first: list[float] = []
        again: list[float] = []
        for number in range(_COPIES):
            home = folder / name.replace(" ", "-") / str(number)
            project = home / "project"
            for path, text in files.items():
                (project / path).parent.mkdir(parents=True, exist_ok=True)
                (project / path).write_text(f"# {number}\n{text}")
            decider = Decider(Home(home / ".tally"), AgentMachine(home))
            decider.decide(_call(home, "true", "warming"))
            gc.freeze()  # as the recorder does when all is loaded
            first.append(_took(decider, _call(home, command, "first")))
            again += [_took(decider, _call(home, command, f"agent-{n}")) for n in range(_ROUNDS // _COPIES)]
        yield Figure(f"a decision that reads {name}, first, p50", statistics.median(first), "ms")
        worst = statistics.quantiles(again, n=100)[98]
        yield Figure(f"a decision that reads {name}, again, p50", statistics.median(again), "ms")
        met = worst < _MOST_MS
        yield Figure(f"a decision that reads {name}, again, p99", worst, "ms", target=f"< {_MOST_MS}", met=met)


def _call(home: Path, command: str, agent: str) -> Call:
    """Another agent each time: what was said of the same facts is remembered."""
    return Call(agent=agent, session="s", tool="Bash", args={"command": command}, cwd=f"{home}/project")


def _took(decider: Decider, call: Call) -> float:
    began = time.perf_counter()
    decider.decide(structs.replace(call))
    return (time.perf_counter() - began) * 1000
