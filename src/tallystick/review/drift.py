"""What sessions ran under, compared: with each other, and with what an agent's files say now.

Owns finding the configuration of a session or of a step, and what can be compared with what. Must not know what an input is.
Source: decision 0022.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from tallystick.capture.surroundings import Surroundings
from tallystick.errors import FormatError, NotFoundError, UsageError
from tallystick.graph.lookup import find_step, matching_sessions, resolve_session
from tallystick.graph.queries import SessionRow
from tallystick.journal.home import Home
from tallystick.journal.keys import configuration_key
from tallystick.live.watched_places import working_folder
from tallystick.model.ids import parse_step_reference
from tallystick.recording.run_config.gathered import ROOT, gather
from tallystick.recording.run_config.recorded import Under, session_under
from tallystick.sessions.configuration import (
    Configuration,
    Difference,
    configuration,
    differences,
    ordered,
    section_inputs,
)
from tallystick.sessions.declared_config import Told, carried, told_inputs
from tallystick.sessions.fingerprint import section_digest, section_key
from tallystick.workspace.index import Index

_LAST = 1 << 62


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """Two configurations, and what differs. `second` None: what the agent's files say now."""

    first: Under
    second: Under | None
    is_same: bool
    differences: tuple[Difference, ...]
    same: tuple[str, ...]
    """The sections that do not differ."""
    now: Configuration | None = None


# Compared ---------------------------------------------------------------------------------------------------------------


def drift(home: Home, index: Index, first: str, second: str) -> Drift:
    """What two sessions, or steps of them, ran under differently. A session is meant as it began.

    Raises:
        NotFoundError, AmbiguousError, UsageError: a name means nothing, or several things.
        FormatError: their digests were made under different keys.
    """
    one, other = _configuration_named(home, index, first), _configuration_named(home, index, second)
    return _compared(one, other, other.configuration)


def drift_from_now(home: Home, index: Index, name: str, where: Surroundings, *, root: Path = ROOT) -> Drift:
    """What differs between a session as it ran last, or a step, and what its agent's files say now.

    What the session itself told, its model and its mode, is taken to be as it was: nothing tells it now.

    Args:
        where: the user's home folder and environment; without a folder, the session's own is looked at.
        root: below which administrators' settings are.

    Raises what `drift` raises.
    """
    one = _configuration_named(home, index, name, at=_LAST)
    found = gather(one.agent, _in_its_folder(index, one, where), root=root)
    key = configuration_key(home)
    told = Told(agent=one.agent)
    known = carried(one.configuration, told)
    now = configuration(key, told_inputs(told, key), known, found.under(key))
    return _compared(one, None, now)


def _in_its_folder(index: Index, under: Under, where: Surroundings) -> Surroundings:
    if where.project is not None:
        return where
    folder = working_folder(resolve_session(index.graph, under.session).cwd)
    return msgspec.structs.replace(where, project=None if folder is None else Path(folder))


def _configuration_named(home: Home, index: Index, name: str, *, at: int | None = None) -> Under:
    """What a session or a step that a person named ran under."""
    found = matching_sessions(index.graph, name, limit=2)
    if found:
        return _at(home, index, resolve_session(index.graph, name), at)
    try:
        place = find_step(index.graph, parse_step_reference(name))
    except UsageError as error:
        raise NotFoundError(
            f"no session or checkpoint {name!r}", hint="`tally session list` lists the sessions"
        ) from error
    return _at(home, index, resolve_session(index.graph, place.session), place.n)


def _at(home: Home, index: Index, row: SessionRow, until: int | None) -> Under:
    """What a session ran under. One that tells nothing ran under its agent, at least."""
    found = session_under(home, index.graph, row, until=until)
    if found is not None:
        return found
    key = configuration_key(home)
    alone = configuration(key, told_inputs(Told(agent=row.agent, model=row.model), key))
    return Under(session=row.session, agent=row.agent, n=None, at=row.started, configuration=alone)


def _compared(one: Under, other: Under | None, second: Configuration) -> Drift:
    first = one.configuration
    if first.key != second.key:
        raise FormatError(
            "the fingerprints were made with different keys and cannot be compared",
            hint="`tally drift SESSION --key SECTION=KEY` compares with this machine's configuration, if its store "
            "discloses the key",
        )
    found = differences(first, second)
    differing = {difference.section for difference in found}
    same = tuple(name for name in ordered(first.sections) if name not in differing)
    return Drift(
        first=one,
        second=other,
        is_same=not found,
        differences=found,
        same=same,
        now=second if other is None else None,
    )


# Disclosed --------------------------------------------------------------------------------------------------------------


class Matched(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a section of a session of another store has the inputs that stand here."""

    section: str
    is_same: bool


def disclosed_key(home: Home, section: str) -> str:
    """The key of one section, 64 hex digits: who has it can say whether inputs of theirs are those of that section.

    Raises JournalError: the store's key cannot be read.
    """
    return section_key(configuration_key(home), section).hex()


def last_configuration(home: Home, index: Index, name: str) -> Under:
    """The last configuration of the session, checkpoint or step that `name` means. Raises what `drift` raises."""
    return _configuration_named(home, index, name, at=_LAST)


def match_now(
    index: Index, one: Under, keys: Mapping[str, bytes], where: Surroundings, *, root: Path = ROOT
) -> tuple[Matched, ...]:
    """Whether sections of a configuration, whatever store's, have the inputs that stand here now, by their disclosed keys."""
    found = gather(one.agent, _in_its_folder(index, one, where), root=root)
    told = carried(one.configuration, Told(agent=one.agent)).inputs
    matched = []
    for section, key in keys.items():
        inputs = [*section_inputs(key, found.given, section), *(item for name, item in told if name == section)]
        digest = section_digest(key, [(item.name, item.digest) for item in inputs])
        matched.append(Matched(section=section, is_same=digest == one.configuration.sections.get(section)))
    return tuple(matched)
