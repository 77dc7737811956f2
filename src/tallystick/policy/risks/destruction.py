"""What is destroyed without a path showing it: databases emptied, history rewritten, volumes, clusters and accounts deleted.

Owns the words for it, and which module knows which programs. Must not know what follows from a risk.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.model.script import Role
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.data import of_code, of_data
from tallystick.policy.risks.history import of_version_control
from tallystick.policy.risks.programs import Started, programs, shown
from tallystick.policy.risks.removals import of_program, of_tools
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {
    "rewrites-history": "Commits, branches or tags that others may need are rewritten or removed.",
    "discards-work": "Changes or files that are in no commit are thrown away by version control.",
    "drops-data": "Tables, databases, or all rows of a table are removed.",
    "deletes-remote": "What lives elsewhere is deleted: resources of a cloud or a cluster, repositories, releases, packages.",
    "deletes-volumes": "Volumes, or containers and machines that the call does not name, are deleted with their data.",
    "deletes-backups": "Backups or snapshots are deleted.",
    "removes-account": "An account of the machine is removed, or all that is scheduled for it.",
}

_MOST_COMMANDS = 500


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call destroys, of RISKS."""
    yield from of_version_control(reading)
    yield from of_code(reading)
    yield from of_tools(reading)
    for started in (*programs(reading), *_of_project(reading)):
        for word in (of_data(started), of_program(started)):
            if word is not None:
                yield Risk(word, started.spelled)


def _of_project(reading: CallReading) -> Iterator[Started]:
    """Programs by a path in the project (`bin/rails`): most frameworks have their own there."""
    for script in reading.scripts:
        for command in script.commands[:_MOST_COMMANDS]:
            name = ""
            if command.role is Role.PROGRAM and command.words:
                name = command.words[0].plain
            if "/" in name and not name.startswith("/"):
                yield Started(name.rpartition("/")[2].lower(), command.words[1:200], shown(command.words))
