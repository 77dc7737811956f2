"""What the policies say of every case of the corpora is what the pages on their quality show."""

from __future__ import annotations

import random
import re
from pathlib import Path

import msgspec
import pytest

from bench.policy import HELD_OUT, Figures, files_everywhere, measured, tables_of
from tallystick.guard.policy_quality import corpus_digest, judge, read_cases, summed
from tallystick.model.decision import Effect

CORPUS = Path(__file__).parent / "corpus"
KEPT = Path(__file__).parents[2] / "docs" / "judged.json"
PARTS = 16
CORPORA = ["attacks", "benign", *HELD_OUT]


def kept() -> Figures:
    return msgspec.json.decode(KEPT.read_bytes(), type=Figures)


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_cases_are_those_that_were_judged(corpus: str) -> None:
    tables = [*tables_of(corpus), CORPUS / "machine.toml"]
    assert corpus_digest(tables) == kept().corpora[corpus], "cases were changed: run make docs"


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_part_of_the_cases_is_judged_as_the_pages_say(corpus: str) -> None:
    """Another part in each run: that of the seed, which a run prints."""
    part = random.randrange(PARTS)
    cases = read_cases(tables_of(corpus))[part::PARTS]
    found = [one for one in judge(cases, files_everywhere()) if not one.is_met]
    ids = {case.id for case in cases}
    assert found == [one for one in kept().unmet[corpus] if re.sub(r" \[\d+\]$", "", one.id) in ids]


@pytest.mark.soak
@pytest.mark.parametrize("corpus", CORPORA)
def test_each_case_is_judged_as_the_pages_say(corpus: str) -> None:
    figures, found = kept(), measured([corpus])
    assert found.unmet[corpus] == figures.unmet[corpus]
    assert found.classes[corpus] == figures.classes[corpus]
    assert found.calls.items() <= figures.calls.items()


def test_no_work_is_denied_and_hardly_any_is_asked_about() -> None:
    figures = kept()
    unmet = [one.effect for one in figures.unmet["benign"]]
    assert Effect.DENY not in unmet
    assert len(unmet) <= summed(figures.classes["benign"].values()).total * 0.01
