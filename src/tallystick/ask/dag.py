"""The DAG of a session: what follows from what, and the hashes that the gptme-style ledger names.

Owns walking forward from a step and the three plain hashes. Pure functions of recorded steps; format of the hashes:
the ledger's exporter.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json


class Walk:
    """Walks forward from a step, through forks, and into the sessions that belong to what follows and out of them again."""

    def __init__(self, start: str, hangs_on: Mapping[str, str] = {}) -> None:
        """Begin at `start`, a hash or its prefix.

        Args:
            hangs_on: by session, the hash of the step that its first one follows from, where its parents do not say so.
        """
        self._start = start
        self._hangs_on = hangs_on
        self.reached: set[str] = set()

    def takes(self, step: Recorded) -> bool:
        """Whether a step is the start or one of its parents was taken. Parents come before what follows from them."""
        follows = step.hash.startswith(self._start) or any(
            parent.rpartition("#")[2] in self.reached for parent in step.parent_path
        )
        if follows or (step.n == 0 and self._hangs_on.get(step.session) in self.reached):
            self.reached.add(step.hash)
            return True
        return False


def walk_dag(steps: Iterable[Recorded], start: str | None = None) -> Iterator[Recorded]:
    """The steps that follow from `start` (a hash or its prefix), itself first, in the order of the record.

    A step follows if one of its parents does, in its own session or in another. None: all steps.
    """
    if start is None:
        yield from steps
        return
    walk = Walk(start)
    for step in steps:
        if walk.takes(step):
            yield step


def content_bytes(value: Json) -> bytes:
    """The bytes of a content as the ledger hashes it: text as UTF-8, anything else as JSON with sorted keys."""
    if isinstance(value, str):
        return value.encode("utf-8")
    return json.dumps(value, sort_keys=True).encode("utf-8")


def _plain_hash(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _value_hash(value: Json) -> str:
    if value is None:
        value = ""
    return _plain_hash(content_bytes(value))


def input_hash(step: Recorded) -> str:
    """`sha256:` and the digest of what went into a step: its arguments, or its text."""
    value = step.values.get("content.args", step.values.get("content.text"))
    return _value_hash(value)


def output_hash(step: Recorded) -> str:
    """`sha256:` and the digest of what a step gave: its output, or its text."""
    value = step.values.get("content.output", step.values.get("content.text"))
    return _value_hash(value)


def context_hash(previous: str, self_hash: str) -> str:
    """The rolling context: SHA-256(previous ‖ 00 ‖ self_hash), both as text; the first `previous` is empty."""
    return _plain_hash(previous.encode() + b"\x00" + self_hash.encode())
