"""The process that compares ended sessions with their transcripts, as the recorder reports it.

Owns what is said of it. Must not know what is compared (`shadows` does it by itself).
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.setup.check import Check, State


def shadower_checks(told: object) -> Iterator[Check]:
    """Which process it is while it is at work, or why the last one failed; nothing while none is needed."""
    if not isinstance(told, dict):
        return
    if told.get("problem"):
        found = str(told["problem"])[:300]
        yield Check(name="shadower", state=State.WARN, found=found, mend="see run/shadower.log in the store")
    elif told.get("pid"):
        found = f"process {told['pid']} compares sessions that have ended with their transcripts"
        yield Check(name="shadower", state=State.OK, found=found)
