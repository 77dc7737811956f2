"""All policies, asked through the hooks of the agents what they say of calls that differ in one thing.

Owns how strict an answer is, and when a variant hides something. Must not know which variants there are.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from bench.policy import files_everywhere, tables_of
from tallystick.agents.hooks import hook_adapter
from tallystick.errors import PolicyError
from tallystick.guard.decide import Decider
from tallystick.guard.fallback_decision import undecided
from tallystick.guard.policy_quality import Case, Machine, read_cases
from tallystick.model.decision import Effect
from tallystick.model.step import Json
from tests.support.calls_of_agents import ASKING
from tests.support.odd_characters import PLACES, PLAIN, Variant, as_plain

EFFECTS = (Effect.ALLOW, Effect.WARN, Effect.ASK, Effect.DENY)
"""From the mildest to the strictest."""

ATTACKS = ("attacks", "held-out", "held-out 2", "held-out 3", "held-out 4")


@contextlib.contextmanager
def attacks_judged() -> Iterator[Judge]:
    """A judge of all attacks of one call."""
    tables = (case for corpus in ATTACKS for case in read_cases(tables_of(corpus)))
    cases = [case for case in tables if len(case.calls) == 1 and not case.files and not case.links]
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        machine = Machine(Path(folder, "machine").resolve())
        machine.lay_out(files_everywhere())
        yield Judge(machine, machine.decider(), cases)


class Judge:
    """A machine and the policies in force on it, asked through the hooks of the agents."""

    def __init__(self, machine: Machine, decider: Decider, cases: Sequence[Case]) -> None:
        self._machine, self._decider, self.cases = machine, decider, cases
        self.calls: list[Json] = [machine.filled(case.calls[0].args) for case in cases]
        self.before = cache(lambda of, agent: self.strictness(of, self.calls[of], agent))
        self._plainly = cache(
            lambda of, place, plain, agent: self.strictness(of, PLACES[place].put(self.calls[of], plain), agent)
        )

    def strictness(self, of: int, args: Json, agent: str) -> int:
        """How strict the answer is to a case's call with other arguments, as an agent's hook tells of it."""
        return self.answer(self.cases[of].calls[0].tool, args, agent, self.cases[of].folder)

    def answer(self, tool: str, args: Json, agent: str, folder: str) -> int:
        """How strict the answer to a call is. `Bash` is the tool of each agent that runs commands."""
        asking = ASKING[agent]
        said = asking.made(asking.tool if tool == "Bash" else tool, args, self._machine.filled(folder))
        adapter = hook_adapter(agent)
        assert adapter is not None
        call = adapter.parse(json.dumps(said).encode(), asking.event).asks
        assert call is not None
        try:
            return EFFECTS.index(self._decider.decide(call).effect)
        except PolicyError as error:
            return EFFECTS.index(undecided(Effect.ASK, error).effect)

    def hides(self, variant: Variant, agent: str) -> str | None:
        """What a variant hides from the policies; None if nothing."""
        found = self.strictness(variant.of, variant.args, agent)
        wanted = self._wanted(variant, agent, found)
        if found >= wanted:
            return None
        told = f"{variant.character}, {PLACES[variant.place].name}: {EFFECTS[found]} instead of {EFFECTS[wanted]}"
        return f"{self.cases[variant.of].id} of {agent}: {told}: {variant.args!a:.300}"

    def _wanted(self, variant: Variant, agent: str, found: int) -> int:
        """How strict the answer must be: as it was, or as with a plain character there, which breaks some calls.

        The mildest of those counts: the others are asked for only if `found` is milder than the first.
        """
        if found == len(EFFECTS) - 1:
            return found
        wanted = self.before(variant.of, agent)
        for plain in () if PLACES[variant.place].holds else dict.fromkeys((*PLAIN, *as_plain(variant.character))):
            if found < wanted:
                wanted = min(wanted, self._plainly(variant.of, variant.place, plain, agent))
        return wanted
