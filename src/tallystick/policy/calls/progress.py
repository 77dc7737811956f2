"""What a call has done up to one of its intents: which program is at work, and what it made where nothing was.

Owns that state while the acts of one call are found. Must not know what follows from it.
"""

from __future__ import annotations

import posixpath

from tallystick.model.intent import Intent, Operation
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.data import drops_in_file
from tallystick.policy.risks.programs import programs

_BLANK = frozenset(("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/arandom"))
LOSES_ROWS = "loses-rows"
"""What is told of a database in a file that loses tables or rows."""
_MOST_LINKS = 4
_WHOLE = frozenset((Operation.WRITE, Operation.COPY_DEST))
_EMPTYING = frozenset(("truncate", "gtruncate"))
"""Programs whose rule says WRITE only where nothing is left."""


class SoFar:
    """What one call has done."""

    def __init__(self, reading: CallReading) -> None:
        self._reading = reading
        self._made: set[str] = set()
        self._blanking: frozenset[str] | None = None
        self._links = _links(reading)
        self.program = ""
        """The program that does what comes next; empty for a tool."""

    def started(self, name: str) -> None:
        """A program starts."""
        self.program = name

    def made(self, *paths: str) -> None:
        """Something was made where nothing was."""
        self._made.update(paths)

    def is_made(self, path: str) -> bool:
        """Whether the call made what is at a path, or a folder above it."""
        while self._made and path not in ("/", ""):
            if path in self._made:
                return True
            path = posixpath.dirname(path)
        return False

    def linked(self, path: str) -> str:
        """Where a path leads by the links that the call itself makes."""
        for _ in range(_MOST_LINKS if self._links else 0):
            link = next((one for one in self._links if path == one or path.startswith(f"{one}/")), None)
            if link is None:
                break
            path = posixpath.normpath(self._links[link] + path[len(link) :])
        return path

    def links(self, intent: Intent) -> bool:
        """Whether an intent makes a link."""
        return self.program == "ln" and intent.operation is Operation.CREATE

    def is_whole(self, intent: Intent) -> bool:
        """Whether an intent replaces all that a file holds."""
        return intent.operation in _WHOLE

    def empties(self, intent: Intent) -> bool:
        """Whether nothing of worth is left in a file: it is cut to nothing, or filled with zeros or noise."""
        if intent.operation not in _WHOLE:
            return False
        if intent.content is not None:
            return not intent.content.strip()
        return self.program in _EMPTYING or self.program in self._programs_with_blanks()

    def data_tags(self) -> frozenset[str]:
        """What is done to what a database in a file holds."""
        return frozenset((LOSES_ROWS,) if drops_in_file(self._reading, self.program) else ())

    def _programs_with_blanks(self) -> frozenset[str]:
        """Programs that are given a device that holds nothing."""
        if self._blanking is None:
            found = set()
            for script in self._reading.scripts:
                for command in script.commands:
                    inputs = [redirect.target for redirect in command.redirects if not redirect.writes]
                    if any(word.text.removeprefix("if=") in _BLANK for word in (*command.words[1:], *inputs)):
                        found.add(command.program.rpartition("/")[2])
            self._blanking = frozenset(found)
        return self._blanking


def _links(reading: CallReading) -> dict[str, str]:
    """The links that a call makes, and where they lead."""
    intents = reading.effects.intents
    found: dict[str, str] = {}
    for flow in reading.effects.flows if any(started.name == "ln" for started in programs(reading)) else ():
        source, target = intents[flow.source], intents[flow.target]
        is_link = source.operation is Operation.COPY_SOURCE and target.operation is Operation.CREATE
        if is_link and source.is_known and target.is_known and source.target.startswith("/"):
            found[target.target] = source.target
    return found
