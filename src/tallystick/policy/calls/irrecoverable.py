"""What would be gone for good if a path were deleted, or put back to what the last commit has.

Owns that judgement: what is in a commit, is ignored, or was made by the agent itself is not a loss. Must not know who
asks, nor what follows. Both answers are for what others made: its user, another program, another session.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from fnmatch import fnmatchcase

import msgspec

from tallystick.model.pattern import pattern_of
from tallystick.policy.world import Maker, Provenance, Tracking

OWN = frozenset((Maker.REQUEST, Maker.SESSION))
PastOf = Callable[[str], Provenance]


class Loss(msgspec.Struct, frozen=True):
    """What others made and no commit has."""

    changes: bool = False
    """Changes to tracked files."""
    files: bool = False
    """Files that version control neither has nor ignores."""


NOTHING = Loss()
_WILD = pattern_of(r"[*?\[]")
_MOST_WILD = 8


def loss(path: str, tracking: Tracking, past_of: PastOf, *, is_removed: bool) -> Loss:
    """What is lost at and below a path.

    Args:
        past_of: what is on record about a path.
        is_removed: it goes away itself, and with it a repository that it is; otherwise what it holds is replaced.
    """
    if _is_made(past_of(path)):
        return NOTHING
    if is_removed and tracking.root == path and not tracking.is_linked:  # with all that it has committed
        return Loss(changes=True, files=True)
    is_changed = any(not _is_own(past_of(changed)) for changed in tracking.changed)
    has_files = any(not _is_made(past_of(untracked)) for untracked in tracking.untracked)
    is_tree = is_removed and tracking.root == path  # what is in no commit goes with it, by any hand
    return Loss(changes=is_changed or (is_tree and has_files), files=has_files)


def _is_own(past: Provenance) -> bool:
    """Whether the session wrote last what is there: of a tracked file, what it held before is in a commit."""
    return past.maker in OWN


def _is_made(past: Provenance) -> bool:
    """Whether the session wrote all that is there."""
    return past.maker in OWN and past.is_new


def beginning(pattern: str) -> tuple[str, str]:
    """The folder that the files of a pattern lie below, and the pattern of their names; empty for one that says nothing."""
    folder, last = posixpath.split(pattern)
    while _WILD.search(folder) is not None:
        folder = posixpath.dirname(folder)
    return folder, last if last.strip("*") and len(_WILD.findall(last)) <= _MOST_WILD else ""


def loss_of(folder: str, tracking: Tracking, name: str, past_of: PastOf) -> Loss:
    """What deleting the files below a folder loses whose names match a pattern."""

    def named(paths: tuple[str, ...]) -> tuple[str, ...]:
        # A folder that stands for too many files may have one of this name.
        return tuple(path for path in paths if path == folder or fnmatchcase(posixpath.basename(path), name))

    found = Tracking(changed=named(tracking.changed), untracked=named(tracking.untracked))
    return Loss(
        changes=any(not _is_own(past_of(path)) for path in found.changed),
        files=any(not _is_made(past_of(path)) for path in found.untracked),
    )
