"""`tally init`, `status` and `version`: creating a store, and its state."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, labelled, pass_run, path_text
from tallystick.cli.version import FORMAT, VERSION
from tallystick.display.text import one_line

if TYPE_CHECKING:
    from tallystick.setup.status import LiveSession, Status

_MOST_LIVE = 20


@click.command(cls=Command, example="tally version")
@pass_run
def version(run: Run) -> None:
    """Show the versions of the program and of the record format."""
    python = ".".join(map(str, sys.version_info[:3]))
    data = {"version": VERSION, "format": FORMAT, "python": python}
    run.answer("version", data, [f"tallystick {VERSION}, record format {FORMAT}, Python {python}"])


@click.command(cls=Command, example="tally init")
@pass_run
def init(run: Run) -> None:
    """Create a store. The store gets a key of its own; an existing store is not changed."""
    from tallystick.recording.store import init_store
    from tallystick.recording.store_identity import read_store

    made = init_store(run.home)
    store = read_store(run.home)
    data = {"folder": str(run.home.folder), "made": made, "store": store.store_id, "key": store.key}
    run.answer("init", data, _init_text(run, made, store.key))


def _init_text(run: Run, made: bool, key: str | None) -> Iterator[str]:
    from tallystick.trust.sudo_command import as_root

    where = path_text(run.home.folder)
    signer = one_line(as_root("signer init", run.home))
    if made:
        yield f"made a store at {where}"
    else:
        yield f"a store exists at {where}; it is left as it is"
    yield from labelled(
        [
            ("key", one_line(key or "")),
            ("level", "A2: signed heads over a ledger of all sessions"),
            ("", "protects against accidents and other people, not against an agent that runs as you"),
            ("", f"against that: `{signer}`, a key that the agent cannot reach"),
            ("next", "`tally import` imports the histories that agents keep on this machine"),
        ],
        indent="  ",
    )


@click.command(cls=Command, example="tally status")
@pass_run
def status(run: Run) -> None:
    """Show what the store holds and what is pending. Checks nothing: `tally verify` does."""
    from tallystick.setup.status import store_status

    found = store_status(run.home)
    run.answer("status", found, labelled(_facts(found), width=run.width))


def _facts(found: Status) -> Iterator[tuple[str, str]]:
    sizes = found.sizes
    yield "store", path_text(found.folder)
    yield "made", one_line((found.made or "")[:19].replace("T", " ")) + " UTC"
    yield "key", one_line(found.store.key or "the ledger has none")
    yield "head", _head(found)
    yield "signer", path_text(Path(found.guard.signer)) if found.guard.signer is not None else "none (A2)"
    yield "epochs", one_line(found.guard.epochs or "")
    yield "anchors", ", ".join(map(one_line, found.guard.anchors)) or "none"
    yield from (("ALARM", one_line(alarm)) for alarm in found.guard.alarms)
    yield from (("NOTICED", one_line(said)) for said in found.silences)
    yield (
        "evidence",
        f"of {counted(found.guard.evidence, 'alarm')}, below trust/evidence" if found.guard.evidence else "",
    )
    yield "sessions", f"{sum(found.sessions.values()):,}{_by_agent(found.sessions)}"
    yield (
        "steps",
        f"{sum(found.steps.values()):,} in {counted(found.entries, 'entry', 'entries')}, {found.unsealed:,} not sealed",
    )
    yield "by status", _counts(found.by_status)
    yield "checkpoints", _checkpoints(found)
    yield "limits", _limits(found)
    yield "alerts", f"{found.alerts:,}"
    yield "attributions", f"{found.attributions:,}"
    yield (
        "bundles",
        f"{found.bundles['import']:,} imported, including histories; {found.bundles['export']:,} exported",
    )
    yield "erasures", f"{found.erasures:,}"
    yield (
        "on disk",
        (
            f"journals {_bytes(sizes.journals)}, {counted(sizes.blob_files, 'blob')} {_bytes(sizes.blobs)}, "
            f"ledger {_bytes(sizes.ledger)}, index {_bytes(sizes.index)}"
        ),
    )
    if sizes.torn_files:
        yield "torn", f"{counted(sizes.torn_files, 'half-written line')} set aside"
    yield "index", one_line(found.index)
    yield "recorder", _recorder(found)
    for number, session in enumerate(found.live[:_MOST_LIVE]):
        yield "live" if number == 0 else "", _live(session)
    if len(found.live) > _MOST_LIVE:
        yield "", f"{len(found.live) - _MOST_LIVE:,} more; `tally session list --status active` lists all"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{one_line(name)} {number:,}" for name, number in counts.items())


def _checkpoints(found: Status) -> str:
    """`12 (manual 2, step_complete 10), 3 replaced, 1 dropped`."""
    said = found.checkpoints
    gone = [f"{number:,} {word}" for number, word in ((said.replaced, "replaced"), (said.pruned, "dropped")) if number]
    by_trigger = ""
    if said.by_trigger:
        by_trigger = f" ({_counts(said.by_trigger)})"
    return ", ".join([f"{sum(said.by_trigger.values()):,}{by_trigger}", *gone])


def _limits(found: Status) -> str:
    """Whether checkpoints are on, which are automatic, and how many are kept for how long."""
    rules = found.checkpoints.rules
    if rules is None:
        return "config.toml is damaged: `tally config show` says where"
    automatic = (("step_complete", rules.on_step_complete), ("policy", rules.on_policy))
    made = ", ".join(f"auto_on_{name} {'on' if is_on else 'off'}" for name, is_on in automatic)
    most = ""
    if rules.max_per_session:
        most = f"at most {rules.max_per_session:,} a session, then {rules.when_full.value}"
    kept = "kept whatever their age"
    if rules.retention_days:
        kept = f"kept {counted(rules.retention_days, 'day')}"
    enabled = f"checkpoints are {'on' if rules.is_enabled else 'off'}"
    return ", ".join((enabled, made, most or "any number in a session", kept))


_TASKS = (
    ("decider", "judges calls"),
    ("indexer", "keeps the index"),
    ("shadower", "compares sessions with their transcripts"),
)
"""What the processes do that the recorder has started."""


def _recorder(found: Status) -> str:
    said = found.recorder
    if said is None:
        return "not running; the next hook starts it"
    marks, problem = said.get("checkpoints"), said.get("signing_problem")
    refused = 0
    if isinstance(marks, dict):
        refused = int(marks["refused"])
    full = ""
    if refused:
        full = f", {counted(refused, 'checkpoint')} refused: sessions were full"
    unsigned = ""
    if problem:
        unsigned = f"; signs nothing: {one_line(str(problem))}"
    others = "".join(
        f", {int(said[name]['pid'])} {task}"
        for name, task in _TASKS
        if isinstance(said.get(name), dict) and said[name].get("pid")
    )
    deliveries = counted(int(said["deliveries"]), "delivery", "deliveries")
    return f"runs, pid {int(said['pid'])}{others}, {deliveries}{_undecided(said)}{full}{unsigned}"


def _undecided(said: Mapping[str, object]) -> str:
    number = said.get("undecided_last_hour")
    if not isinstance(number, int) or not number:
        return ""
    return f", {counted(number, 'call')} without a decision in the last hour"


def _live(session: LiveSession) -> str:
    """One line for an open session: id, agent, time of its last step, number of steps, and title."""
    about = one_line(session.title or session.cwd or "")
    steps = counted(session.steps, "step")
    return f"{session.session[:8]}  {one_line(session.agent)}  {session.last[11:19]} UTC  {steps}  {about}".rstrip()


def _head(found: Status) -> str:
    if found.signed_size is None:
        return "none: nothing is signed"
    behind = found.ledger_size - found.signed_size
    return f"over {counted(found.signed_size, 'ledger entry', 'ledger entries')}, {behind:,} not signed yet"


def _by_agent(counts: dict[str, int]) -> str:
    if counts:
        return f" ({', '.join(f'{one_line(agent)} {number:,}' for agent, number in counts.items())})"
    return ""


def _bytes(size: int) -> str:
    """A size for people: `812 B`, `1.4 MB`."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"
