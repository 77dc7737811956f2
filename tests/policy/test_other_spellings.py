"""No other way to write a command makes the policies say less of it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.support.calls_of_agents import ASKING
from tests.support.judge import EFFECTS, Judge, attacks_judged
from tests.support.other_spellings import SPELLINGS


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with attacks_judged() as found:
        yield found


def _hidden(judge: Judge, pairs: list[tuple[int, str]]) -> list[str]:
    found = (_hides(judge, of, name) for of, name in pairs)
    return [each for each in found if each is not None]


def _hides(judge: Judge, of: int, name: str) -> str | None:
    """What a way to write it hides of a call; None if nothing."""
    args, agent = judge.calls[of], sorted(ASKING)[of % len(ASKING)]
    assert isinstance(args, dict)
    spelled = SPELLINGS[name](str(args["command"]))
    if spelled is None:
        return None
    given = spelled if isinstance(spelled, dict) else {**args, "command": spelled}
    wanted, answer = judge.before(of, agent), judge.strictness(of, given, agent)
    if answer >= wanted:
        return None
    told = f"{name}: {EFFECTS[answer]} instead of {EFFECTS[wanted]}"
    return f"{judge.cases[of].id} of {agent}: {told}: {args['command']!a:.200}"


def _of_shells(judge: Judge) -> list[int]:
    """The calls that run a command."""
    return [
        of
        for of, (case, args) in enumerate(zip(judge.cases, judge.calls, strict=True))
        if case.calls[0].tool == "Bash" and isinstance(args, dict) and isinstance(args.get("command"), str)
    ]


def test_no_drawn_way_to_write_a_command_hides_what_it_does(judge: Judge) -> None:
    """Each way once; the same ones in each run. All are tried in `make soak`."""
    rng, shells = random.Random(1), _of_shells(judge)
    assert _hidden(judge, [(of, name) for name in SPELLINGS for of in rng.sample(shells, 1)]) == []


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_no_way_to_write_a_command_hides_what_it_does(judge: Judge) -> None:
    assert _hidden(judge, [(of, name) for of in _of_shells(judge) for name in SPELLINGS]) == []
