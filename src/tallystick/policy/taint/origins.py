"""What goes into what within one call: from files that are read to hosts, and to files that are run in the end.

Owns following flows, also through files that the call writes and reads again (`cp a b && sh b`). Must not know what
matters of what flows.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.model.intent import Domain, Effects, Intent, Operation

TAKES = frozenset((Operation.READ, Operation.COPY_SOURCE, Operation.RENAME))
"""What takes data out of a file."""
PUTS = frozenset((Operation.WRITE, Operation.APPEND, Operation.EDIT, Operation.COPY_DEST, Operation.CREATE))
"""What puts data into a file, or makes a name for another one."""
REACHES = frozenset((Operation.SEND, Operation.CONNECT, Operation.FETCH))
"""What talks to a host."""
_MAY_TAKE = TAKES | {Operation.UNKNOWN}
_USES = TAKES | {Operation.EXECUTE}
_MOST_STEPS = 2_000


class Origins:
    """Where the data of the intents of one call comes from."""

    def __init__(self, effects: Effects) -> None:
        self._intents = effects.intents
        self._into: dict[int, list[int]] = {}
        for flow in effects.flows:
            self._into.setdefault(flow.target, []).append(flow.source)
        self._writers: dict[str, list[int]] = {}
        for k, intent in enumerate(effects.intents):
            if intent.domain is Domain.FILE and intent.operation in PUTS:
                self._writers.setdefault(intent.target, []).append(k)
        moved = {flow.source for flow in effects.flows}
        self._unmoved: dict[int, list[Intent]] = {}
        """By command: what it reads and no flow leads anywhere else."""
        for k, intent in enumerate(effects.intents):
            if intent.operation in _MAY_TAKE and intent.domain is Domain.FILE and k not in moved:
                self._unmoved.setdefault(intent.command, []).append(intent)

    def of(self, position: int) -> Iterator[Intent]:
        """What an intent takes its data from, near and far: files that are read, hosts that are asked. Each once."""
        seen: set[int] = set()
        waiting = [*self._before(position)]
        while waiting and len(seen) < _MOST_STEPS:
            k = waiting.pop()
            if k in seen:
                continue
            seen.add(k)
            intent = self._intents[k]
            if intent.operation in TAKES or intent.operation in REACHES:
                yield intent
            waiting += self._before(k)

    def leaving(self, position: int) -> Iterator[Intent]:
        """What goes to a host, as far as the text tells. Where it does not, what the same command reads may go there.

        That is code, or what a program takes whose input is not followed.
        """
        intent = self._intents[position]
        found = [one for one in self.of(position) if one.domain is Domain.FILE]
        if not found:
            found = [*self._unmoved.get(intent.command, ()), *self._pushed(intent)]
        yield from found

    def _before(self, position: int) -> Iterator[int]:
        """The intents whose data goes straight into one: by a flow, or by a file that was written before."""
        yield from self._into.get(position, ())
        intent = self._intents[position]
        if intent.domain is Domain.FILE and intent.operation in _USES:
            yield from (k for k in self._writers.get(intent.target, ()) if k < position)

    def _pushed(self, intent: Intent) -> Iterator[Intent]:
        """What `git push` takes along: what was added in the same call."""
        numbers = {one.command for one in self._intents if one.operation is Operation.RUN and one.target == "git"}
        if intent.operation is Operation.SEND and intent.command in numbers:
            for one in self._intents:
                if one.command in numbers and one.domain is Domain.FILE and one.operation in TAKES:
                    yield one
