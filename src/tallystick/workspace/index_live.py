"""The index follows what is recorded: sessions that were just sealed are projected at once.

Must not raise: readers bring the index up to date themselves, and who records without an index records as well.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.workspace.indexing import refresh_index

_LOG = logging.getLogger(__name__)


def index_sessions(home: Home, sessions: Sequence[str]) -> int:
    """Project what is new in some sessions; how many steps that were."""
    try:
        return refresh_index(home, sessions=sessions).steps
    except TallystickError as error:
        _LOG.info("the index was not brought up to date: %s", error)
        return 0
