"""What the commands answer as JSON.

Owns how a command of a tree is run in this process, and which command lines are tried (`commands.toml`). Must not know what
an answer means.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from tools.same.faces import face
from tools.same.stream import Emit, without

LINES = Path(__file__).with_name("commands.toml")
_POOLS: Mapping[str, str] = {
    "session": "SELECT session_id FROM sessions ORDER BY session_id",
    "step": "SELECT session_id || ':' || n FROM steps ORDER BY session_id, n",
    "call": "SELECT session_id || ':' || n FROM steps WHERE type = 'tool_call' ORDER BY session_id, n",
    "model_call": "SELECT session_id || ':' || n FROM steps WHERE type = 'model_call' ORDER BY session_id, n",
    "file": "SELECT DISTINCT uri FROM artifacts WHERE kind = 'file' ORDER BY uri",
    "thing": "SELECT DISTINCT uri FROM artifacts ORDER BY uri",
    "word": "SELECT DISTINCT tool FROM steps WHERE tool IS NOT NULL ORDER BY tool",
    "agent": "SELECT DISTINCT agent_id FROM sessions ORDER BY agent_id",
}
_MOST = 12


class Tally:
    """The command `tally` of a tree, in a home folder of its own."""

    def __init__(self, folder: Path, emit: Emit) -> None:
        self.folder = folder
        self._emit = emit
        self.runs = 0

    def run(self, store: Path, words: Sequence[str], *, key: str) -> Any:
        """Run one command with `--json`; what it answered, which is told as a fact too."""
        environment = {"HOME": str(self.folder / "home"), "TALLY_HOME": str(store)}
        (self.folder / "home").mkdir(parents=True, exist_ok=True)
        # Where Python code stands in a traceback is none of a command's answer.
        done = CliRunner(env=environment).invoke(face("main"), [*words, "--json"], prog_name="tally")
        self.runs += 1
        answer: Any = done.stdout
        with contextlib.suppress(ValueError):
            answer = json.loads(done.stdout)
        if isinstance(answer, str):
            with contextlib.suppress(ValueError):
                answer = [json.loads(line) for line in answer.splitlines()]
        fault = done.exception if not isinstance(done.exception, SystemExit) else None
        value = {"exit": done.exit_code, "answer": answer, **({"fault": repr(fault)} if fault else {})}
        self._emit(key, without(value, {str(self.folder): "FOLDER"}))
        return answer


def command_facts(tally: Tally, name: str, store: Path, *, sample: int = 1) -> None:
    """What each command line of the table answers of a store."""
    pools = _pools(store, sample)
    for line in command_lines():
        for words in _filled(line, pools):
            tally.run(store, words, key=f"command {name} tally {' '.join(words)}")


def command_lines() -> list[list[str]]:
    """The table: words of each command line, some in braces."""
    return [list(words) for words in tomllib.loads(LINES.read_text("utf-8"))["lines"]]


def _pools(store: Path, sample: int) -> dict[str, list[str]]:
    """Some of each kind of thing in a store, spread over all of them."""
    found: dict[str, list[str]] = {}
    with sqlite3.connect(f"file:{store / 'graph.db'}?mode=ro", uri=True) as database:
        for name, query in _POOLS.items():
            everything = [str(row[0]) for row in database.execute(query)]
            step = max(1, len(everything) // max(1, _MOST // sample))
            found[name] = everything[::step][: max(1, _MOST // sample)]
    return found


def _filled(line: Sequence[str], pools: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """A command line with each thing that its words in braces stand for."""
    names = [word[1:-1] for word in line if word.startswith("{")]
    if len(names) > 1:  # pairs: a thing and the next one
        choices: Iterator[tuple[str, ...]] = zip(*(pools[name][at:] for at, name in enumerate(names)), strict=False)
    else:
        choices = product(*(pools[name] for name in names))
    for chosen in choices:
        given = iter(chosen)
        yield [next(given) if word.startswith("{") else word for word in line]
