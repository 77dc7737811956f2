"""Reading a session as it grows, by the name that a person types."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from tallystick.journal.follow import follow_file
from tallystick.journal.home import Home, default_folder
from tallystick.model.recorded import Recorded
from tallystick.trust.verify_named import find_session


def follow(
    session: str, *, home: str | Path | None = None, stop: Callable[[], bool] | None = None
) -> Iterator[Recorded]:
    """The steps of a session from the first on, then those that come, until it ends or `stop()` says so.

    Args:
        session: our id, the agent's own, or a unique prefix. home: the store; default TALLY_HOME, else ~/.tally.

    Raises:
        NotFoundError, AmbiguousError: nothing, or several sessions, have that id.
    """
    store = Home(Path(home) if home is not None else default_folder(os.environ))
    path = store.journal(find_session(store, session))
    if path is not None:
        yield from (step for step in follow_file(store, path, stop=stop) if step is not None)
