"""Amounts for people: money, and counts in a narrow column.

Owns how many digits are shown. Must not know what is counted.
"""

from __future__ import annotations

from collections.abc import Sequence

_UNITS = ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k"))


def dollars(microusd: int) -> str:
    """`$12.30`; of less than a dollar four digits, `$0.0335`; `<$0.0001` of next to nothing."""
    if microusd == 0:
        return "$0"
    if 0 < microusd < 50:
        return "<$0.0001"
    amount = microusd / 1_000_000
    if abs(amount) >= 0.99995:
        return f"${amount:,.2f}"
    return f"${amount:.4f}"


def cost_text(microusd: int | None, unknown: Sequence[str]) -> str:
    """What something cost; `unknown` where no price is known, `$0.0335 + ?` where that is so of a part of it."""
    if microusd is None:
        if unknown:
            return "unknown"
        return ""
    if unknown:
        return f"{dollars(microusd)} + ?"
    return dollars(microusd)


def count_or_blank(count: int) -> str:
    """`1,234`; nothing for none."""
    if not count:
        return ""
    return f"{count:,}"


def short_count(number: int) -> str:
    """`950`, `1.2k`, `12k`, `3.4M`."""
    for size, unit in _UNITS:
        if abs(number) >= size - size // 2000:
            amount = number / size
            if abs(amount) < 9.95:
                return f"{amount:.1f}{unit}"
            return f"{amount:,.0f}{unit}"
    return str(number)
