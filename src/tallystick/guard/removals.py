"""What would be lost by a call that is asked about: told with the question, and kept aside before the answer.

Owns how long a call waits for that, and that copying goes on while the person is asked. Must not know how files are copied.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from tallystick.capture.loose_work import Limit, LooseFile, loose_work
from tallystick.guard.discards import Discard
from tallystick.guard.set_aside import Removal, keep, new_id
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Decision, Effect

_LOG = logging.getLogger(__name__)
_LOOK_SECONDS = 0.15
_COPY_SECONDS = 0.3
"""How long a call waits that runs without a question. One that is asked about does not wait."""
_ASKED_COPY_SECONDS = 30.0
_MOST_ROOTS = 16


class Removals:
    """Tells and keeps what calls would remove from one store's machine."""

    def __init__(self, home: Home, is_secret: Callable[[str, str], bool]) -> None:
        self._home = home
        self._is_secret = is_secret

    def told(self, call: Call, decision: Decision, found: Sequence[Discard], megabytes: int) -> Decision:
        """A decision with what would be lost, which is kept aside within so many megabytes."""
        limit = Limit(until=time.monotonic() + _LOOK_SECONDS)
        files: dict[str, LooseFile] = {}
        is_partial = len(found) > _MOST_ROOTS
        for one in found[:_MOST_ROOTS]:
            work = loose_work(one.path, limit, changes=one.changes, files=one.files)
            files |= {file.path: file for file in work.files}
            is_partial |= work.is_partial
        if not files:
            return decision
        name = ""
        if megabytes and self._home.folder.is_dir():
            name = new_id()
            self._keep(name, call, tuple(files.values()), megabytes << 20, is_asked=decision.effect is Effect.ASK)
        if decision.effect is not Effect.ASK:
            return replace(decision, kept=name)
        return replace(
            decision, kept=name, reason=f"{decision.reason} {_sentence(list(files.values()), is_partial, name)}"
        )

    def _keep(self, name: str, call: Call, files: tuple[LooseFile, ...], limit: int, *, is_asked: bool) -> None:
        removal = Removal(
            at=datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            agent=call.agent,
            session=call.session,
            command=str(call.args.get("command", call.tool) if isinstance(call.args, dict) else call.tool),
            files=files,
        )
        seconds = _COPY_SECONDS
        if is_asked:
            seconds = _ASKED_COPY_SECONDS

        def copy() -> None:
            try:
                keep(
                    self._home, name, removal, limit=limit, is_secret=self._is_secret, until=time.monotonic() + seconds
                )
            except Exception:  # the answer does not depend on it
                _LOG.exception("what a call of %s removes could not be kept aside", call.tool)

        if is_asked:
            threading.Thread(target=copy, daemon=True).start()
        else:
            copy()


def _sentence(files: list[LooseFile], is_partial: bool, name: str) -> str:
    """What would be lost, for the person who is asked: `3 unsaved files, 214 lines`."""
    lines = sum(file.lines for file in files)
    least = ""
    if is_partial:
        least = "at least "
    counted = f"{least}{len(files)} unsaved {'file' if len(files) == 1 else 'files'}"
    if lines:
        counted += f", {lines} {'line' if lines == 1 else 'lines'}"
    if name:
        return f"It would lose {counted}; they are kept aside (tally policy restore {name})."
    return f"It would lose {counted}."
