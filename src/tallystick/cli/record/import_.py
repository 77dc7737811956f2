"""`tally import`: import what agents left on this machine, and report what could not be imported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli.command import FAILED, TAMPERED, Command
from tallystick.cli.context import Run, counted, pass_run, path_text, table
from tallystick.cli.progress import progress_bar
from tallystick.display.text import first_line, one_line

if TYPE_CHECKING:
    from tallystick.exports.ledger import Variant
    from tallystick.ingest.histories import Imported
    from tallystick.ingest.import_ import FileReport, LossCount
    from tallystick.ingest.ledger_checks import LedgerReport


_FAULTS = 20
_KINDS = 30


@click.command("import", cls=Command, example="tally import\ntally import ~/old-laptop/.claude --agent claude-code")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--agent", "agents", multiple=True, metavar="A", help="Only this agent's histories. May be repeated.")
@click.option("--again", is_flag=True, help="Read files from the beginning, even if nothing in them is new.")
@pass_run
def import_(run: Run, paths: tuple[Path, ...], agents: tuple[str, ...], again: bool) -> None:
    """Import the histories that agents keep on this machine. With PATH: those in these files, folders and repositories.

    Steps that are already in the record are not recorded again. Agents' files are only read. A file that cannot be read
    is reported, the others are imported, and the exit code is 1. A hash-chain ledger whose own hashes do not match is
    imported too, and the exit code is 2.
    """
    from tallystick.ingest.adapters import adapters, only
    from tallystick.ingest.histories import (
        Reading,
        count_passed_over,
        find_histories,
        import_histories,
        import_workers,
    )

    known = only(adapters(), agents)
    below = Path(os.environ.get("HOME", "~")).expanduser()
    found = find_histories(below, paths, known)
    sizes = sum(getattr(item, "size", 0) for item in found)
    with import_workers(run.home, found, known) as workers, progress_bar(run, sizes) as advance:
        done = import_histories(
            run.home,
            found,
            known,
            Reading(again=again, workers=workers),
            progress=lambda path, size: advance(path.name, size),
        )
    run.take(done.remarks)
    passed_over = count_passed_over(paths, found)
    if done.made_store:
        run.note(f"created a store at {run.home.folder}")
    data = {**_data(done), "passed_over": passed_over}
    run.answer("import", data, import_text(done, str(below) if not paths else None, passed_over))
    if any(not item.verdict.valid for item in done.ledgers):
        raise SystemExit(TAMPERED)
    if done.report.has_errors:
        raise SystemExit(FAILED)


def _data(done: Imported) -> dict[str, object]:
    report = done.report
    return {
        "recorded": report.recorded,
        "has_errors": report.has_errors,
        "made_store": done.made_store,
        "files": report.files,
        "refused": report.refused,
        "ledgers": [
            {"path": str(item.path), "verdict": item.verdict, "summary": _summary(item)} for item in done.ledgers
        ],
    }


def _summary(item: LedgerReport) -> str:
    from tallystick.exports.ledger import summary

    return summary(item.verdict)


# The report ----------------------------------------------------------------------------------------------------------


def import_text(done: Imported, searched: str | None, passed_over: int) -> Iterator[str]:
    """The report as text: agents, new steps, skipped content, damage."""
    report = done.report
    if passed_over:
        yield f"skipped {counted(passed_over, 'file')} in those folders: not an agent's history"
    if not report.files and not report.refused:
        if searched:
            yield f"no history found below {path_text(searched)}"
        else:
            yield "no history found there"
        return
    yield f"recorded {counted(report.recorded, 'new step')} from {counted(len(report.files), 'file')}"
    if report.files:
        yield from table(_agent_rows(report.files), head=_HEAD, right=frozenset(range(1, 6)))
    for ledger in done.ledgers:
        yield from _ledger_text(ledger)
    yield from _loss_text(report.files)
    faults = list(_faults(done))
    if faults:
        yield click.style("could not be read:", fg="red", bold=True)
        yield from (f"  {line}" for line in faults[:_FAULTS])
        if len(faults) > _FAULTS:
            yield f"  … and {len(faults) - _FAULTS} more; --json lists all"


_HEAD = ("AGENT", "FILES", "UNCHANGED", "SESSIONS", "NEW STEPS", "KNOWN", "")


def _agent_rows(files: list[FileReport]) -> Iterator[tuple[str, ...]]:
    for agent in sorted({file.agent for file in files}):
        own = [file for file in files if file.agent == agent]
        new = sum(file.steps.recorded for file in own)
        known = sum(file.steps.known + file.steps.corroborated + file.shared for file in own)
        sessions = {session for file in own for session in file.sessions}
        unchanged = sum(file.state == "unchanged" for file in own)
        numbers = (len(own), unchanged, len(sessions), new, known)
        yield (one_line(agent), *(f"{number:,}" for number in numbers), _also(own))


def _also(files: list[FileReport]) -> str:
    """Unusual results, in words."""
    counts = (
        (sum(file.steps.revised for file in files), "revised"),
        (sum(file.steps.extended for file in files), "steps extended"),
        (sum(file.steps.contradicted for file in files), "contradicted"),
        (sum(file.state == "rewritten" for file in files), "files rewritten"),
        (sum(file.state == "failed" for file in files), "failed"),
    )
    return ", ".join(f"{number:,} {word}" for number, word in counts if number)


def _loss_text(files: list[FileReport]) -> Iterator[str]:
    """By agent and kind: the content of the sources that is not in the record, most frequent first."""
    kinds: dict[tuple[str, str], tuple[int, str]] = {}
    for file in files:
        for kind, loss in file.losses.items():
            if not loss.fault:
                count, example = kinds.get((file.agent, kind), (0, ""))
                kinds[file.agent, kind] = (count + loss.count, example or _example(loss))
    if not kinds:
        return
    yield click.style("skipped content that is not in the record, by kind:", bold=True)
    rows = sorted(kinds.items(), key=lambda item: (-item[1][0], item[0]))
    cells = [
        (one_line(agent), one_line(kind), f"{count:,}", example) for (agent, kind), (count, example) in rows[:_KINDS]
    ]
    yield from (
        f"  {line}" for line in table(cells, head=("AGENT", "KIND", "COUNT", "FOR EXAMPLE"), right=frozenset((2,)))
    )
    if len(rows) > _KINDS:
        yield f"  … and {len(rows) - _KINDS} more kinds; --json lists all"


def _example(loss: LossCount) -> str:
    if loss.examples:
        return first_line(loss.examples[0], 80)
    return ""


def _faults(done: Imported) -> Iterator[str]:
    """Files and lines that could not be read, and why."""
    for refused in done.report.refused:
        yield _problem_text(refused.path, refused.why)
    for file in done.report.files:
        if file.error is not None:
            yield _problem_text(file.path, file.error)
        for kind, loss in file.losses.items():
            if not loss.fault:
                continue
            for example in loss.examples or [""]:
                yield f"{path_text(file.path)}: {one_line(kind)}{': ' if example else ''}{first_line(example, 160)}"
            if loss.count > len(loss.examples or [""]):
                yield f"{path_text(file.path)}: {one_line(kind)}: {loss.count - len(loss.examples):,} more"
        yield from _faults_before(file)


def _faults_before(file: FileReport) -> Iterator[str]:
    """What an earlier import could not read in a file, and what still stands there."""
    for kind, count in file.damage_before.items():
        yield f"{path_text(file.path)}: {one_line(kind)}: {count:,} in what was read before"


def _problem_text(path: Path, why: str) -> str:
    """A reason with the file's name before it, unless the reason says it already."""
    if why.startswith(str(path)):
        return first_line(why, 300)
    return f"{path_text(path)}: {first_line(why, 300)}"


def _variant(variant: Variant) -> str:
    """The open points of the format, and the choices of this ledger's writer."""
    import msgspec

    choices = msgspec.to_builtins(variant)
    flat = {**choices["body"], **choices["chain"], "root": choices["root"]}
    return ", ".join(f"{one_line(point)} {one_line(str(choice))}" for point, choice in flat.items())


def _ledger_text(item: LedgerReport) -> Iterator[str]:
    """The verdict on a hash-chain ledger by its own hashes. Another recorder wrote it, so nothing else can be checked."""
    variant = item.verdict.variant
    yield f"hash chain of {path_text(item.path)}:"
    yield f"  {one_line(_summary(item))}"
    if variant is not None:
        yield f"  formula: {'the default' if variant.is_primary else _variant(variant)}"
    for what in item.verdict.cannot_prove:
        yield f"  cannot prove {one_line(what)}"
