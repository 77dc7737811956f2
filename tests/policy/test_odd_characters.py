"""No character in a call makes the policies say less of it, whichever agent makes the call."""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from bench.policy import files_everywhere, tables_of
from tallystick.agents.hooks import NAMES, hook_adapter, hooks_of
from tallystick.errors import PolicyError
from tallystick.guard.decide import Decider
from tallystick.guard.fallback_decision import undecided
from tallystick.guard.policy_quality import Case, Machine, read_cases
from tallystick.model.decision import Effect
from tallystick.model.step import Json
from tests.support.calls_of_agents import ASKING
from tests.support.odd_characters import ODD, PLACES, PLAIN, Variant, variants

ATTACKS = ("attacks", "held-out", "held-out 2", "held-out 3", "held-out 4")
MOST = int(os.environ.get("TALLY_ODD_VARIANTS", "1000000"))
_EFFECTS = (Effect.ALLOW, Effect.WARN, Effect.ASK, Effect.DENY)


class Judge:
    """A machine and the policies in force on it, asked through the hooks of the agents."""

    def __init__(self, machine: Machine, decider: Decider, cases: Sequence[Case]) -> None:
        self._machine, self._decider, self._cases = machine, decider, cases
        self.calls: list[Json] = [machine.filled(case.calls[0].args) for case in cases]
        self.before = cache(lambda of, agent: self.strictness(of, self.calls[of], agent))
        self.plainly = cache(self._plainly)

    def strictness(self, of: int, args: Json, agent: str) -> int:
        """How strict the answer is to a case's call with other arguments, as an agent's hook tells of it."""
        case, asking = self._cases[of], ASKING[agent]
        tool = asking.tool if case.calls[0].tool == "Bash" else case.calls[0].tool
        said = asking.made(tool, args, self._machine.filled(case.folder))
        adapter = hook_adapter(agent)
        assert adapter is not None
        call = adapter.parse(json.dumps(said).encode(), asking.event).asks
        assert call is not None
        try:
            return _EFFECTS.index(self._decider.decide(call).effect)
        except PolicyError as error:
            return _EFFECTS.index(undecided(Effect.ASK, error).effect)

    def _plainly(self, of: int, place: int, agent: str) -> int:
        """How strict it is at least with a plain character in a place."""
        put = (PLACES[place].put(self.calls[of], plain) for plain in PLAIN)
        return min(self.strictness(of, args, agent) for args in put)

    def hides(self, variant: Variant, agent: str) -> str | None:
        """What a variant hides from the policies; None if nothing."""
        if PLACES[variant.place].holds:
            wanted = self.before(variant.of, agent)
        else:
            wanted = self.plainly(variant.of, variant.place, agent)
        found = self.strictness(variant.of, variant.args, agent)
        if found >= wanted:
            return None
        told = f"{variant.character}, {PLACES[variant.place].name}: {_EFFECTS[found]} instead of {_EFFECTS[wanted]}"
        return f"{self._cases[variant.of].id} of {agent}: {told}: {variant.args!a:.300}"


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    tables = (case for corpus in ATTACKS for case in read_cases(tables_of(corpus)))
    cases = [case for case in tables if len(case.calls) == 1 and not case.files and not case.links]
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        machine = Machine(Path(folder, "machine").resolve())
        machine.lay_out(files_everywhere())
        yield Judge(machine, machine.decider(), cases)


def _hidden(judge: Judge, most: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    agents = list(ASKING)
    found = (judge.hides(variant, rng.choice(agents)) for variant in variants(judge.calls, most, rng))
    return [each for each in found if each is not None]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_drawn_character_hides_what_a_call_does(judge: Judge, seed: int) -> None:
    """The same ones in each run: others are drawn in `make soak`, which says of which seed."""
    assert _hidden(judge, 20, seed) == []


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_no_character_in_any_place_hides_what_any_attack_does(judge: Judge) -> None:
    seed = int(os.environ.get("TALLY_ODD_SEED", random.SystemRandom().randrange(1 << 30)))
    sys.stderr.write(f"drawn with TALLY_ODD_SEED={seed}\n")
    assert _hidden(judge, MOST, seed) == []


@pytest.mark.parametrize("agent", sorted(ASKING))
def test_half_a_surrogate_pair_in_a_comment_hides_nothing_from_any_agent(judge: Judge, agent: str) -> None:
    for command in ("cat ~/.ssh/id_rsa", "mkfs -t xfs /dev/vdb"):
        of = next(n for n, case in enumerate(judge.calls) if isinstance(case, dict) and "command" in case)
        for odd in ("\ud800", "\0", "\ue000"):
            for args in (f"{command} # {odd}", f": '{odd}'; {command}"):
                assert judge.strictness(of, {"command": args}, agent) == _EFFECTS.index(Effect.DENY)


def test_the_agents_are_all_whose_hooks_ask() -> None:
    assert {agent.replace("-", "_") for agent in ASKING} == set(NAMES)
    assert {agent: asking.event for agent, asking in ASKING.items()} == {a: hooks_of(a).before_call for a in ASKING}


def test_the_characters_are_forty_and_more() -> None:
    assert len(ODD) >= 40
    assert len(set(ODD.values())) == len(ODD)
