"""What agents report of their work beside their calls: files that a call changed, commits it made, a session's pull request.

Owns which values of a step say so, and the things they name. Must not know how a call's own intents are confirmed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tallystick.graph.projection.json_columns import plain
from tallystick.lineage.things import Thing, commit_thing, file_thing
from tallystick.model.intent import Domain, Effects
from tallystick.model.paths import placed
from tallystick.model.recorded import Recorded

_MOST_CHANGES = 1_000
_MOST_LENGTH = 4_096


class Report(NamedTuple):
    """A thing that a result says was made or changed: by which operation, and what that is called in evidence."""

    thing: Thing
    operation: str
    what: str


def reports(effects: Effects, step: Recorded, folder: str | None) -> Iterator[Report]:
    """What a call's result says of things: the files it changed, the commits it made."""
    for thing in _changed_files(step, folder):
        yield Report(thing, "edit", "edit")
    for thing in _commits(effects, step):
        yield Report(thing, "write", "commit")


def _changed_files(step: Recorded, folder: str | None) -> Iterator[Thing]:
    """Of a change no more is known than that there was one: an edit."""
    paths = step.values.get("content.changed_paths")
    if isinstance(paths, list):
        for path in paths[:_MOST_CHANGES]:
            if isinstance(path, str) and 0 < len(path) <= _MOST_LENGTH:
                yield file_thing(placed(plain(path, _MOST_LENGTH), folder))


def _commits(effects: Effects, step: Recorded) -> Iterator[Thing]:
    """The commits that a command says it made."""
    if not any(intent.domain is Domain.PROCESS and intent.target == "git" for intent in effects.intents):
        return
    from tallystick.intent.tools.commits import commits_in

    output = step.values.get("content.output")
    if isinstance(output, str):
        yield from map(commit_thing, commits_in(output))


def pull_request(step: Recorded) -> Thing | None:
    """The pull request that an agent says a session is about."""
    url = step.text("content.pull_request")
    if url is None or not url.startswith(("https://", "http://")) or len(url) > _MOST_LENGTH:
        return None
    return Thing("url", plain(url, _MOST_LENGTH))
