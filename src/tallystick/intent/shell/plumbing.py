"""How data moves between what a script reads and writes.

Owns a graph of places that data passes: intents, and the pipes between commands. Its result is which intent's data reaches
which other intent. Must not know commands or files.
"""

from __future__ import annotations

from tallystick.model.intent import Flow

_MOST_FLOWS = 1000
_MOST_STEPS = 50_000


class Plumbing:
    """A graph whose nodes are intents, by their position, and pipes, which have negative numbers."""

    def __init__(self) -> None:
        self._next = -1
        self._after: dict[int, list[int]] = {}
        self.is_cut = False
        """Whether there are more flows than are known."""

    def pipe(self) -> int:
        """A new pipe."""
        self._next -= 1
        return self._next

    def connect(self, source: int, target: int) -> None:
        """Data goes from one place to another."""
        if source != target:
            self._after.setdefault(source, []).append(target)

    def before(self, target: int) -> set[int]:
        """The intents whose data reaches a place."""
        into: dict[int, list[int]] = {}
        for source, targets in self._after.items():
            for each in targets:
                into.setdefault(each, []).append(source)
        return {node for node in _reached(into, target) if node >= 0}

    def flows(self) -> tuple[Flow, ...]:
        """Which intent's data reaches which other one through pipes, in the order of the intents."""
        found: list[Flow] = []
        steps = 0
        for source in sorted(node for node in self._after if node >= 0):
            reached = _reached(self._after, source)
            steps += len(reached) + 1
            targets = sorted(node for node in reached if node >= 0 and node != source)
            if len(found) + len(targets) > _MOST_FLOWS or steps > _MOST_STEPS:
                self.is_cut = True
                return tuple(found)
            found += [Flow(source, target) for target in targets]
        return tuple(found)


def _reached(after: dict[int, list[int]], start: int) -> set[int]:
    """The places that data reaches from one, not going on at intents: those pass nothing on by themselves."""
    seen: set[int] = set()
    left = list(after.get(start, ()))
    while left:
        node = left.pop()
        if node not in seen:
            seen.add(node)
            if node < 0:
                left += after.get(node, ())
    return seen
