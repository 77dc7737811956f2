"""What a decision costs: loading, and then calls of each kind, with the share of each phase."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import structs

from tallystick.journal.home import Home
from tallystick.model.decision import Call
from tallystick.operations.decide import Decider

CALLS = {
    "read a file": ("Read", {"file_path": "src/main.py"}),
    "write a file": ("Write", {"file_path": "src/main.py", "content": "x" * 4000}),
    "apply a patch": ("apply_patch", {"command": "*** Begin Patch\n*** Update File: a.py\n@@\n-a\n+b\n*** End Patch"}),
    "git status": ("Bash", {"command": "git status"}),
    "a pipe of five": ("Bash", {"command": "cd src && cat a.txt | grep -v x | sort | uniq -c | sort -rn > out.txt"}),
    "a build": (
        "Bash",
        {"command": "export CI=1; for d in a b c; do (cd $d && npm ci && npm run build) || exit 1; done"},
    ),
    "a here-document": ("Bash", {"command": "cat > notes.md <<'EOF'\n" + "a line of text\n" * 100 + "EOF"}),
    "a refused call": ("Bash", {"command": "sudo bash -c 'rm -rf ~/.tally'"}),
    "60 commands": ("Bash", {"command": "\n".join(f"cp a{n}.txt b/{n}/ && echo done {n}" for n in range(30))}),
}
ROUNDS = 400
WARMING = 20


def main() -> None:
    print(f"import of the engine's library, of its own: {fresh('import cedarpy'):6.1f} ms")
    print(f"import of the grammar, of its own:          {fresh('import tree_sitter, tree_sitter_bash'):6.1f} ms")
    with tempfile.TemporaryDirectory() as folder:
        decider = loaded(Path(folder))
        every: list[float] = []
        print(f"\n{'a decision, in µs':24} {'p50':>7} {'p99':>7} {'facts':>7} {'Cedar':>7}   answer")
        for name, (tool, args) in CALLS.items():
            call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=f"{folder}/dev/project")
            # Another agent each time: what the engine said of the same facts before is remembered.
            calls = iter([structs.replace(call, agent=f"agent-{n}") for n in range(ROUNDS + WARMING)])
            took = sorted(timed(lambda calls=calls: decider.decide(next(calls))))
            facts = sorted(timed(lambda call=call: decider.facts(call)))
            every += took
            middle, known = took[len(took) // 2], facts[len(facts) // 2]
            effect = decider.decide(call).effect
            print(
                f"{name:24} {middle:7.0f} {took[len(took) * 99 // 100]:7.0f} {known:7.0f} {middle - known:7.0f}   {effect}"
            )
        every.sort()
        print(f"{'all of these':24} {every[len(every) // 2]:7.0f} {every[len(every) * 99 // 100]:7.0f}")


def loaded(folder: Path) -> Decider:
    """A decider for a store and a project that are there."""
    for name in (".tally/keys", ".claude", "project/src", "project/.claude"):
        (folder / "dev" / name).mkdir(parents=True)
    began = time.perf_counter()
    decider = Decider(Home(folder / "dev" / ".tally"), folder / "dev")
    print(f"policies loaded and checked:                {(time.perf_counter() - began) * 1000:6.1f} ms")
    return decider


def fresh(statement: str) -> float:
    """Milliseconds that a statement takes in a new interpreter, the best of five."""
    code = f"import time; began = time.perf_counter(); {statement}; print((time.perf_counter() - began) * 1000)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def timed(work: Callable[[], object]) -> Iterator[float]:
    """Microseconds of each of many runs, the first few apart."""
    for n in range(ROUNDS + WARMING):
        began = time.perf_counter()
        work()
        if n >= WARMING:
            yield (time.perf_counter() - began) * 1e6


if __name__ == "__main__":
    main()
