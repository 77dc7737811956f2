"""What the policies say of every case of the corpora is what the pages on their quality show."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from bench.policy import HELD_OUT, Figures, measured
from tallystick.guard.policy_quality import summed
from tallystick.model.decision import Effect

KEPT = Path(__file__).parents[2] / "docs" / "judged.json"


@pytest.mark.parametrize("corpus", ["attacks", "benign", *HELD_OUT])
def test_each_case_is_judged_as_the_pages_say(corpus: str) -> None:
    kept, found = msgspec.json.decode(KEPT.read_bytes(), type=Figures), measured([corpus])
    assert found.corpora[corpus] == kept.corpora[corpus], f"{corpus} has other cases: run make docs"
    assert found.unmet[corpus] == kept.unmet[corpus]
    assert found.classes[corpus] == kept.classes[corpus]
    assert found.calls.items() <= kept.calls.items()


def test_no_work_is_denied_and_hardly_any_is_asked_about() -> None:
    kept = msgspec.json.decode(KEPT.read_bytes(), type=Figures)
    unmet = [one.effect for one in kept.unmet["benign"]]
    assert Effect.DENY not in unmet
    assert len(unmet) <= summed(kept.classes["benign"].values()).total * 0.01
