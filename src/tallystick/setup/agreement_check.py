"""Whether recent decisions are the same when they are made again from the record, as the recorder has counted.

Owns what follows from the counts. Must not know how a decision is made again.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.setup.check import Check, State


def agreement_checks(told: object) -> Iterator[Check]:
    """What the counts show that the recorder reports; nothing where it has compared no decision yet."""
    if not isinstance(told, dict):
        return
    numbers = {name: number for name, number in told.items() if isinstance(number, int)}
    differing, unknown = numbers.get("different", 0), numbers.get("unknown", 0)
    compared = numbers.get("same", 0) + differing
    found = f"{compared} recent decisions were made again from the record, {differing} differ"
    if differing:
        yield Check(name="agreement", state=State.WARN, found=found, mend="tally alerts --rule tally.disagreement")
    elif unknown > compared:
        found = f"{unknown} recent decisions could not be made again: the record, or its index, lacks what they rest on"
        yield Check(name="agreement", state=State.WARN, found=found, mend="see run/indexer.log in the store")
    elif compared:
        yield Check(name="agreement", state=State.OK, found=found)
