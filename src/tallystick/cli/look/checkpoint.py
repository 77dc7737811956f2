"""`tally checkpoint`: marks at positions of sessions.

Parses the arguments, calls one operation, renders the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from tallystick.cli import completing
from tallystick.cli.command import Command, Group, options_as
from tallystick.cli.context import Run, counted, labelled, pass_run, table
from tallystick.cli.filters import limit_option
from tallystick.cli.steps import short
from tallystick.display.outcome import tokens_text
from tallystick.display.text import cut, one_line
from tallystick.sessions.checkpoints import Trigger

if TYPE_CHECKING:
    from tallystick.graph.checkpoints import CheckpointEntry
    from tallystick.review.checkpoints import CheckpointDetail, CheckpointDiff, Made
    from tallystick.review.retention import Due
    from tallystick.trust.verify_checkpoints import Checked

BROKEN = 2
_ID_DIGITS = 12
_LISTED = 20
_HEAD = ("ID", "SESSION", "AT", "WHEN (UTC)", "TRIGGER", "GIT", "LABEL")

checkpoint = Group(
    "checkpoint",
    lazy={
        "create": ("tallystick.cli.look.checkpoint:create", "Mark the newest step of a session."),
        "list": (
            "tallystick.cli.look.checkpoint:list_",
            "List checkpoints, newest first; those of a run in journal order.",
        ),
        "show": ("tallystick.cli.look.checkpoint:show", "Show everything about one checkpoint."),
        "diff": ("tallystick.cli.look.checkpoint:diff", "Show what happened between two checkpoints"),
        "verify": ("tallystick.cli.look.checkpoint:verify", "Check that checkpoints match the steps that they mark"),
        "prune": (
            "tallystick.cli.look.checkpoint:prune",
            "Delete the content of old checkpoints; the steps that they mark stay.",
        ),
    },
    help="Create, list and verify checkpoints: labelled marks at positions of sessions.",
)


def _check_enabled(run: Run) -> None:
    from tallystick.recording.checkpoints.write import check_enabled, read_rules

    check_enabled(read_rules(run.home))


# Creating one
# ---------------------------------------------------------------------------------------------------------


def _metadata_pairs(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = [value.partition("=") for value in values]
    if bad := next((key + mark for key, mark, _ in pairs if not key or not mark), None):
        raise click.BadParameter(f"{bad!r} is not NAME=VALUE", context, parameter)
    return {key: value for key, _, value in pairs}


class CreateOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is marked, and what is kept of it."""

    session: str | None
    run_id: str | None
    at: str | None
    keep: bool
    metadata: dict[str, str]


@click.command(
    cls=Command,
    example='tally checkpoint create "before the migration"\n'
    'tally checkpoint create "tests pass" --session a3f9 --at 17 --keep --meta ticket=4711',
)
@click.argument("label")
@click.option(
    "--session",
    metavar="S",
    help="The session.  [default: the active one with the newest step that works in this folder or one above it]",
)
@click.option(
    "--run",
    "run_id",
    metavar="R",
    help="The run that the checkpoint belongs to. Given alone, the newest active session of that run is marked.",
)
@click.option("--at", metavar="STEP", help="Mark this step: N, SESSION:N or a hash.  [default: the newest one]")
@click.option("--keep", is_flag=True, help="Exempt the checkpoint from retention.")
@click.option("--meta", "metadata", multiple=True, metavar="K=V", callback=_metadata_pairs, help="May be repeated.")
@options_as(CreateOptions)
@pass_run
def create(run: Run, label: str, options: CreateOptions) -> None:
    """Mark the newest step of a session.

    The mark is a sealed step of the session. It holds the hash of the step that it marks, the tokens used so far, and
    the state of the git repository in the session's folder.
    """
    from tallystick.review.checkpoints import Wanted, create_checkpoint

    wanted = Wanted(
        label=label,
        session=options.session,
        run=options.run_id,
        at=options.at,
        keep=options.keep,
        metadata=options.metadata,
        folder=str(Path.cwd()),
    )
    made = create_checkpoint(run.home, wanted)
    run.answer("checkpoint", made, _made_text(made))


def _made_text(made: Made) -> Iterator[str]:
    yield f"checkpoint {made.id[:_ID_DIGITS]} marks {short(made.session)}:{made.position}: {one_line(made.label)}"
    yield from labelled((("git", _git(made.git)), ("tokens", one_line(tokens_text(made.tokens)))), indent="  ")
    if made.replaces:
        yield f"  it replaces {counted(len(made.replaces), 'older one')}: the session has reached its limit"


# The list -------------------------------------------------------------------------------------------------------------


class ListOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which checkpoints are listed."""

    session: str | None
    run_id: str | None
    triggers: tuple[str, ...]
    is_all: bool
    limit: int | None


@click.command("list", cls=Command, example="tally checkpoint list --session a3f9 --trigger manual")
@click.option("--session", metavar="S", help="Those of this session, newest first.")
@click.option("--run", "run_id", metavar="R", help="Those of this run, in journal order.")
@click.option(
    "--trigger",
    "triggers",
    multiple=True,
    type=click.Choice([trigger.value for trigger in Trigger]),
    help="What created it. May be repeated.",
)
@click.option("--all", "is_all", is_flag=True, help="Include those that others replaced.")
@limit_option("checkpoints")
@options_as(ListOptions)
@pass_run
def list_(run: Run, options: ListOptions) -> None:
    """List checkpoints, newest first; those of a run in journal order."""
    from tallystick.graph.checkpoints import CheckpointFilter
    from tallystick.review.checkpoints import listed_checkpoints
    from tallystick.workspace.indexing import open_index
    from tallystick.workspace.names import find_session

    _check_enabled(run)
    most = run.limit(options.limit)
    with open_index(run.home) as index:
        run.take(index.remarks)
        wanted = CheckpointFilter(
            session=find_session(index, options.session) if options.session is not None else None,
            run=options.run_id,
            triggers=options.triggers,
            is_replaced=options.is_all,
            limit=most + 1,
        )
        found = listed_checkpoints(index, wanted)
    rows, has_more = found[:most], len(found) > most
    run.answer("checkpoints", {"checkpoints": rows, "has_more": has_more}, _list_text(rows, run.width))
    if has_more:
        run.note(f"Showing {len(rows)}; --limit N shows more")


def _list_text(rows: tuple[CheckpointEntry, ...], width: int) -> Iterator[str]:
    if not rows:
        yield "no checkpoints"
        return
    cells = [_cells(row) for row in rows]
    yield from table(cells, head=_HEAD, right=frozenset((2,)), width=width, gives={4: 10, 6: 16})


def _cells(row: CheckpointEntry) -> tuple[str, ...]:
    return (
        row.hash[:_ID_DIGITS],
        short(row.session),
        str(row.position),
        _when(row),
        one_line(row.trigger),
        _short_git(row.git),
        _label(row),
    )


def _when(row: CheckpointEntry) -> str:
    from tallystick.model.moments import epoch_time

    text = epoch_time(row.at_us / 1_000_000)
    return (text or "")[:16].replace("T", " ")


def _label(row: CheckpointEntry) -> str:
    if row.is_pruned:
        return "(dropped by retention)"
    label = one_line(row.label or "")
    if row.replaced_by is not None:
        return f"{label} (replaced)"
    return label


def _short_git(git: Any) -> str:
    if not isinstance(git, dict):
        return ""
    head = one_line(str(git.get("head", ""))[:8])
    if "dirty" in git:
        return f"{head}+"
    return head


def _git(git: Any) -> str:
    """`main 1a2b3c4d, with changes (5e6f7a8b)`."""
    if not isinstance(git, dict) or not git:
        return ""
    ref = one_line(str(git.get("ref", "detached"))).removeprefix("refs/heads/")
    head = one_line(str(git.get("head", "no commit yet"))[:12])
    changes = ""
    if "dirty" in git:
        changes = f", with changes ({one_line(str(git['dirty'])[:12])})"
    return f"{ref} {head}{changes}{', only partly examined' if git.get('partial') else ''}"


# One of them ----------------------------------------------------------------------------------------------------------


@click.command(cls=Command, example="tally checkpoint show 4cdfe901")
@click.argument("name", metavar="ID", shell_complete=completing.checkpoints)
@pass_run
def show(run: Run, name: str) -> None:
    """Show everything about one checkpoint. 4 digits of its id are enough."""
    from tallystick.review.checkpoints import show_checkpoint
    from tallystick.workspace.indexing import open_index

    _check_enabled(run)
    with open_index(run.home) as index:
        run.take(index.remarks)
        found = show_checkpoint(run.home, index, name)
    run.answer("checkpoint.detail", found, _detail_text(found))


def _detail_text(found: CheckpointDetail) -> Iterator[str]:
    entry = found.entry
    yield click.style(f"{entry.hash[:_ID_DIGITS]}  {_label(entry)}", bold=True)
    yield from labelled(_facts(found), indent="  ")
    for name, said in (("metadata", entry.metadata), ("config sections", found.config_sections), ("more", found.more)):
        if said:
            yield f"  {click.style(name, dim=True)}"
            pairs = [(one_line(str(key)), one_line(str(value))) for key, value in sorted(said.items())]
            yield from labelled(pairs, indent="    ")
    if isinstance(found.hook_registry, list):
        yield f"  {click.style('hooks', dim=True)}"
        yield from (f"    {_hook(hook)}" for hook in found.hook_registry)
        if not found.hook_registry:
            yield "    none"


def _facts(found: CheckpointDetail) -> Iterator[tuple[str, str]]:
    from tallystick.display.outcome import outcome_of

    entry, marked = found.entry, found.marked
    yield "id", one_line(entry.hash)
    yield "trigger", one_line(entry.trigger)
    yield "session", f"{one_line(entry.session)} ({one_line(entry.agent)})"
    yield "run", one_line(entry.run or "")
    yield "marks", f"{short(entry.session)}:{entry.position}" + (f", {one_line(marked.type)}" if marked else "")
    if marked is not None:
        yield "", outcome_of(marked, 100)
    yield "hash there", one_line(entry.position_hash)
    yield (
        "sealed as",
        f"{short(entry.session)}:{entry.n}, {one_line((found.recorded or '')[:19].replace('T', ' '))} UTC",
    )
    yield "tokens used", one_line(tokens_text(entry.tokens))
    yield "git", _git(entry.git)
    yield "fingerprint", one_line(entry.config_fingerprint or "")
    if found.is_kept:
        yield "kept", "exempt from retention"
    if entry.replaced_by is not None:
        yield "replaced by", f"{short(entry.session)}:{entry.replaced_by}"
    if entry.is_pruned:
        yield "dropped", "its content was deleted by retention; the step that it marks stays"


def _hook(hook: Any) -> str:
    if not isinstance(hook, dict):
        return one_line(str(hook))
    rest = ", ".join(f"{one_line(str(key))} {one_line(str(value))}" for key, value in hook.items() if key != "name")
    return f"{one_line(str(hook.get('name', '?')))}  {rest}"


# Two of them ----------------------------------------------------------------------------------------------------------


@click.command(cls=Command, example="tally checkpoint diff 4cdfe901 77a0b2c3")
@click.argument("first", metavar="A", shell_complete=completing.checkpoints)
@click.argument("second", metavar="B", shell_complete=completing.checkpoints)
@pass_run
def diff(run: Run, first: str, second: str) -> None:
    """Show what happened between two checkpoints: steps, changed files and tokens, git, and the configuration."""
    from tallystick.review.checkpoints import diff_checkpoints
    from tallystick.workspace.indexing import open_index

    _check_enabled(run)
    with open_index(run.home) as index:
        run.take(index.remarks)
        found = diff_checkpoints(run.home, index, first, second)
    run.answer("checkpoint.diff", found, _diff_text(found))


def _diff_text(found: CheckpointDiff) -> Iterator[str]:
    for sign, entry in (("-", found.before), ("+", found.after)):
        yield f"{sign} {entry.hash[:_ID_DIGITS]}  {short(entry.session)}:{entry.position}  {_when(entry)}  {_label(entry)}"
    if found.steps is None:
        yield "the checkpoints mark two sessions: steps, files and tokens are not compared"
    else:
        types = ", ".join(f"{one_line(kind)} {count:,}" for kind, count in found.steps.items())
        yield f"{counted(sum(found.steps.values()), 'step')} in between{f': {types}' if types else ''}"
        if found.tokens is not None:
            yield f"tokens: {one_line(tokens_text(found.tokens)) or 'none'}"
        else:
            yield "tokens: unknown"
    for name, differences in (("git", found.git), ("config", found.config)):
        for each in differences:
            yield f"{name} {one_line(each.name)}: {_side(each.before)} → {_side(each.after)}"
    for file in (found.files or ())[:_LISTED]:
        yield f"  {one_line(', '.join(file.operations))}  {one_line(file.uri.removeprefix('file://'))}"
    if len(found.files or ()) > _LISTED:
        yield f"  … and {len(found.files or ()) - _LISTED} more; --json lists all"


def _side(value: Any) -> str:
    if value is None:
        return "nothing"
    return one_line(str(value)[:40])


# Verifying them
# -------------------------------------------------------------------------------------------------------


@click.command(cls=Command, example="tally checkpoint verify\ntally checkpoint verify 4cdfe901")
@click.argument("name", metavar="[ID]", required=False, shell_complete=completing.checkpoints)
@click.option("--session", metavar="S", help="Those of this session.")
@pass_run
def verify(run: Run, name: str | None, session: str | None) -> None:
    """Check that checkpoints match the steps that they mark, and that the journal up to there is intact.

    Exit code 2: a checkpoint does not match, or a session that the ledger lists is missing.
    """
    from tallystick.errors import UsageError
    from tallystick.trust.verify_checkpoints import verify_checkpoints

    _check_enabled(run)
    if name is not None and session is not None:
        raise UsageError("give either an id or --session")
    found = verify_checkpoints(run.home, name=name, session=session)
    run.answer("checkpoint.verdict", found, _verdict_text(found))
    if found.broken or found.gone:
        raise SystemExit(BROKEN)


def _verdict_text(found: Checked) -> Iterator[str]:
    for session in found.gone[:_LISTED]:
        yield click.style(f"MISSING: session {short(session)}; its checkpoints cannot be listed", fg="red", bold=True)
    if len(found.gone) > _LISTED:
        yield f"… and {len(found.gone) - _LISTED:,} more; --json lists all"
    if not found.broken:
        if found.checkpoints:
            yield f"{counted(found.checkpoints, 'checkpoint')} checked: all match"
        else:
            yield "no checkpoints"
        return
    yield click.style(
        f"BROKEN: {len(found.broken):,} of {counted(found.checkpoints, 'checkpoint')}", fg="red", bold=True
    )
    for each in found.broken[:_LISTED]:
        yield click.style(f"  ✕ {each.hash[:_ID_DIGITS]} ({short(each.session)}:{each.n})", fg="red")
        yield f"    {one_line(each.why)}"
    if len(found.broken) > _LISTED:
        yield f"  … and {len(found.broken) - _LISTED} more; --json lists all"


# Retention ------------------------------------------------------------------------------------------------------------


@click.command(cls=Command, example="tally checkpoint prune --dry-run\ntally checkpoint prune --older-than 90")
@click.option("--dry-run", "is_dry", is_flag=True, help="Show what would be deleted, and delete nothing.")
@click.option(
    "--older-than",
    type=click.IntRange(0, 36_500),
    metavar="DAYS",
    help="Replaces the setting checkpoints.retention_days; 0: only those that others replaced.",
)
@pass_run
def prune(run: Run, is_dry: bool, older_than: int | None) -> None:
    """Delete the content of old checkpoints; the steps that they mark stay.

    Labels, git state and metadata are removed from the journal, and the ledger records it: the record still verifies.
    Checkpoints made with --keep, the first one at the start of a session, and those that another session refers to are
    kept whole.
    """
    from datetime import UTC, datetime

    from tallystick.cli.progress import progress_bar
    from tallystick.review.retention import due
    from tallystick.review.retention import prune as do_prune

    found = due(run.home, now=datetime.now(UTC), older_than_days=older_than)
    if is_dry:
        run.answer("checkpoint.pruned", {"dry_run": True, "checkpoints": found}, _due_text(found))
        return
    with progress_bar(run, None) as advance:
        pruned = do_prune(run.home, found, progress=lambda done: advance("", done))
    said = (
        f"deleted the content of {counted(pruned.checkpoints, 'checkpoint')} of {counted(pruned.sessions, 'session')}"
    )
    text = [said if pruned.checkpoints else "nothing to delete"]
    run.answer("checkpoint.pruned", {"dry_run": False, **_counts(found), "values": pruned.values}, text)


def _counts(found: tuple[Due, ...]) -> dict[str, int]:
    return {"checkpoints": len(found), "sessions": len({each.session for each in found})}


def _due_text(found: tuple[Due, ...]) -> Iterator[str]:
    if not found:
        yield "nothing to delete"
        return
    for each in found[:_LISTED]:
        label = one_line(each.label or "")
        yield f"{each.hash[:_ID_DIGITS]}  {short(each.session)}:{each.n}  {one_line(each.trigger)}  {cut(label, 60)}".rstrip()
    if len(found) > _LISTED:
        yield f"… and {len(found) - _LISTED:,} more; --json lists all"
    sessions = len({each.session for each in found})
    yield f"would delete the content of {counted(len(found), 'checkpoint')} of {counted(sessions, 'session')}"
