"""The project's own `.env` that is copied to such a file of the project: `cp ../main/.env .env` in another working tree.

Owns which copies stay what they were: all that a call takes of the file goes where a name says again that it holds secrets.
Must not know where a path lies, nor where a link leads: who asks looks at every path that it is given.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.model.intent import Domain, Intent, Operation
from tallystick.model.pattern import pattern_of
from tallystick.policy.calls.reading import CallReading

_ENV = pattern_of(r".*/\.env(?:\.[\w.-]+)?")
_TEMPLATE = pattern_of(r".*\.(?:example|sample|template|dist|defaults?)")
_TAKEN = frozenset((Operation.READ, Operation.COPY_SOURCE, Operation.EDIT, Operation.EXECUTE))


def kept(reading: CallReading) -> Mapping[str, tuple[str, ...]]:
    """The files of variables that a call only copies, each with where its copies are."""
    intents, found = reading.effects.intents, {}
    taken = [n for n, one in enumerate(intents) if _is_one(one) and one.operation in _TAKEN]
    for n in taken:
        goes = [intents[flow.target] for flow in reading.effects.flows if flow.source == n]
        is_copy = intents[n].operation is Operation.COPY_SOURCE and bool(goes)
        if is_copy and all(one.operation is Operation.COPY_DEST and _stays(one) for one in goes):
            found[n] = tuple(one.target for one in goes)
    shown = {intents[n].target for n in taken if n not in found}
    return {intents[n].target: goes for n, goes in found.items() if intents[n].target not in shown}


def _is_one(intent: Intent) -> bool:
    is_told = intent.domain is Domain.FILE and intent.is_known and not intent.is_pattern
    return is_told and _ENV.fullmatch(intent.target) is not None


def _stays(intent: Intent) -> bool:
    return _is_one(intent) and _TEMPLATE.fullmatch(intent.target) is None
