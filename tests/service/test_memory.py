"""What a recorder keeps in memory does not grow with what was delivered: each table has a bound, or one entry a session."""

from __future__ import annotations

import array
import json
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.live.delivery import Delivery
from tallystick.live.hook_pipeline import HookPipeline
from tallystick.model.decision import NO_OPINION
from tallystick.recording import session_writer
from tallystick.service.parts import make_live
from tests.support.at_once import at_once, take

_CALLS = 3
_OPEN = 4
BOUNDS = {"_answered": 4096, "_last": 512}
"""Tables that are full only after more deliveries than a test makes: how many entries each has at most."""
A_SESSION = {"_sessions": 1, "_known": 2, "_by_key": 1, "_seen": 1, "heads": 2}
"""Tables with so many entries for each session of the store, of which agents have few: ids, and what was sealed of them."""


def deliver(live: HookPipeline, sessions: range) -> None:
    """A few distinct calls in each of some sessions, one session after another."""
    for number in sessions:
        for call in range(_CALLS):
            common = {
                "session_id": f"{number:08x}-0000-4000-8000-000000000000", "cwd": "/home/dev/project", "tool_name": "Bash",
                "tool_use_id": f"toolu_{number:05}_{call}", "tool_input": {"command": f"echo {number} {call}"},
            }  # fmt: skip
            for event in ({"hook_event_name": "PreToolUse"}, {"hook_event_name": "PostToolUse", "tool_response": "ok"}):
                data = json.dumps({**common, **event}).encode()
                received = f"2026-01-02T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000000Z"
                delivery_id = f"{number}.{call}{event['hook_event_name']}"
                take(live, Delivery(agent="claude-code", data=data, event=None, id=delivery_id, received=received))
        live.session_writer.seal()


def tables(root: object) -> Counter[str]:
    """How many entries all containers have that an object leads to, by the names of the attributes that hold them."""
    found: Counter[str] = Counter()
    seen: set[int] = set()
    left: deque[tuple[str, object]] = deque([("", root)])
    while left:
        name, one = left.popleft()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, dict | list | set | deque | bytearray | array.array):
            found[name] += len(one)
        left.extend(_parts(name, one))
    return found


def _parts(name: str, one: object) -> Iterator[tuple[str, object]]:
    if isinstance(one, dict):
        yield from ((name, item) for item in list(one.values()))
    elif isinstance(one, list | set | deque | tuple):
        yield from ((name, item) for item in list(one))
    elif type(one).__module__.startswith("tallystick."):
        names = [
            *getattr(one, "__dict__", {}),
            *getattr(type(one), "__slots__", ()),
            *getattr(one, "__struct_fields__", ()),
        ]
        yield from ((each, getattr(one, each)) for each in names if hasattr(one, each))
    elif callable(one) and hasattr(one, "__self__"):
        yield name, one.__self__


@pytest.mark.parametrize("sessions", [12, pytest.param(400, marks=pytest.mark.soak)])
def test_no_table_grows_with_the_deliveries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sessions: int) -> None:
    """After as many sessions again, each with calls that no other made, no table has more entries but those named here."""
    monkeypatch.setattr(session_writer, "_MOST_SESSIONS", _OPEN)
    monkeypatch.setattr(session_writer, "_MOST_STEPS", _OPEN * _CALLS * 4)
    monkeypatch.setenv("HOME", str(tmp_path))
    live = make_live(Home(tmp_path / "store"), at_once(lambda call: NO_OPINION))
    try:
        deliver(live, range(sessions))
        before = tables(live)
        deliver(live, range(sessions, 2 * sessions))
        after = tables(live)
    finally:
        live.close()
    grown = {name: after[name] - before[name] for name in after if after[name] > before[name] + _OPEN}
    assert {name for name in grown if after[name] > BOUNDS.get(name, 0)} <= A_SESSION.keys()
    assert {name: grown[name] for name, most in A_SESSION.items() if grown.get(name, 0) > most * sessions} == {}
    assert after["_hashes"] <= 32 * _OPEN * _CALLS * 8, (
        "what is known of the entries of sessions that nothing happens in"
    )
