"""How events fared."""

from __future__ import annotations

from tallystick.ingest.import_ import StepCount
from tallystick.recording.event_dedup import Outcome
from tests.support.cases import each


@each("outcome", sorted(Outcome))
def test_each_outcome_has_its_count(outcome: Outcome) -> None:
    counts = StepCount()
    counts.count(outcome)
    counts.count(outcome)
    said = {name: getattr(counts, name) for name in counts.__struct_fields__}
    assert said == {name: 2 * (name == outcome.value) for name in said}
