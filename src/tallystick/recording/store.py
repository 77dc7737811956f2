"""Opening a store, and making one where none exists.

Owns what `tally init` does. Must not know what is recorded.
"""

from __future__ import annotations

from datetime import datetime, tzinfo

from tallystick.errors import NotFoundError
from tallystick.journal.archive import Archive
from tallystick.journal.erase import finish_erasures
from tallystick.journal.home import Home


def local_zone() -> tzinfo:
    """The recorder's time zone, by which naive times are read (docs/format.md 6.3)."""
    zone = datetime.now().astimezone().tzinfo
    assert zone is not None, "an aware datetime has a zone"
    return zone


def init_store(home: Home) -> bool:
    """Make a store at `home` unless there is one; True if it was made. Raises what Archive.make raises."""
    return not home.exists and Archive.make(home)


def open_archive(home: Home, *, make: bool = False) -> Archive:
    """The store's journals, open for writing. An erasure that was cut short is finished first.

    Raises:
        NotFoundError: there is no store and `make` is not set.
        JournalError: it cannot be opened or made.
    """
    if make:
        init_store(home)
    elif not home.exists:
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    archive = Archive(home)
    finish_erasures(archive)
    return archive
