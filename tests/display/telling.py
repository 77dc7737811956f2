"""Steps made up for tests of how they are shown, and their rows as text."""

from __future__ import annotations

from tallystick.display.before import Before
from tallystick.display.events import described
from tallystick.display.said import text_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json


def step(kind: str, n: int = 7, values: dict[str, Json] | None = None, **meta: object) -> Recorded:
    named = {f"content.{name}": value for name, value in (values or {}).items()}
    return Recorded(
        session="ab" * 16,
        n=n,
        hash=f"{n:064x}",
        prev="00" * 32,
        parents=(),
        meta={"type": kind, "ts": "2026-01-02T03:04:05.678901Z", "source": "transcript", **meta},
        values=named,
    )


def told(one: Recorded, verbosity: int = 0, before: Before | None = None, *, terse: bool = True) -> list[str]:
    found = before if before is not None else Before(is_terse=terse)
    return [text_of(line) for line in described(one, found, verbosity)]
