"""Output for the pages: the real command on the shipped samples, the same every time.

Used by cog blocks (`make docs`). The store lies in a throw-away folder; its clock and its seeds count up, so that ids and
times come out alike on every machine. Everything else is what a user sees.
"""

from __future__ import annotations

import atexit
import itertools
import os
import re
import shlex
import shutil
import tempfile
from functools import cache
from pathlib import Path

from click.testing import CliRunner

from tallystick.capture.installation import Installation, Kind
from tallystick.journal.archive import Archive
from tallystick.setup import install

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "src" / "tallystick" / "samples" / "home"


@cache
def home() -> Path:
    """A home folder with the sample histories, as the agents left them."""
    folder = Path(tempfile.mkdtemp(prefix="tallystick-docs-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for path in sorted(SAMPLES.rglob("*")):
        if path.is_file():
            target = folder / re.sub(r"(^|/)dot-", r"\1.", path.relative_to(SAMPLES).as_posix())
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return folder


install.installation_of = lambda _: Installation(kind=Kind.UV_TOOL, folder=Path("/opt/tallystick"))
"""The pages are made from a checkout; their readers have installed the program."""

_DEFAULTS = (Archive.__init__.__kwdefaults__, Archive.make.__func__.__kwdefaults__)  # type: ignore[attr-defined]
_OWN = tuple(dict(defaults) for defaults in _DEFAULTS)


@cache
def count_up() -> None:
    """Give every archive of this process the same clock and seeds."""
    ticks, seeds = itertools.count(), itertools.count(1)

    def clock() -> str:
        tick = next(ticks)
        return f"2026-11-22T09:{tick // 60_000 % 60:02}:{tick // 1000 % 60:02}.{tick % 1000:03}000Z"

    def seed() -> bytes:
        # Spread, so that short ids differ in their first digits.
        return (next(seeds) * 0x9E3779B97F4A7C15F39CC0605CEDC8341082276BF3A27251F86C6A11D0C18E95 % 2**256).to_bytes(
            32, "big"
        )

    for defaults in _DEFAULTS:
        defaults.update(clock=clock, seeds=seed)


def count_no_more() -> None:
    """Give every archive the machine's clock again: for a page whose figures depend on when things were."""
    count_up.cache_clear()
    for defaults, own in zip(_DEFAULTS, _OWN, strict=True):
        defaults.update(own)


def anew() -> None:
    """Begin a page: a home folder, a clock and seeds of its own, whatever other pages of the same run have done."""
    for kept in (home, count_up, imported):
        kept.cache_clear()


@cache
def imported() -> None:
    """Import the samples once, before the first command that is shown."""
    run("import")


def run(command: str, given: str | None = None) -> str:
    """What `tally COMMAND` prints, with `given` on its stdin."""
    from tallystick.cli import main

    count_up()
    environment = {
        "HOME": str(home()),
        "TALLY_HOME": None,
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "TZ": "UTC",
    }
    words = shlex.split(command.replace("~/", f"{home()}/"))
    result = CliRunner(env=environment).invoke(main, words, prog_name="tally", input=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output.replace(str(home()), "/home/dev")


def show(*commands: str, lines: int | None = None, fresh: bool = False, given: str | None = None) -> None:
    """Print commands and what they say as a code block, for cog.

    Args:
        lines: how many lines of each output to show at most. fresh: do not import the samples first.
        given: what stands on their stdin.
    """
    if not fresh:
        imported()
    say("```")
    for command in commands:
        output = run(command, given).rstrip("\n").split("\n")
        if lines is not None and len(output) > lines:
            output = [*output[:lines], f"… {len(output) - lines} more lines"]
        say(f"$ tally {command}")
        say("\n".join(line.rstrip() for line in output))
    say("```")


def say(text: str) -> None:
    """Write a line into the page."""
    try:
        import cog
    except ImportError:  # run by hand
        print(text)
    else:
        cog.outl(text)


if __name__ == "__main__":
    os.environ.setdefault("TZ", "UTC")
    show("session list", "verify")
