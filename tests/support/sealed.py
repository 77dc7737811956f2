"""Sessions that are sealed one after the other, so that the ledger of a store grows by a head each."""

from __future__ import annotations

from tallystick.journal.home import Home
from tallystick.model.step import Step
from tallystick.recording.session_writer import SessionWriter


def record(home: Home, count: int, name: str = "s") -> None:
    """Record a step in each of `count` sessions, `s0`, `s1` and so on; those that are there go on."""
    with SessionWriter(home) as session_writer:
        for n in range(count):
            session_writer.add("demo", Step(session=f"{name}{n}", type="user", values={"content.text": "x"}))
            session_writer.seal()
