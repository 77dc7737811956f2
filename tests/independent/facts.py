"""What the independent reader finds in one transcript: plain values, the same for every agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ("ASKED", "Edit", "History", "Request", "asked")

#: Kinds of requests that a person, or an agent above, put into words. The others make an agent go on: what it does
#: after them was asked for by the request before.
ASKED = frozenset({"prompt", "queued", "command", "plan", "answer", "task", "schedule"})


@dataclass(eq=False)
class Request:
    """One text that made the agent act: its line (from 1), its kind, its words, the request before it."""

    line: int
    kind: str
    text: str
    above: Request | None = None


@dataclass
class Edit:
    """One call that writes files: the request it followed, or None if the file shows none."""

    line: int
    call: str
    tool: str
    paths: tuple[str, ...]
    request: Request | None


@dataclass
class History:
    """One transcript. `outcomes` maps a call to `ok`, `failed`, `refused` or `open`; `tokens` are sums over the file."""

    agent: str
    session: str = ""
    requests: list[Request] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    outcomes: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=lambda: {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0})
    status: str = "ended"
    bad_lines: int = 0

    def files(self) -> set[str]:
        return {path for edit in self.edits for path in edit.paths if self.outcomes.get(edit.call) == "ok"}


def asked(request: Request | None) -> Request | None:
    """What was asked for in the end: the request itself, the one that it carries on, of a task the one above it."""
    task = None
    for one in _above(request):
        if one.kind in ASKED and one.kind != "task":
            return one
        task = one if one.kind == "task" else task
    return task


def _above(request: Request | None) -> Iterator[Request]:
    while request is not None:
        yield request
        request = request.above
