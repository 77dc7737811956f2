"""What gptme notes about a reply: model, tokens, cost and times, as members of `meta`.

Owns the units. Must not know messages or steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tallystick.agents.kit.reading import dict_of, int_of
from tallystick.model.step import Json

_TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_creation_tokens",
    "reasoning": "reasoning_tokens",
}


def usage_members(metadata: Mapping[str, Json]) -> dict[str, Json]:
    """Members of a `model_call`; None where the reply does not say. `cost` (USD) and `timings` (ms) as they are too."""
    usage, timings = dict_of(metadata.get("usage")), dict_of(metadata.get("timings"))
    counts = {name: int_of(usage.get(member)) for name, member in _TOKENS.items()}
    return {
        **{key: metadata.get(key) for key in ("model", "served_model", "resolved_model", "cost")},
        "tokens": {name: count for name, count in counts.items() if count is not None} or None,
        "cost_microusd": _whole(metadata.get("cost"), 1_000_000),
        "duration_ms": _whole(_sum(timings.get("ttft_ms"), timings.get("gen_ms")), 1),
        "timings": timings or None,
    }


def tool_durations(metadata: Mapping[str, Json], called: Sequence[str]) -> dict[str, int]:
    """Milliseconds of each tool that the message called once: gptme adds up the calls of one tool."""
    by_name = dict_of(dict_of(metadata.get("timings")).get("tool_ms_by_name"))
    found = {name: _whole(by_name.get(name), 1) for name in called if called.count(name) == 1}
    return {name: duration for name, duration in found.items() if duration is not None}


def _sum(*numbers: Json) -> float | None:
    known = [number for number in numbers if isinstance(number, int | float) and not isinstance(number, bool)]
    if known:
        return sum(known)
    return None


def _whole(number: Json, scale: int) -> int | None:
    """A number of the source in a smaller unit, rounded; None for anything else and for what is not a sensible number."""
    if not isinstance(number, int | float) or isinstance(number, bool) or not 0 <= number < 1e12:
        return None
    return round(number * scale)
