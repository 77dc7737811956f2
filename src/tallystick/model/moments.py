"""Times as the format writes them: UTC, `YYYY-MM-DDTHH:MM:SS.ffffffZ` (docs/format.md 6.3).

Owns reading the spellings that sources use. Must not read a clock: the local zone arrives as an argument.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo

from tallystick.model.pattern import pattern_of
from tallystick.model.step import Json

_COMMON = pattern_of(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?\Z", re.ASCII)
_WRITTEN = pattern_of(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\Z", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def write_time(moment: datetime) -> str:
    """The text of an aware `moment`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def normal_time(text: str, zone: tzinfo) -> tuple[str, bool] | None:
    """The time that `text` says, and whether its zone had to be assumed to be `zone`; None if it says no time.

    Digits finer than a microsecond are cut. The year 1 (what Go writes for "no time") says no time.
    """
    match = _COMMON.match(text)
    if match is None:
        return None
    day, clock, fraction, offset = match.groups()
    micros = ((fraction or "") + "000000")[:6]
    if offset == "Z" and day[:2] in ("19", "20") and _is_real(day, clock):
        return f"{day}T{clock}.{micros}Z", False
    try:
        naive = datetime.fromisoformat(f"{day}T{clock}.{micros}")
        if naive.year < 1970:
            return None
        if offset is None:
            return write_time(naive.replace(tzinfo=zone)), True
        return write_time(datetime.fromisoformat(f"{day}T{clock}.{micros}{offset}")), False
    except (ValueError, OverflowError):
        return None


def _is_real(day: str, clock: str) -> bool:
    """Whether a date and a clock time exist, cheaply for the ordinary ones."""
    if day[5:7] <= "12" and "01" <= day[8:] <= "28" and clock <= "23:59:59" and day[5:7] != "00":
        return clock[3:5] < "60" and clock[6:] < "60"
    try:
        datetime.fromisoformat(f"{day}T{clock}")
    except ValueError:
        return False
    return True


def epoch_time(seconds: float) -> str | None:
    """The time at `seconds` since 1970, as sources that keep numbers say it; None outside the years 1970 to 9999."""
    try:
        moment = _EPOCH + timedelta(microseconds=round(seconds * 1_000_000))
    except (OverflowError, ValueError):
        return None
    if moment.year >= 1970:
        return write_time(moment)
    return None


def is_time(text: Json) -> bool:
    """Whether `text` is a time as section 6.3 writes it: UTC, six digits."""
    return isinstance(text, str) and _WRITTEN.match(text) is not None


def microseconds(text: Json) -> int | None:
    """Microseconds since 1970 of a time as the record writes it; None for anything else."""
    if not isinstance(text, str) or not is_time(text):
        return None
    try:
        return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND
    except ValueError:  # the 31st of February
        return None
