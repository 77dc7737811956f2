"""What the record says after a run, read as a user reads it: through the command line.

Owns the reading of `tally … --json` and of the exported steps, and which of them tell of one event. Must not know agents.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tools.live.wire.neutral import Json

TALLY = str(Path(sys.executable).with_name("tally"))


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened, and every id under which it was told."""

    session: str
    n: int
    type: str
    names: frozenset[str]
    """The ids of all reports: of the first, of those seen again, revised or contradicted."""
    sources: frozenset[str]
    meta: dict[str, Json]
    content: dict[str, Json]
    order: int
    """Where it stands among the run's events: journals in the order of their first step."""

    @property
    def tool(self) -> str:
        """The name of the tool, of a call or a result."""
        return str(self.meta.get("tool", ""))


def tally(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `tally` with a run's home folder and nothing else of the environment."""
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1"}
    return subprocess.run([TALLY, *words], env=env, cwd=home, capture_output=True, text=True, timeout=60, check=False)


def answer(home: Path, *words: str) -> Json:
    """The data of a command's JSON answer. Raises AssertionError with what it said if it gave none."""
    done = tally(home, *words, "--json")
    assert done.stdout, f"tally {' '.join(words)}: exit {done.returncode}\n{done.stderr}"
    return json.loads(done.stdout)["data"]


@functools.cache
def events(home: Path) -> tuple[Event, ...]:
    """All events in the store of a home folder, whose run is over."""
    sessions = answer(home, "session", "list", "--limit", "1000")["sessions"]
    found: list[Event] = []
    for session in sorted(sessions, key=lambda session: session["started"] or ""):
        done = tally(home, "export", session["session"], "--format", "jsonl", "--with-content")
        assert done.returncode == 0, done.stderr
        steps = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        found += list(_events_of(session["session"], steps, len(found)))
    return tuple(found)


def _events_of(session: str, steps: list[Json], order: int) -> Iterator[Event]:
    first: dict[int, int] = {}  # the entry that told an event first, by each that tells it
    names: dict[int, set[str]] = {}
    sources: dict[int, set[str]] = {}
    for step in steps:
        n, meta = step["n"], step.get("meta", {})
        earlier = meta.get("revises", meta.get("corroborates"))
        first[n] = first.get(earlier, earlier) if earlier is not None else n
        names.setdefault(first[n], set()).add(str(meta.get("source_id")))
        sources.setdefault(first[n], set()).add(step["source"])
        for seen in meta.get("steps", []) if step["type"] == "sighting" else []:
            names[first[seen["n"]]].add(seen["source_id"])
            sources[first[seen["n"]]].add(meta.get("source", step["source"]))
    for step in steps:
        n = step["n"]
        if first[n] == n:
            yield Event(
                session=session,
                n=n,
                type=step["type"],
                names=frozenset(names[n]),
                sources=frozenset(sources[n]),
                meta=step.get("meta", {}),
                content=step.get("content", {}),
                order=order + n,
            )


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """How the calls in the record differ from those in a transcript."""

    only_in_transcript: tuple[str, ...]
    only_in_record: tuple[tuple[str, int, str], ...]
    """Session, number and tool of each."""
    twice_in_record: tuple[str, ...]


def compare_calls(record: tuple[Event, ...], transcript: dict[str, str]) -> Difference:
    """Put calls of both sides together by id, one to one."""
    calls = [event for event in record if event.type == "tool_call"]
    told = Counter(name for call in calls for name in call.names | {str(call.meta.get("corr"))} if name in transcript)
    strangers = [call for call in calls if not (call.names | {str(call.meta.get("corr"))}) & transcript.keys()]
    return Difference(
        only_in_transcript=tuple(name for name in transcript if name not in told),
        only_in_record=tuple((call.session, call.n, call.tool) for call in strangers),
        twice_in_record=tuple(name for name, count in told.items() if count > 1),
    )


def steps_told_once(home: Path) -> set[tuple[str, int]]:
    """The steps of which `tally coverage` says that one source alone told them."""
    sessions = answer(home, "coverage")["sessions"]
    return {(session["session"], alone["step"]["n"]) for session in sessions for alone in session["alone"]}


def files_with(folder: Path, needle: bytes) -> list[str]:
    """The files below a folder that hold some bytes, so that a secret in the store has no place to hide."""
    return [str(path) for path in sorted(folder.rglob("*")) if path.is_file() and needle in path.read_bytes()]
