"""The DAG of a session: what follows from what, and the hashes that the gptme-style ledger names.

Owns walking forward from a step and the three plain hashes. Pure functions of recorded steps; format of the hashes:
the ledger's exporter.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json


def walk_dag(steps: Iterable[Recorded], start: str | None = None) -> Iterator[Recorded]:
    """The steps that follow from `start` (a hash or its prefix), itself first, in the order of the record.

    A step follows if one of its parents does. None: all steps.
    """
    reached: set[str] = set()
    for step in steps:
        is_start = start is None or step.hash.startswith(start)
        if is_start or not reached.isdisjoint(step.parent_path):
            reached.add(step.hash)
            yield step


def content_bytes(value: Json) -> bytes:
    """The bytes of a content as the ledger hashes it: text as UTF-8, anything else as JSON with sorted keys."""
    if isinstance(value, str):
        return value.encode("utf-8")
    return json.dumps(value, sort_keys=True).encode("utf-8")


def _plain_hash(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def input_hash(step: Recorded) -> str:
    """`sha256:` and the digest of what went into a step: its arguments, or its text."""
    value = step.values.get("content.args", step.values.get("content.text"))
    return _plain_hash(content_bytes("" if value is None else value))


def output_hash(step: Recorded) -> str:
    """`sha256:` and the digest of what a step gave: its output, or its text."""
    value = step.values.get("content.output", step.values.get("content.text"))
    return _plain_hash(content_bytes("" if value is None else value))


def context_hash(previous: str, self_hash: str) -> str:
    """The rolling context: SHA-256(previous ‖ 00 ‖ self_hash), both as text; the first `previous` is empty."""
    return _plain_hash(previous.encode() + b"\x00" + self_hash.encode())
