"""`tally drift`: whether sessions ran under the same configuration, and what differed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from tallystick.cli import completing
from tallystick.cli.command import Command, options_as
from tallystick.cli.context import Run, counted, pass_run, table
from tallystick.display.facts import short
from tallystick.display.text import first_line, one_line

if TYPE_CHECKING:
    from tallystick.capture.surroundings import Surroundings
    from tallystick.recording.run_config.recorded import Under
    from tallystick.review.drift import Drift, Matched
    from tallystick.sessions.configuration import Configuration

ROOT = Path("/")
"""Below it are administrators' settings."""
DIFFERS = 2


class DriftOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared, and how the answer is given."""

    first: str | None
    second: str | None
    inputs: bool
    folder: Path | None
    exit_code: bool
    disclose: str | None
    keys: tuple[str, ...]


@click.command(
    "drift",
    cls=Command,
    example="tally drift a3f9 77de\ntally drift a3f9\ntally drift a3f9:12 a3f9 --exit-code",
)
@click.argument("first", metavar="[SESSION]", required=False, shell_complete=completing.sessions)
@click.argument("second", metavar="[OTHER]", required=False, shell_complete=completing.sessions)
@click.option("--inputs", is_flag=True, help="List the inputs too, by name and size.")
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Compare with the files of this folder instead of the session's own folder.",
)
@click.option("--exit-code", is_flag=True, help="Exit with 2 if anything differs.")
@click.option(
    "--disclose", metavar="SECTION", help="Print the key of a section, for someone who compares it elsewhere."
)
@click.option(
    "--key", "keys", multiple=True, metavar="SECTION=KEY", help="Compare by a key that another store disclosed."
)
@options_as(DriftOptions)
@pass_run
def drift(run: Run, options: DriftOptions) -> None:
    """Show which parts of a configuration differ between two sessions, or since one session.

    SESSION and OTHER are sessions, checkpoints or steps. A session stands for its configuration at its start; a
    checkpoint or step for the configuration at that point. Without OTHER, the last configuration of the session is
    compared with the agent's current files.
    """
    if options.disclose is not None:
        _disclose(run, options.disclose)
        return
    if options.first is None:
        raise click.UsageError("Missing argument 'SESSION'.")
    if options.keys:
        differs = _match(run, options.first, options.keys, options.folder)
    else:
        found = _drift(run, options.first, options.second, options.folder)
        run.answer("drift", found, _drift_text(found, run.width, inputs=options.inputs))
        differs = not found.is_same
    if options.exit_code and differs:
        raise SystemExit(DIFFERS)


def _drift(run: Run, first: str, second: str | None, folder: Path | None) -> Drift:
    from tallystick.review.drift import drift as compare
    from tallystick.review.drift import drift_from_now
    from tallystick.workspace.indexing import open_index

    with open_index(run.home) as index:
        run.take(index.remarks)
        if second is not None:
            return compare(run.home, index, first, second)
        return drift_from_now(run.home, index, first, _where(folder), root=ROOT)


def _where(folder: Path | None) -> Surroundings:
    from tallystick.capture.surroundings import Surroundings

    return Surroundings(
        user=Path.home(), environment=os.environ, project=None if folder is None else Path.cwd() / folder
    )


def _drift_text(found: Drift, width: int, *, inputs: bool) -> Iterator[str]:
    from tallystick.cli.under import fingerprint_text
    from tallystick.sessions.configuration import AGENT, in_words

    second, name, fingerprint = found.now, "now", ""
    if found.second is not None:
        second, name = found.second.configuration, _session_text(found.second)
    if second is not None:
        fingerprint = fingerprint_text(second)
    names = [_session_text(found.first), name]
    prints = [fingerprint_text(found.first.configuration), fingerprint]
    yield from (f"{name}  {digits}" for name, digits in zip(_padded(names), prints, strict=True))
    if found.is_same:
        same = "the same agent; nothing else is recorded"
        if any(section != AGENT for section in found.same):
            same = "the same configuration"
        yield click.style(same, bold=True)
    rows = [(one_line(item.section), first_line(in_words(item), max(width - 16, 40))) for item in found.differences]
    yield from (f"  {click.style(section, bold=True)}  {said}" for section, said in _aligned_pairs(rows))
    unread = [name for item in found.differences for name in item.unreadable]
    if unread:
        yield f"  could not be read: {first_line(', '.join(unread), max(width - 22, 40))}"
    if found.same:
        yield click.style(f"  the same: {', '.join(map(one_line, found.same))}", dim=True)
    if inputs:
        yield from _inputs(found.first.configuration)


def _session_text(under: Under) -> str:
    where = short(under.session)
    if under.n is not None:
        where += f":{under.n}"
    return f"{where}  {one_line(under.agent)}  {one_line((under.at or '')[:16].replace('T', ' '))}"


def _padded(names: list[str]) -> list[str]:
    widest = max(map(len, names))
    return [name.ljust(widest) for name in names]


def _aligned_pairs(rows: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    widest = max((len(name) for name, _ in rows), default=0)
    yield from ((name.ljust(widest), said) for name, said in rows)


def _inputs(configuration: Configuration) -> Iterator[str]:
    """The inputs of the first: what is recorded about them without their values."""
    from tallystick.sessions.configuration import ordered

    rows = [
        (one_line(section), f"{item.size:,}" if item.size is not None else "", _input_text(item.name, item.problem))
        for section in ordered(configuration.inputs)
        for item in configuration.inputs[section]
    ]
    yield ""
    yield from table(rows, head=("SECTION", "BYTES", "INPUT"), right=frozenset((1,)))


def _input_text(name: str, problem: str | None) -> str:
    return first_line(name, 200) + (f"  ({first_line(problem, 100)})" if problem else "")


# Across stores ----------------------------------------------------------------------------------------------------------


def _disclose(run: Run, section: str) -> None:
    from tallystick.errors import UsageError
    from tallystick.review.drift import disclosed_key
    from tallystick.sessions.configuration import SECTIONS

    if section not in SECTIONS:
        raise UsageError(f"no section {section!r}", hint="one of: " + ", ".join(SECTIONS))
    key = disclosed_key(run.home, section)
    run.answer("drift.key", {"section": section, "key": key}, [f"{section}={key}"])
    run.note(
        f"Anyone who has this key can guess the {section} of all sessions in this store and check each guess. The "
        "key opens no other section."
    )


def _match(run: Run, first: str, keys: tuple[str, ...], folder: Path | None) -> bool:
    """Compare this machine's configuration by disclosed keys; return whether anything differs."""
    from tallystick.review.drift import last_configuration, match_now
    from tallystick.workspace.indexing import open_index

    given = dict(_given_key(text) for text in keys)
    with open_index(run.home) as index:
        run.take(index.remarks)
        under = last_configuration(run.home, index, first)
        found = match_now(index, under, given, _where(folder), root=ROOT)
    run.answer("drift.match", {"first": under, "sections": found}, _match_text(under, found))
    return not all(item.is_same for item in found)


def _given_key(text: str) -> tuple[str, bytes]:
    from tallystick.errors import UsageError
    from tallystick.sessions.configuration import IN_FILES

    section, _, digits = text.partition("=")
    try:
        key = bytes.fromhex(digits)
    except ValueError:
        key = b""
    if section not in IN_FILES or len(key) != 32:
        raise UsageError(
            f"{text[:100]!r} is not SECTION=KEY",
            hint=f"`tally drift --disclose SECTION` prints one there; sections: {', '.join(IN_FILES)}",
        )
    return section, key


def _match_text(under: Under, found: tuple[Matched, ...]) -> Iterator[str]:
    yield f"{_session_text(under)}, and this machine's configuration ({counted(len(found), 'section')})"
    yield from (
        f"  {name}  {said}"
        for name, said in _aligned_pairs(
            [(one_line(item.section), "the same" if item.is_same else "differs") for item in found]
        )
    )
