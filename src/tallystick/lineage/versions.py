"""The versions of one thing: who made each, who read which.

Owns one rule: accesses in order of time, each write begins a version, each read is of the version before it. Must not know
other things, nor rows.

What is read is what was last written, so an input that is read after an output was written is not its parent. A thing that
was removed and made again has two versions, and what removed the first does not lead to the second.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tallystick.lineage.access import SYSTEM, Access, Deed
from tallystick.lineage.identity import found_again_id, found_id, version_id

_NEAR_US = 2_000_000
"""So near a call's end is to an effect that shows what it wrote. In most calls a file is written close to the end."""
_LATE_US = 250_000
"""So long after its end an effect may be a call's of which the content is not known: clocks differ."""


class Version(msgspec.Struct):
    """One version of a thing. `base` is the one that it was made from by a change; None where it was written whole."""

    id: int
    number: int
    digest: str | None
    made_by: Access | None
    base: Version | None
    created_us: int
    updated_us: int
    deleted_us: int | None = None


class Use(msgspec.Struct):
    """An access and the version it is of: the one it read, made or removed. `read` is the one that a change began with."""

    access: Access
    version: Version
    read: Version | None = None
    cause: Access | None = None
    """Of an observed effect: the call's access that it shows."""


class History(msgspec.Struct):
    """All versions of a thing, oldest first, and its accesses."""

    versions: list[Version]
    uses: list[Use]


def history(thing: int, accesses: Sequence[Access]) -> History:
    """The versions of a thing.

    Args:
        accesses: all of it, by time, step and position.
    """
    return _Teller(thing).tell(accesses)


class _Teller:
    def __init__(self, thing: int) -> None:
        self._thing = thing
        self._versions: list[Version] = []
        self._current: Version | None = None
        self._recent: list[Use] = []

    def tell(self, accesses: Sequence[Access]) -> History:
        shows = _shown_by(accesses)
        uses: list[Use] = []
        by_key: dict[tuple[int, int], Use] = {}
        late: list[tuple[int, Access, Access]] = []
        for access in accesses:
            cause = shows.get((access.step_id, access.k))
            if cause is not None:
                late.append((len(uses) + len(late), access, cause))
                continue
            use = self._take(access)
            uses.append(use)
            by_key[access.step_id, access.k] = use
        for position, access, cause in late:
            uses.insert(position, _shows(access, by_key[cause.step_id, cause.k]))
        return History(self._versions, uses)

    def _take(self, access: Access) -> Use:
        match access.deed:
            case Deed.WRITE:
                return Use(access, self._written(access))
            case Deed.CHANGE:
                return self._changed(access)
            case Deed.TOUCH:
                return Use(access, self._there(access) or self._made(access, None))
            case Deed.REMOVE | Deed.TAKE:
                version = self._seen(access)
                version.deleted_us = access.at_us
                self._current = None
                return Use(access, version)
            case _:
                version = self._seen(access)
                if access.digest is not None and version.digest is None:
                    version.digest = access.digest
                return Use(access, version)

    def _written(self, access: Access) -> Version:
        there = self._there(access)
        if there is not None and access.digest is not None and there.digest == access.digest:
            return there  # the same bytes again
        return self._made(access, None)

    def _changed(self, access: Access) -> Use:
        there = self._there(access)
        if there is not None and access.digest is not None and there.digest == access.digest:
            return Use(access, there)
        # What is changed in part was there before, no matter who made it. An appended or observed change may have
        # begun it.
        if there is not None or access.operation != "edit":
            base = there
        else:
            base = self._found(access)
        return Use(access, self._made(access, base), base)

    def _there(self, access: Access) -> Version | None:
        if self._current is not None:
            self._current.updated_us = access.at_us
        return self._current

    def _seen(self, access: Access) -> Version:
        """The version that is there; the one found, if nothing was seen of it before."""
        return self._there(access) or self._found(access)

    def _found(self, access: Access) -> Version:
        if not self._versions:
            return self._begin(Version(found_id(self._thing), 0, None, None, None, access.at_us, access.at_us))
        id_ = found_again_id(self._thing, access.step_id, access.k)
        return self._begin(Version(id_, self._next(), None, None, None, access.at_us, access.at_us))

    def _made(self, access: Access, base: Version | None) -> Version:
        id_ = version_id(self._thing, access.step_id, access.k)
        return self._begin(Version(id_, self._next(), access.digest, access, base, access.at_us, access.at_us))

    def _next(self) -> int:
        if self._versions:
            return self._versions[-1].number + 1
        return 1

    def _begin(self, version: Version) -> Version:
        self._versions.append(version)
        self._current = version
        return version


def _shown_by(accesses: Sequence[Access]) -> dict[tuple[int, int], Access]:
    """Of each observed effect that shows what a call did to this thing: the call's access, the nearest in time.

    It does if it left what the call wrote, or if it was put down to the call while that ran. Of an effect that was recorded
    in a session without calls, no one knows which calls ran: there it is the only call that ended just then.
    """
    if not any(access.actor == SYSTEM for access in accesses):
        return {}
    calls = [access for access in accesses if access.actor != SYSTEM and access.deed is not Deed.READ]
    found: dict[tuple[int, int], Access] = {}
    for access in accesses:
        if access.actor == SYSTEM:
            near = [call for call in calls if _agree(access.deed, call.deed) and _fits(access, call)]
            near = [call for call in near if _is_explained(access, call)] or near
            if near and (_is_explained(access, near[0]) or len({call.step_id for call in near}) == 1):
                found[access.step_id, access.k] = min(
                    near, key=lambda call: (abs(call.at_us - access.at_us), call.step_id, call.k)
                )
    return found


def _fits(effect: Access, call: Access) -> bool:
    """Whether an effect may show what a call did."""
    after_us = effect.at_us - call.at_us
    if effect.digest is not None and call.digest is not None:
        return effect.digest == call.digest and abs(after_us) <= _NEAR_US
    if effect.cause_confidence is not None:
        return effect.cause == call.step_id
    return -_NEAR_US <= after_us <= _LATE_US


def _is_explained(effect: Access, call: Access) -> bool:
    """Whether it does for another reason than that nothing else was near."""
    return effect.cause == call.step_id or (effect.digest is not None and effect.digest == call.digest)


def _agree(effect: Deed, call: Deed) -> bool:
    removes = (Deed.REMOVE, Deed.TAKE)
    return (effect in removes) == (call in removes)


def _shows(access: Access, use: Use) -> Use:
    if access.digest is not None and use.version.digest is None and use.access.deed is not Deed.REMOVE:
        use.version.digest = access.digest
    return Use(access, use.version, None, use.access)
