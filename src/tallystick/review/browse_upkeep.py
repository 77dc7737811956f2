"""Keeping what someone looks through current: the index brought up to date, a session verified.

Owns what is reported of it. Must not know a screen, nor what is looked at.
"""

from __future__ import annotations

from collections.abc import Callable

from tallystick.errors import NotFoundError
from tallystick.graph.journals import Depth
from tallystick.journal.home import Home
from tallystick.model.verdict import Verdict
from tallystick.trust.verify import verify_store
from tallystick.trust.worker_pool import in_processes
from tallystick.workspace.indexing import open_index, refresh_index

Progress = Callable[[int], None]
"""Called with how many bytes more were read. It may raise, to stop."""


def catch_up(home: Home, *, session: str | None = None, depth: Depth = Depth.ROWS, progress: Progress) -> list[str]:
    """Bring the index up to date with all journals, or with one; what a reader should know of its state.

    Raises:
        NotFoundError: there is no store. GraphError: the index is being written, or cannot be used at all.
    """
    if session is None:
        with open_index(home, depth=depth, progress=progress) as index:
            return index.remarks
    done = refresh_index(home, sessions=[session], depth=depth, progress=progress)
    return [f"cannot be read from step {failure.n} on: {failure.why}" for failure in done.failures]


def verdict_of(home: Home, session: str) -> Verdict:
    """The verdict on one session, reached in a process of its own: anyone who waits for it can do other things meanwhile.

    Raises:
        NotFoundError: there is no store. TallystickError: the process died.
    """
    if not home.exists:
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    for _, verdict in in_processes(f"{__name__}:check", [(str(home.folder), session)], [1]):
        assert isinstance(verdict, Verdict)
        return verdict
    raise AssertionError("one job, one result")


def check(job: tuple[str, str]) -> Verdict:
    """What the process does."""
    from pathlib import Path

    folder, session = job
    return verify_store(Home(Path(folder)), sessions=[session])
