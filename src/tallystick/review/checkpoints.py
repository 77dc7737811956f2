"""Checkpoints as people ask for them: making one, looking at one, comparing two.

Owns which session is meant where no one says. Must not know how one is sealed, nor whether it holds: marking.py and
verify_checkpoints.py do.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from tallystick.errors import CheckpointError, NotFoundError
from tallystick.graph.checkpoints import (
    Changed,
    CheckpointEntry,
    CheckpointFilter,
    changed_between,
    find_checkpoint,
    list_checkpoints,
    newest_active,
    newest_of_run,
    types_between,
)
from tallystick.graph.lookup import Place
from tallystick.graph.lookup import find_step as find_in_index
from tallystick.graph.queries import get_session
from tallystick.journal.home import Home
from tallystick.journal.read import read_at
from tallystick.model.ids import SessionId, StepReference
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.recording.checkpoints.auto import LookAtGit, git_of
from tallystick.recording.checkpoints.write import Mark, check_enabled, checked_label, mark, read_rules
from tallystick.recording.session_writer import SessionWriter, Taken
from tallystick.sessions.checkpoints import Trigger
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tallystick.workspace.names import find_session, find_step

# Making one -----------------------------------------------------------------------------------------------------------


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint that someone asks for, in the words of a command.

    Neither `session` nor `run` nor `at` given: the active session with the newest step that works in `folder`, or in one
    above it.
    """

    label: str
    session: str | None = None
    run: str | None = None
    at: str | None = None
    keep: bool = False
    metadata: Mapping[str, str] = {}
    folder: str


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint that was made."""

    id: str
    session: str
    n: int
    position: int
    position_hash: str
    label: str
    git: Mapping[str, Json] | None
    tokens: Mapping[str, Json]
    replaces: tuple[str, ...]


def create_checkpoint(home: Home, wanted: Wanted, *, git: LookAtGit = git_of) -> Made:
    """Make a checkpoint and seal it.

    Raises:
        CheckpointError: checkpoints are off, or the session has as many as it may have.
        NotFoundError, AmbiguousError: what is meant is not there, or not one. UsageError: it has no label, or the step is of
            another session. JournalError: it cannot be written.
    """
    check_enabled(read_rules(home))
    checked_label(wanted.label)
    with open_index(home) as index:
        session, position = _meant(index, wanted)
        row = get_session(index.graph, session)
    if row is None:
        raise NotFoundError(f"no session {session}")
    meta: dict[str, Json] = {}
    if wanted.keep:
        meta = {"keep": True}
    if wanted.run is not None:
        meta["run"] = wanted.run
    order = Mark(
        trigger=Trigger.MANUAL,
        label=wanted.label,
        position=position,
        git=git(row.cwd) if row.cwd is not None else None,
        metadata=wanted.metadata,
        meta=meta,
    )
    with SessionWriter(home) as session_writer:
        record = session_writer.writer.record_of(SessionId(session), row.agent)
        taken = mark(session_writer, record, order)
        step = record.read(taken.n)
    if step is None:
        raise CheckpointError(f"cannot read back the checkpoint in session {session[:8]}", hint="run `tally verify`")
    return _created_mark(step, taken)


def _created_mark(step: Recorded, taken: Taken) -> Made:
    git = step.values.get("content.git")
    return Made(
        id=step.hash,
        session=step.session,
        n=taken.n,
        position=int(step.meta["position"]),
        position_hash=str(step.meta["position_hash"]),
        label=step.text("content.label") or "",
        git=git if isinstance(git, dict) else None,
        tokens=step.meta["tokens_used"],
        replaces=tuple(step.meta.get("replaces", ())),
    )


def _meant(index: Index, wanted: Wanted) -> tuple[str, int | None]:
    """The session and the position that are meant; no position: the newest step."""
    if wanted.at is None:
        return _session(index, wanted), None
    is_in_session = wanted.session is not None or wanted.at.isdigit()  # a number says nothing of a session
    place = find_step(index, wanted.at, within=_session(index, wanted) if is_in_session else None)
    return place.session, place.n


def _session(index: Index, wanted: Wanted) -> str:
    if wanted.session is not None:
        return find_session(index, wanted.session)
    if wanted.run is not None:
        row = newest_of_run(index.graph, wanted.run)
        if row is None:
            raise _no_run(wanted.run, hint="name the session with --session")
        return row.session
    row = newest_active(index.graph, _up(wanted.folder))
    if row is None:
        raise NotFoundError(
            f"no active session works in {wanted.folder}",
            hint="name one with --session; `tally session list` lists them",
        )
    return row.session


def _no_run(run: str, *, hint: str) -> NotFoundError:
    return NotFoundError(f"no session of run {run[:80]!r}", hint=hint)


def _up(folder: str) -> list[str]:
    """A folder and those above it."""
    path = Path(folder)
    return [str(path), *map(str, path.parents)]


# Some of them ---------------------------------------------------------------------------------------------------------


def listed_checkpoints(index: Index, wanted: CheckpointFilter) -> tuple[CheckpointEntry, ...]:
    """Checkpoints: of a run in journal order, else the newest first.

    Raises:
        NotFoundError: neither a session nor a checkpoint names the run that is asked for.
    """
    found = list_checkpoints(index.graph, wanted)
    if not found and wanted.run is not None and newest_of_run(index.graph, wanted.run) is None:
        whole = CheckpointFilter(run=wanted.run, is_replaced=True, limit=1)
        if not list_checkpoints(index.graph, whole):
            raise _no_run(wanted.run, hint="`tally session list --json` has the run of each")
    return found


# One of them ----------------------------------------------------------------------------------------------------------


class CheckpointDetail(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint with all that its step says, and the session that it marks."""

    entry: CheckpointEntry
    recorded: str | None
    config_sections: Mapping[str, str]
    hook_registry: Json
    is_kept: bool
    more: Mapping[str, Json]
    """Members of the step that have no place of their own."""
    marked: Recorded | None
    """The step that it marks; None: it cannot be read."""


_SHOWN = frozenset(
    (
        *(
            "type",
            "source",
            "recorded",
            "trigger",
            "position",
            "position_hash",
            "tokens_used",
            "run",
            "replaces",
            "keep",
        ),
        *("config_fingerprint", "config_sections", "request"),
    )
)


def show_checkpoint(home: Home, index: Index, text: str) -> CheckpointDetail:
    """Everything about one checkpoint.

    Raises:
        NotFoundError, AmbiguousError: the id means none, or several.
    """
    entry = find_checkpoint(index.graph, text)
    step = _step_at(home, find_in_index(index.graph, StepReference(session=entry.session, n=entry.n)))
    recorded, sections, registry, more = None, None, None, dict[str, Json]()
    if step is not None:
        recorded, sections = str(step.meta.get("recorded")), step.meta.get("config_sections")
        registry = step.values.get("content.hook_registry")
        more = {key: value for key, value in step.meta.items() if key not in _SHOWN}
    return CheckpointDetail(
        entry=entry,
        recorded=recorded,
        config_sections={str(key): str(value) for key, value in sections.items()} if isinstance(sections, dict) else {},
        hook_registry=registry,
        is_kept=step is not None and step.meta.get("keep") is True,
        more=more,
        marked=_step_at(home, _place(index, entry)),
    )


def _place(index: Index, entry: CheckpointEntry) -> Place | None:
    try:
        return find_in_index(index.graph, StepReference(session=entry.session, n=entry.position))
    except NotFoundError:
        return None


def _step_at(home: Home, place: Place | None) -> Recorded | None:
    path = None
    if place is not None:
        path = home.journal(place.session)
    if place is not None and path is not None:
        return read_at(home, path, place.offset, load_blobs=True)
    return None


# Two of them ----------------------------------------------------------------------------------------------------------


class Difference(msgspec.Struct, frozen=True):
    """One thing that two checkpoints say differently."""

    name: str
    before: Json
    after: Json


class CheckpointDiff(msgspec.Struct, frozen=True, kw_only=True):
    """What lies between two checkpoints, the earlier one first. `steps` and `files` are None where their sessions differ."""

    before: CheckpointEntry
    after: CheckpointEntry
    steps: Mapping[str, int] | None
    """How many entries of each type come after the first position, up to the second."""
    files: tuple[Changed, ...] | None
    tokens: Mapping[str, int] | None
    """What was used in between; None where one of them does not say."""
    git: tuple[Difference, ...]
    config: tuple[Difference, ...]
    """Sections of the configuration whose fingerprints differ, where both have one."""


def diff_checkpoints(home: Home, index: Index, first: str, second: str) -> CheckpointDiff:
    """What lies between two checkpoints.

    Raises:
        NotFoundError, AmbiguousError: an id means none, or several.
    """
    before, after = find_checkpoint(index.graph, first), find_checkpoint(index.graph, second)
    is_one = before.session == after.session
    if is_one:
        before, after = sorted((before, after), key=lambda each: each.position)
    else:
        before, after = sorted((before, after), key=lambda each: each.at_us)
    between = (after.session, before.position + 1, after.position)
    steps = files = tokens = None
    if is_one:
        steps, files = types_between(index.graph, *between), changed_between(index.graph, *between)
        tokens = _used(before.tokens, after.tokens)
    sections = [show_checkpoint(home, index, each.hash).config_sections for each in (before, after)]
    return CheckpointDiff(
        before=before,
        after=after,
        steps=steps,
        files=files,
        tokens=tokens,
        git=_differences(before.git or {}, after.git or {}),
        config=_differences(*sections) if all(sections) else (),
    )


def _used(before: Mapping[str, int] | None, after: Mapping[str, int] | None) -> dict[str, int] | None:
    if before is None or after is None:
        return None
    return {kind: count - before.get(kind, 0) for kind, count in after.items()}


def _differences(before: Mapping[str, Json], after: Mapping[str, Json]) -> tuple[Difference, ...]:
    names = sorted({*before, *after})
    return tuple(
        Difference(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    )
