"""What is found about where a call's words and data come from.

Owns the list of findings and their form: at most four of a kind, each followed by the steps of its way, with paths as
the user knows them. Must not know how one is found (`injected_instructions`, `tainted`), nor what comes of it:
shipped/flows.cedar says that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.risk import Risk
from tallystick.policy.taint import injected_instructions, tainted
from tallystick.policy.taint.tainted import BEFORE, Record, Sources
from tallystick.policy.taint.untrusted_input import Hearing

RISKS: dict[str, str] = {**injected_instructions.RISKS, **tainted.RISKS}
"""Every finding and what it means."""

_GOES_ON = "< "
_MOST_OF_A_KIND = 4
_LONGEST = 200


def findings(reading: CallReading, record: Record, heard: Hearing | None) -> Iterator[Risk]:
    """What is found about a call, of RISKS, the surest evidence first."""
    hearing = heard
    if hearing is None:
        hearing = Hearing()
    sources = Sources(reading, record, hearing)
    found: dict[Risk, None] = {}
    if hearing.texts:
        found |= dict.fromkeys(injected_instructions.followed(reading, hearing, sources))
        found |= dict.fromkeys(injected_instructions.relayed(reading, hearing))
    found |= dict.fromkeys(tainted.run_from_outside(reading, sources))
    found |= dict.fromkeys(tainted.carried(reading, sources))
    if reading.snippets:
        found |= dict.fromkeys(tainted.carried_in_code(reading, sources))
    if hearing.sensitive:
        found |= dict.fromkeys(tainted.rewritten(reading, hearing))
    counts: dict[str, int] = {}
    here = "\0"
    if reading.workspace:
        here = f"{reading.workspace}/"
    for risk in found:
        counts[risk.name] = counts.get(risk.name, 0) + 1
        if counts[risk.name] <= _MOST_OF_A_KIND:
            head, *way = risk.target.replace(here, "").split(BEFORE)
            yield Risk(risk.name, head[:_LONGEST])
            yield from (Risk(risk.name, f"{_GOES_ON}{step}"[:_LONGEST]) for step in way)


def ways(targets: Iterable[str]) -> list[str]:
    """Findings with their ways in one text each, from the targets of risks in their order."""
    found: list[str] = []
    for target in targets:
        if target.startswith(_GOES_ON) and found:
            found[-1] += f"{BEFORE}{target.removeprefix(_GOES_ON)}"
        else:
            found.append(target)
    return found
