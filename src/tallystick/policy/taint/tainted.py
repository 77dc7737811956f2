"""Whether a call runs what came from outside, or carries a secret into another file.

Owns the taint of what a call reads: what its session did tells first, then the record of others. Must not know texts that
are followed (`injected_instructions` does), nor what comes of a finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

import msgspec

from tallystick.catalog.programs import programs_with
from tallystick.intent.tools.arguments import strings
from tallystick.lineage.quoting import holds_key
from tallystick.lineage.taint import CLEAN, Taint, Trust, trust_of_target
from tallystick.model.intent import Domain, Intent, Operation
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.risk import Risk
from tallystick.policy.taint.untrusted_input import Hearing
from tallystick.policy.world import Maker, Provenance, Tracking

RUNS = "runs-outside-content"
CARRIES = "carries-sensitive-data"

RISKS: dict[str, str] = {
    RUNS: "What a tool or the network gave is run: as a file, as code, or as the words of a command.",
    CARRIES: "What came from a secret, or from outside in an earlier request, goes into another file.",
}

BEFORE = " < "
"""Stands in a way between something and what it came from."""
CHANGES = frozenset((Operation.WRITE, Operation.APPEND, Operation.EDIT, Operation.COPY_DEST, Operation.CREATE))
DEEDS = frozenset(
    (
        *(Operation.SEND, Operation.DELETE, Operation.SCHEDULE, Operation.SIGNAL, Operation.ELEVATE, Operation.LISTEN),
        *(Operation.EXECUTE, Operation.RENAME, Operation.METADATA, Operation.CONNECT),
    )
)
"""What does more than look, beside CHANGES."""
OLD = ("old", "pattern", "oldstring", "oldstr", "search", "find", "description", "explanation")
"""Arguments that say what was there before, or why."""
MOST_TEXT = 16 << 10
_INSTALLS = programs_with("obeys-files")
"""Programs that do what the files and folders say that they are given."""
_TAKES = frozenset((Operation.READ, Operation.COPY_SOURCE, Operation.RENAME))


class Record(Protocol):
    """What is asked of paths."""

    def provenance(self, path: str) -> Provenance:
        """What the record says of a path."""
        ...

    def tracking(self, path: str) -> Tracking:
        """What version control says of a path."""
        ...


class Sources:
    """Where the data of a call comes from."""

    def __init__(self, reading: CallReading, record: Record, hearing: Hearing) -> None:
        self._reading = reading
        self._record = record
        self._hearing = hearing
        self._known: dict[str, tuple[Taint, bool]] = {}

    @cached_property
    def runs_doubtful(self) -> bool:
        """Whether a file is run that was written after something had been heard."""
        runs = (intent for intent in self._reading.effects.intents if intent.operation is Operation.EXECUTE)
        return any(self.of(intent)[0].trust is not Trust.TRUSTED for intent in runs)

    def of(self, intent: Intent) -> tuple[Taint, bool]:
        """The taint of what an intent reads, and whether it was there before the user's last prompt."""
        if intent.domain is Domain.FILE and intent.is_known and intent.target.startswith("/"):
            return self._of_file(intent.target)
        return CLEAN, False

    def _of_file(self, path: str) -> tuple[Taint, bool]:
        if path not in self._known:
            self._known[path] = self._found(path)
        return self._known[path]

    def _found(self, path: str) -> tuple[Taint, bool]:
        past = self._record.provenance(path)
        if past.trust is Trust.TRUSTED and not past.is_sensitive:
            return CLEAN, False
        taint = self._hearing.taint(path)  # it has the whole way
        if taint.is_clean:
            taint = Taint(trust=past.trust, is_sensitive=past.is_sensitive, sources=past.evidence[:4])
        if taint.trust is not Trust.TRUSTED and self._is_of_repository(path):
            taint = msgspec.structs.replace(taint, trust=Trust.TRUSTED)  # someone looked at it, and committed it
        return taint, past.maker in (Maker.OTHER_SESSION, Maker.SESSION)

    def _is_of_repository(self, path: str) -> bool:
        """Whether it is committed to the repository that the session works in, not to one that was fetched into it."""
        tracking = self._record.tracking(path)
        workspace = self._reading.workspace
        return tracking.is_committed and tracking.root is not None and tracking.root == workspace


def run_from_outside(reading: CallReading, sources: Sources) -> Iterator[Risk]:
    """What came from outside and is run: a file, the words that a command is given, what is to be put in force."""
    intents = reading.effects.intents
    fetched: dict[str, Taint] | None = None
    for intent in intents:
        if intent.operation is Operation.EXECUTE:
            if fetched is None:
                fetched = _fetched(reading)
            taint = fetched.get(intent.target) or sources.of(intent)[0]
            if taint.trust is Trust.UNTRUSTED:
                yield _way(RUNS, intent.target, "is run", taint)
    takes_words = _takes_words(reading)
    in_force = {intents[flow.source] for flow in reading.effects.flows if _puts_in_force(intents[flow.target])}
    installs = {
        intent.command for intent in intents if intent.operation is Operation.RUN and intent.target in _INSTALLS
    }
    for intent in intents:
        is_taken = intent.operation in _TAKES and (
            takes_words or intent in in_force or (intent.domain is Domain.FILE and intent.command in installs)
        )
        is_walked = takes_words and intent.operation is Operation.LIST and intent.is_deep
        if (is_taken or is_walked) and (taint := sources.of(intent)[0]).trust is Trust.UNTRUSTED:
            yield _way(RUNS, intent.target, "tells a command what to do", taint)


def _puts_in_force(intent: Intent) -> bool:
    """Whether what goes there is done by what it says: a schedule, a cluster of the user's."""
    is_own_service = intent.operation is Operation.SEND and trust_of_target(intent.target) is Trust.VETTED
    return intent.operation is Operation.SCHEDULE or (is_own_service and "://" in intent.target)


def _fetched(reading: CallReading) -> dict[str, Taint]:
    """The files that the call itself gets from outside."""
    intents = reading.effects.intents
    return {
        intents[flow.target].target: Taint(trust=Trust.UNTRUSTED, sources=(intents[flow.source].target[:200],))
        for flow in reading.effects.flows
        if intents[flow.source].domain is Domain.NETWORK
        and trust_of_target(intents[flow.source].target) is Trust.UNTRUSTED
    }


def _takes_words(reading: CallReading) -> bool:
    """Whether a command that does something is given words, or a text to run, that the call does not tell."""
    if {"eval", "pipe", "program"} & set(reading.effects.opaque):
        return True
    open_ended = {
        number
        for script in reading.scripts[:1]
        for number, command in enumerate(script.commands)
        if any(not word.is_known for word in command.words)
    }
    return any(
        intent.command in open_ended
        and (intent.operation in DEEDS or intent.domain is Domain.UNKNOWN or is_install(intent))
        for intent in reading.effects.intents
    )


def carried(reading: CallReading, sources: Sources) -> Iterator[Risk]:
    """A flow from a tainted file into another one."""
    intents = reading.effects.intents
    for flow in reading.effects.flows:
        source, target = intents[flow.source], intents[flow.target]
        if target.domain is not Domain.FILE or target.operation not in CHANGES or source.operation not in _TAKES:
            continue
        if source.target == target.target or target.target.startswith("/dev/"):
            continue
        taint, is_earlier = sources.of(source)
        if taint.is_sensitive or (taint.trust is Trust.UNTRUSTED and is_earlier):
            yield _way(CARRIES, source.target, f"goes into {target.target}", taint)


def carried_in_code(reading: CallReading, sources: Sources) -> Iterator[Risk]:
    """Code that reads a secret and writes a file: how data moves in code is unknown."""
    intents = reading.effects.intents
    told = {end for flow in reading.effects.flows for end in (flow.source, flow.target)}
    loose = [intent for k, intent in enumerate(intents) if k not in told and intent.domain is Domain.FILE]
    written = [intent for intent in loose if intent.operation in CHANGES and not intent.is_authored]
    for intent in loose if written else ():
        into = next((other for other in written if other.command == intent.command), None)
        if intent.operation in _TAKES and into is not None and sources.of(intent)[0].is_sensitive:
            yield _way(CARRIES, intent.target, f"is read by code that writes {into.target}", sources.of(intent)[0])


def rewritten(reading: CallReading, hearing: Hearing) -> Iterator[Risk]:
    """The model was shown a secret, and writes what looks like one into a file."""
    for content in written(reading):
        if holds_key(content):
            yield Risk(
                CARRIES, BEFORE.join(("a text like a secret is written after one was shown", *hearing.sensitive_way))
            )
            return


def _way(name: str, what: str, does: str, taint: Taint) -> Risk:
    way = (source for source in taint.sources if not source.startswith(f"{what} ("))
    return Risk(name, BEFORE.join((f"{what} {does}", *way)))


def written(reading: CallReading) -> Iterator[str]:
    """The texts that the model writes into files with this call."""
    is_native = False
    for k, intent in enumerate(reading.effects.intents):
        if intent.domain is Domain.FILE and intent.operation in CHANGES and intent.is_authored:
            is_native = is_native or k < len(reading.uses.intents)
            if intent.content is not None:
                yield intent.content[:MOST_TEXT]
    if is_native:
        yield from (text[:MOST_TEXT] for name, text in strings(reading.call.args) if name not in OLD)


def is_install(intent: Intent) -> bool:
    """Whether packages are fetched, to be installed or run."""
    return intent.operation is Operation.FETCH and (intent.target.startswith("pkg:") or not intent.target)
