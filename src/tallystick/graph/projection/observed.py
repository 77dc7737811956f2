"""What was observed of the machine, on its way into the graph: effects on files, processes, connections.

Owns the rows of one such step. Must not know whose call caused an effect: `lineage.versions` finds that by path and time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tallystick.graph.projection.json_columns import json_of, plain
from tallystick.graph.projection.rows import text_or_none, whole_or_none
from tallystick.graph.tables import StepRow, SystemRow
from tallystick.graph.times import milliseconds
from tallystick.lineage.access import AGENT, SYSTEM, Access
from tallystick.lineage.correlate import Match, SeenEffect
from tallystick.lineage.identity import thing_id
from tallystick.lineage.things import Thing, file_thing
from tallystick.model.paths import placed
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

OBSERVED = frozenset(("file_effect", "process", "network"))
"""Types of steps that say what was observed."""

_CONFIDENCE = 0.7
_TOLD = 0.9
_MOST_PATH = 4096
_DONE = {"write": "write", "create": "write", "edit": "edit", "modify": "modify", "read": "read", "delete": "delete"}


class Judged(NamedTuple):
    """The call that an effect is put down to, if one is; and whether there were calls to look at."""

    cause: Match | None = None
    has_calls: bool = False


def observed_row(step: Recorded, row: StepRow, folder: str | None, request_id: int) -> SystemRow:
    """The row of `system_events`."""
    pid = whole_or_none(step.meta.get("pid")) or 0
    at = milliseconds(row.at_us)
    return SystemRow(row.id, pid, request_id, at, row.source or "?", _effect(step), folder or "", _args(step))


def is_own_account(step: Recorded, row: StepRow) -> bool:
    """Whether an agent itself says that it changed a file, as those do that make no calls; no one observed that."""
    return row.type == "file_effect" and row.source != "watch" and step.member("by") is None


def effect_input(step: Recorded) -> str:
    """`tool_input` of the event of such a step."""
    path = step.text("content.path")
    return json_of({"operation": _told_operation(step), "path": plain(path, _MOST_PATH) if path else None})


def told_accesses(step: Recorded, row: StepRow, folder: str | None, request_id: int) -> Iterator[tuple[Thing, Access]]:
    """What an agent says that it touched. A change of which no more is said is an edit."""
    path = step.text("content.path")
    if not path or row.success == 0 or len(path) > _MOST_PATH:
        return
    thing = file_thing(_absolute(path, folder))
    operation = _told_operation(step)
    access = Access(thing_id(*thing), row.at_us, row.id, 0, operation, AGENT, request_id, _TOLD)
    access.result = row.n
    access.evidence = json_of(
        {"operation": operation, "step": f"{step.session[:12]}:{step.n}", "told_by": row.agent_id}
    )
    yield thing, access


def _told_operation(step: Recorded) -> str:
    return _DONE.get(_effect(step), "edit")


def seen_effect(step: Recorded, row: StepRow, folder: str | None) -> SeenEffect | None:
    """An effect on a file, as it is put down to a call; None where that was reported by someone who knows."""
    if row.type != "file_effect" or row.source != "watch":
        return None
    paths = [path for _, path in _touched(step, _effect(step), folder)]
    if not paths:
        return None
    process = text_or_none(step.member("process"))
    old = None
    if len(paths) > 1:
        old = paths[0]
    is_named = process is not None and process != "unknown"
    at_ms, digest = milliseconds(row.at_us), _digest(step)
    return SeenEffect(path=paths[-1], at_ms=at_ms, old_path=old, is_named=is_named, digest=digest)


def observed_accesses(
    step: Recorded, row: StepRow, folder: str | None, request_id: int, judged: Judged
) -> Iterator[tuple[Thing, Access]]:
    """What an effect on a file touched. One that failed touched nothing."""
    cause = judged.cause
    if row.type != "file_effect" or row.success == 0 or step.member("folder") is True:
        return  # a folder holds nothing by itself
    effect = _effect(step)
    said: dict[str, Json] = {"operation": effect, "step": f"{step.session[:12]}:{step.n}", "source": row.source or "?"}
    said["process"] = text_or_none(step.member("process"))
    if cause is not None:
        said |= {"matched_by": str(cause.matched_by), "after_start_ms": cause.after_start_ms}
    size = whole_or_none(step.meta.get("bytes")) or whole_or_none(step.meta.get("size_bytes"))
    for k, (operation, path) in enumerate(_touched(step, effect, folder)):
        thing = file_thing(path)
        digest = None
        if operation in ("write", "modify", "copy_dest"):
            digest = _digest(step)
        access = Access(
            thing_id(*thing), row.at_us, row.id, k, operation, SYSTEM, request_id, _CONFIDENCE, digest, size
        )
        access.result, access.evidence = row.n, json_of(said)
        if cause is not None:
            access.cause, access.cause_confidence = cause.step, cause.confidence
        elif judged.has_calls:
            access.cause_confidence = 0.0
        yield thing, access


def _effect(step: Recorded) -> str:
    return text_or_none(step.member("effect")) or text_or_none(step.member("action")) or step.type


def _touched(step: Recorded, effect: str, folder: str | None) -> Iterator[tuple[str, str]]:
    """(operation, absolute path) of each thing that an observed effect says was touched."""
    paths = step.values.get("content.paths")
    if effect == "rename" and isinstance(paths, list) and len(paths) == 2 and all(isinstance(p, str) for p in paths):
        yield "rename", _absolute(paths[0], folder)
        yield "copy_dest", _absolute(paths[1], folder)
        return
    path = step.text("content.path")
    operation = "metadata" if step.member("metadata_only") is True else _DONE.get(effect)
    if path and operation is not None and len(path) <= _MOST_PATH:
        yield operation, _absolute(path, folder)


def _absolute(path: str, folder: str | None) -> str:
    return placed(plain(path, _MOST_PATH), folder)


def _digest(step: Recorded) -> str | None:
    """The digest of what a file held after an effect."""
    found = step.values.get("content.digest")
    if found is None:
        sides = step.values.get("content.digests")
        found = None
        if isinstance(sides, dict):
            found = sides.get("after")
    if not isinstance(found, str) or not found:
        return None
    if found.startswith("sha256:"):
        return found
    return f"sha256:{found}"


def _args(step: Recorded) -> str:
    """`args` of a system event: what was observed, of it what has a name."""
    said: dict[str, Json] = {}
    for name in ("content.path", "content.paths", "content.command", "content.text"):
        value = step.values.get(name)
        if isinstance(value, str):
            said[name.partition(".")[2]] = plain(value, 500)
        elif isinstance(value, list):
            said[name.partition(".")[2]] = [plain(item, 500) for item in value[:20] if isinstance(item, str)]
    for name in ("process", "pid", "bytes", "size_bytes", "exit_code"):
        value = step.member(name)
        if isinstance(value, str | int):
            said[name] = value
    return json_of(said)
