"""No character in a call makes the policies say less of it, whichever agent makes the call."""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import msgspec
import pytest

from tallystick.agents.hooks import NAMES, hooks_of
from tallystick.capture import tracking
from tallystick.guard.policy_quality import HOME_FOLDER
from tallystick.model.decision import Effect
from tallystick.model.step import Json
from tests.support.calls_of_agents import ASKING
from tests.support.cases import each_case
from tests.support.judge import EFFECTS, Judge, attacks_judged
from tests.support.odd_characters import ODD, PLACES, variants

MOST = int(os.environ.get("TALLY_ODD_VARIANTS", "1000000"))
SEED = int(os.environ.get("TALLY_ODD_SEED", random.SystemRandom().randrange(1 << 30)))
FIGURES = os.environ.get("TALLY_ODD_FIGURES")
"""A file that always has the figures of a run so far, as docs/odd_characters.json has them."""
_TOLD_EVERY = 5_000


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with attacks_judged() as found:
        yield found


class Sweep:
    """Variants of one seed, judged one after the other, and what they hid."""

    def __init__(self, judge: Judge, seed: int) -> None:
        self._judge, self.seed = judge, seed
        self.judged = 0
        self.hidden: list[str] = []

    def run(self, most: int) -> Iterator[None]:
        """Judge up to so many. It goes on after each."""
        agents = sorted(ASKING)
        for variant in variants(self._judge.calls, most, self.seed):
            # the same agent for all variants of a call: what was answered to the call itself is asked for once
            agent = agents[(variant.of + self.seed) % len(agents)]
            found = self._judge.hides(variant, agent)
            self.judged += 1
            if found is not None:
                self.hidden.append(found)
            yield

    def figures(self) -> dict[str, int]:
        """What docs/odd_characters.json keeps."""
        kinds = {"calls": len(self._judge.calls), "characters": len(ODD), "places": len(PLACES), "agents": len(ASKING)}
        return {"judged": self.judged, "hidden": len(self.hidden), "seed": self.seed, **kinds}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_drawn_character_hides_what_a_call_does(judge: Judge, seed: int) -> None:
    """The same ones in each run: others are drawn in `make soak`, which says of which seed."""
    sweep = Sweep(judge, seed)
    for _ in sweep.run(20):
        pass
    assert sweep.judged == 20
    assert sweep.hidden == []


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_no_character_in_any_place_hides_what_any_attack_does(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os.path, "realpath", lru_cache(maxsize=200_000)(os.path.realpath))  # nothing on it changes
    monkeypatch.setattr(tracking, "_is_top", lru_cache(maxsize=20_000)(tracking._is_top))
    gc.freeze()
    sweep = Sweep(judge, SEED)
    for _ in sweep.run(MOST):
        if sweep.judged % _TOLD_EVERY == 0:
            with capfd.disabled():
                _tell(sweep)
    assert sweep.hidden == []


def _tell(sweep: Sweep) -> None:
    lines = [f"TALLY_ODD_SEED={sweep.seed}: {sweep.judged:,} judged, {len(sweep.hidden)} hidden", *sweep.hidden[-5:]]
    sys.stderr.write("\n  ".join(lines) + "\n")
    if FIGURES is not None:
        Path(FIGURES).write_bytes(msgspec.json.format(msgspec.json.encode(sweep.figures()), indent=2) + b"\n")


@each_case("effect, tool, args")
def test_what_hid_something_once_hides_it_no_more(judge: Judge, effect: str, tool: str, args: Json) -> None:
    """With one of these in the place of `@`, as with a letter there."""
    for odd in "x\f\r\0\x01\xad\u2029\ue000":
        given = _filled(args, odd)
        assert judge.answer(tool, given, "claude-code", f"{HOME_FOLDER}/project") >= EFFECTS.index(Effect(effect)), odd


def test_a_secret_that_is_sent_is_one_with_a_character_in_it_that_nobody_sees(judge: Judge) -> None:
    for odd in "\x01\x10\f\xad\u200b":
        said: Json = {"channel": "#random", "text": f"API_KEY=k{odd}13J9sQ2vXwLm0pZr7TbY4cN8"}
        found = judge.answer("mcp__slack__post_message", said, "claude-code", f"{HOME_FOLDER}/project")
        assert found >= EFFECTS.index(Effect.ASK), ascii(odd)


def _filled(value: Json, odd: str) -> Json:
    if isinstance(value, str):
        return value.replace("@", odd)
    if isinstance(value, list):
        return [_filled(item, odd) for item in value]
    assert isinstance(value, dict)
    return {name: _filled(item, odd) for name, item in value.items()}


@pytest.mark.parametrize("agent", sorted(ASKING))
def test_half_a_surrogate_pair_in_a_comment_hides_nothing_from_any_agent(judge: Judge, agent: str) -> None:
    for command in ("cat ~/.ssh/id_rsa", "mkfs -t xfs /dev/vdb"):
        of = next(n for n, case in enumerate(judge.calls) if isinstance(case, dict) and "command" in case)
        for odd in ("\ud800", "\0", "\ue000"):
            for args in (f"{command} # {odd}", f": '{odd}'; {command}"):
                assert judge.strictness(of, {"command": args}, agent) == EFFECTS.index(Effect.DENY)


def test_the_agents_are_all_whose_hooks_ask() -> None:
    assert {agent.replace("-", "_") for agent in ASKING} == set(NAMES)
    assert {agent: asking.event for agent, asking in ASKING.items()} == {a: hooks_of(a).before_call for a in ASKING}


def test_the_characters_are_forty_and_more() -> None:
    assert len(ODD) >= 40
    assert len(set(ODD.values())) == len(ODD)
