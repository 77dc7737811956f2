"""What a decision costs: loading, and calls of each kind."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import structs

from bench.measure import Figure
from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.journal.home import Home
from tallystick.model.decision import Call

CALLS = {
    "writing a file": ("Write", {"file_path": "src/main.py", "content": "x" * 4000}),
    "git status": ("Bash", {"command": "git status"}),
    "a pipe of five": ("Bash", {"command": "cd src && cat a.txt | grep -v x | sort | uniq -c | sort -rn > out.txt"}),
    "a here-document": ("Bash", {"command": "cat > notes.md <<'EOF'\n" + "a line of text\n" * 100 + "EOF"}),
    "a refused call": ("Bash", {"command": "sudo bash -c 'rm -rf ~/.tally'"}),
    "60 commands": ("Bash", {"command": "\n".join(f"cp a{n}.txt b/{n}/ && echo done {n}" for n in range(30))}),
}
_ROUNDS = 300
_WARMING = 20
_BASELINE = "reading a file"


def figures(folder: Path) -> Iterator[Figure]:
    """Milliseconds to load, then of one decision a kind, each on facts that were not judged before."""
    yield Figure("import of the policy engine, of its own", _fresh("import cedarpy"), "ms")
    yield Figure("import of the shell grammar, of its own", _fresh("import tree_sitter, tree_sitter_bash"), "ms")
    began = time.perf_counter()
    decider = _loaded(folder)
    yield Figure("policies loaded and checked", (time.perf_counter() - began) * 1000, "ms")
    base = statistics.median(_timed(decider, folder, "Read", {"file_path": "src/main.py"}))
    yield Figure(f"a decision, {_BASELINE}, p50", base, "ms", target="< 5", met=base < 5)
    for name, (tool, args) in CALLS.items():
        took = statistics.median(_timed(decider, folder, tool, args))
        yield Figure(f"a decision, {name}, p50", took, "ms", _BASELINE, took / base, "< 5", took < 5)


def _loaded(folder: Path) -> Decider:
    """A decider for a store and a project that are there."""
    for name in (".tally/keys", ".claude", "project/src", "project/.claude"):
        (folder / "dev" / name).mkdir(parents=True)
    return Decider(Home(folder / "dev" / ".tally"), AgentMachine(folder / "dev"))


def _fresh(statement: str) -> float:
    """Milliseconds that a statement takes in a new interpreter, the best of five."""
    code = f"import time; began = time.perf_counter(); {statement}; print((time.perf_counter() - began) * 1000)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def _timed(decider: Decider, folder: Path, tool: str, args: dict[str, str]) -> list[float]:
    """Milliseconds of each of many decisions. Another agent each time: what was said of the same facts is remembered."""
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=f"{folder}/dev/project")
    took = []
    for number in range(_ROUNDS + _WARMING):
        asked = structs.replace(call, agent=f"agent-{tool}-{number}")
        began = time.perf_counter()
        decider.decide(asked)
        took.append((time.perf_counter() - began) * 1000)
    return took[_WARMING:]
