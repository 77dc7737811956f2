"""Options that several commands share: the filters of `log` and `replay`, the limits of walks; and the notation of times.

Owns the options. The meaning of filters for a step is in workspace.filters, that of limits in lineage.walk.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.core import ParameterSource

from tallystick.cli.command import options_as
from tallystick.model.moments import normal_time, write_time

if TYPE_CHECKING:
    from tallystick.lineage.walk import Limits

_AGO = re.compile(r"(\d{1,6})\s*(s|min|m|h|d|w)\Z", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAY = re.compile(r"\d{4}-\d\d-\d\d\Z", re.ASCII)
_MINUTE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d\Z", re.ASCII)


def read_moment(text: str, now: datetime) -> str:
    """A time in the record's notation, from a date, a time, or an age: `2026-11-21`, `2026-11-21T10:30`, `3h`, `today`.

    A time without a zone is UTC, like all times that are shown.

    Raises:
        ValueError: the text is not a time.
    """
    word = text.strip()
    if word in ("today", "yesterday"):
        day = now.astimezone(UTC) - timedelta(days=word == "yesterday")
        return write_time(day.replace(hour=0, minute=0, second=0, microsecond=0))
    ago = read_ago(word, now)
    if ago is not None:
        return ago
    if _DAY.match(word):
        full = f"{word}T00:00:00"
    elif _MINUTE.match(word):
        full = f"{word}:00"
    else:
        full = word
    found = normal_time(full, UTC)
    if found is None:
        raise ValueError(f"{text!r} is not a time; use 2026-11-21, 2026-11-21T10:30, 90min, 3h, 2d, today or yesterday")
    return found[0]


def read_ago(text: str, now: datetime) -> str | None:
    """The time this long ago, in the record's notation: `90min`, `3h`, `2d`; None if the text is not an age.

    Raises:
        ValueError: the time is not a time: before the year 1.
    """
    ago = _AGO.match(text)
    if ago is None:
        return None
    try:
        return write_time(now - timedelta(**{_UNITS[ago[2]]: int(ago[1])}))
    except OverflowError as error:
        raise ValueError(f"{text!r} is not a time: before the year 1") from error


def read_seconds(text: str) -> int | None:
    """A duration in seconds: `90min`, `24h`, `7d`; None if the text is not a duration."""
    found = _AGO.match(text)
    if found is None:
        return None
    return int(timedelta(**{_UNITS[found[2]]: int(found[1])}).total_seconds())


def _moment(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A time from the command line, in the record's notation."""
    if value is None:
        return None
    try:
        return read_moment(value, datetime.now(UTC))
    except ValueError as error:
        raise click.BadParameter(str(error), context, parameter) from error


def _end_moment(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A time up to which something is wanted: a day is in it as a whole."""
    found = _moment(context, parameter, value)
    if found is None or value is None or not (_DAY.match(value.strip()) or value.strip() in ("today", "yesterday")):
        return found
    try:
        return write_time(datetime.fromisoformat(found) + timedelta(days=1))
    except OverflowError:
        return found


def until_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--until`, which includes the day that it names."""
    return click.option("--until", metavar="TIME", callback=_end_moment, help=text)


def project_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--project`, for sessions by the folder in which they work."""
    return click.option(
        "--project",
        "projects",
        multiple=True,
        metavar="P",
        help="Sessions in this project: the name of its folder, or a path. May be repeated.",
    )(command)


def local_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--local`, for times in the time zone of this machine."""
    return click.option("--local", is_flag=True, help="Show times in the local time zone instead of UTC.")(command)


def zone_of(*, local: bool) -> tzinfo | None:
    """The zone in which times are shown; None: UTC."""
    if not local:
        return None
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(os.environ.get("TZ", "").lstrip(":") or _zone_file())
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return datetime.now().astimezone().tzinfo


def _zone_file() -> str:
    """The name of the machine's time zone: what its link points to."""
    return os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]


def time_option(name: str, text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An option that takes a time."""
    return click.option(name, metavar="TIME", callback=_moment, help=text)


def step_filters(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the filters to a command, which takes them by the names of `workspace.filters.StepFilter`."""
    options = (
        click.option(
            "--type",
            "types",
            multiple=True,
            metavar="T",
            help="Steps of this type. This and the next two may be repeated.",
        ),
        click.option("--agent", "agents", multiple=True, metavar="A", help="Steps of this agent."),
        click.option("--tool", "tools", multiple=True, metavar="T", help="Calls and results of this tool."),
        time_option("--since", "From this time on: 2026-11-21, 2026-11-21T10:30, 3h, today (UTC)."),
        until_option("Up to this time; a day that is named is included."),
        click.option("--failed", is_flag=True, help="Only what failed or was refused."),
        click.option("--request", type=click.IntRange(min=0), metavar="N", help="Only steps of prompt N."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def limit_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--limit`, with the setting output.limit as its default."""
    return click.option(
        "--limit",
        type=click.IntRange(min=1),
        metavar="N",
        help=f"At most this many {what}.  [default: the setting output.limit, 50]",
    )


# Walks -----------------------------------------------------------------------------------------------------------------


_LEAST = 0.4
"""What an earlier prompt had read counts 0.3: it is nearly always something else that was written from."""


class WalkOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a walk, as they were given."""

    depth: int
    limit: int
    fan_out: int
    least: float | None

    def limits(self, default: float = _LEAST) -> Limits:
        """The limits in the form that operations take; `default` is the least confidence unless one is given."""
        from tallystick.lineage.walk import Limits

        least = self.least
        if least is None:
            least = default
        return Limits(depth=self.depth, nodes=self.limit, edges_a_node=self.fan_out, least_confidence=least)


def walk_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The limits of a walk, as options; the command takes them as `walk`."""
    options = (
        click.option(
            "--depth",
            type=click.IntRange(0, 100),
            metavar="N",
            default=8,
            show_default=True,
            help="How many edges to follow.",
        ),
        click.option(
            "--limit",
            type=click.IntRange(1, 20_000),
            metavar="N",
            default=300,
            show_default=True,
            help="At most this many nodes.",
        ),
        click.option(
            "--fan-out",
            type=click.IntRange(1, 5_000),
            metavar="N",
            default=50,
            show_default=True,
            help="At most this many edges of one node.",
        ),
        click.option(
            "--min-confidence",
            "least",
            type=click.FloatRange(0, 1),
            metavar="X",
            help="Follow no edge with lower confidence. [default: 0.4; of impact 0]",
        ),
    )
    command = options_as(WalkOptions, "walk")(command)
    for option in reversed(options):
        command = option(command)
    return command


def limits_given() -> bool:
    """Whether a limit of a walk stands on the command line: who gives one wants to see the walk."""
    context = click.get_current_context()
    names = WalkOptions.__struct_fields__
    return any(context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in names)
