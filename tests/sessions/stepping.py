"""Steps and sessions made up for tests of their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tallystick.model.recorded import Recorded
from tallystick.sessions.timeline import Read, Track


def sid(letter: str) -> str:
    return letter * 32


def digest(letter: str, n: int) -> str:
    return f"{ord(letter):02x}{n:06x}{n:056x}"


def step(letter: str, n: int, *parents: str, second: float = 0, **members: object) -> Recorded:
    """Step `n` of session `letter`, so many seconds after ten; its parents by name (`a3`), none for the one before."""
    meta = {"type": "assistant", "ts": f"2026-01-02T10:{int(second) // 60:02}:{second % 60:09.6f}Z", **members}
    found = tuple(
        digest(parent[0], int(parent[1:]))
        if parent[0] == letter
        else f"{sid(parent[0])}#{digest(parent[0], int(parent[1:]))}"
        for parent in parents
    )
    before = digest(letter, n - 1) if n else "0" * 64
    return Recorded(session=sid(letter), n=n, hash=digest(letter, n), prev=before, parents=found, meta=meta)


def track(letter: str, on: str | None = None, **members: object) -> Track:
    """Session `letter`, which hangs on a step if one is named (`a3`)."""
    hangs = {"parent": sid(on[0]), "hangs_on": digest(on[0], int(on[1:])), "kind": "child"} if on else {}
    return Track(**{"session": sid(letter), "agent": "demo", **hangs, **members})  # type: ignore[arg-type]


def reader(sessions: Mapping[str, Sequence[Recorded]]) -> Read:
    """Reads sessions by their letters."""

    def read(found: Track) -> Iterator[Recorded]:
        return iter(sessions[found.session[0]])

    return read


def name(found: Recorded) -> str:
    return f"{found.session[0]}{found.n}"
