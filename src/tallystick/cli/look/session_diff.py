"""`tally session diff`: how two sessions differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, pass_run, table
from tallystick.cli.filters import limit_option
from tallystick.cli.steps import short
from tallystick.display.amounts import cost_text, short_count
from tallystick.display.outcome import duration_text
from tallystick.display.text import cut, first_line, one_line, width_of

if TYPE_CHECKING:
    from tallystick.review.session_diff import SessionDiff, Side
    from tallystick.sessions.differing import Aligned, Divergence, FileDifference, Move

_WIDE = 120
"""From so many columns on, what goes together stands side by side."""
_MOST_WORDS = 3


@click.command("diff", cls=Command, example="tally session diff a3f9 77c0")
@click.argument("left", metavar="A", shell_complete=completing.sessions)
@click.argument("right", metavar="B", shell_complete=completing.sessions)
@limit_option("prompts, calls and files that differ")
@pass_run
def diff(run: Run, left: str, right: str, limit: int | None) -> None:
    """How two sessions differ: the first difference, the actions and results of each, and their configurations.

    Calls are paired when the tool and its arguments are the same, with paths relative to the session's own folder. A
    file counts with the content that a session left in it.
    """
    from tallystick.review.session_diff import session_diff
    from tallystick.workspace.indexing import open_index

    with open_index(run.home) as index:
        found = session_diff(run.home, index, left, right)
        run.take(index.remarks)
    run.answer("session-diff", found, diff_text(found, run.width, run.limit(limit)))


def diff_text(found: SessionDiff, width: int, most: int) -> Iterator[str]:
    """The difference as text."""
    for name, side in (("A", found.left), ("B", found.right)):
        row = side.session
        words = f"{name}  {short(row.session)}  {cut(one_line(row.agent), 20)}  "
        yield click.style(words + first_line(row.goal or row.title or "", max(width - width_of(words), 20)), bold=True)
    yield from (f"  {line}" for line in table(_figures(found.left, found.right), head=("", "A", "B")))
    yield from _ran_under(found, width)
    if found.divergence is None:
        yield "they did the same"
    else:
        yield from _divergence(found, found.divergence, width)
        yield from _moves(found, width, most)
    yield from _files(found.files, width, most)


def _figures(left: Side, right: Side) -> Iterator[tuple[str, str, str]]:
    rows = zip(_of_side(left), _of_side(right), strict=True)
    yield from ((name, one, other) for (name, one), (_, other) in rows if one or other)


def _of_side(side: Side) -> Iterator[tuple[str, str]]:
    row = side.session
    yield "status", one_line(row.status)
    yield "prompts", f"{side.prompts:,}"
    yield "calls", f"{row.tool_calls:,}"
    yield "failed", f"{row.failures:,}"
    yield "steps", f"{row.steps:,}"
    yield "files changed", f"{side.changed_files:,}"
    yield "tokens", short_count(row.tokens.total) if row.tokens.total else ""
    yield "cost", cost_text(side.cost.microusd, side.cost.unknown)
    yield "duration", duration_text(side.duration_ms) if side.duration_ms is not None else ""


def _ran_under(found: SessionDiff, width: int) -> Iterator[str]:
    room = max((width - 24) // 2, 20)
    for setting in found.settings:
        left, right = (cut(one_line(text), room) if text else "(not set)" for text in (setting.left, setting.right))
        yield f"  {setting.name:<14} {left}  →  {right}"
    for section in found.sections or ():
        parts = (("changed", section.changed), ("only B", section.added), ("only A", section.removed))
        words = [f"{how} {_differing_words(names)}" for how, names in parts if names]
        yield f"  configuration  {one_line(section.section)[:40]}: {'; '.join(words) or 'differs'}"
    if found.sections == ():
        yield "  configuration  the same"


def _divergence(found: SessionDiff, first: Divergence, width: int) -> Iterator[str]:
    after = "at the first action"
    if first.after:
        after = f"after {counted(first.after, 'equal action')}"
    yield click.style(f"first difference {after}: {_differing_words(first.differs)}", bold=True)
    for name, side, move in (("A", found.left, first.left), ("B", found.right, first.right)):
        yield f"  {name}  {_move(side, move, width - 5)}"


def _moves(found: SessionDiff, width: int, most: int) -> Iterator[str]:
    odd = [pair for pair in found.moves if pair.differs]
    both = sum(pair.left is not None and pair.right is not None for pair in odd)
    lefts = sum(pair.right is None for pair in odd)
    told = f"{len(found.moves) - len(odd):,} the same, {both:,} changed, {lefts:,} only A, {len(odd) - both - lefts:,} only B"
    yield click.style(f"prompts and calls: {told}", bold=True)
    shown = 0
    same = 0
    for pair in found.moves:
        if not pair.differs:
            same += 1
            continue
        if shown == most:
            yield f"  … {len(odd) - shown:,} more; --limit N shows N, --json all"
            return
        if same:
            yield click.style(f"    … {same:,} the same", dim=True)
        same, shown = 0, shown + 1
        yield from _pair(found, pair, width)
    if same:
        yield click.style(f"    … {same:,} the same", dim=True)


def _pair(found: SessionDiff, pair: Aligned, width: int) -> Iterator[str]:
    if pair.left is None or pair.right is None:
        if pair.left is None:
            side, move, name = found.right, pair.right, "B"
        else:
            side, move, name = found.left, pair.left, "A"
        yield click.style(f"  {name} {_move(side, move, width - 4)}", fg="green" if name == "B" else "red")
        return
    yield click.style(f"  ≠ {_differing_words(pair.differs)}", fg="yellow")
    if width >= _WIDE:
        half = (width - 8) // 2
        left = _move(found.left, pair.left, half)
        yield f"    {left}{' ' * (half - width_of(left))}  │ {_move(found.right, pair.right, half)}"
    else:
        yield f"    A {_move(found.left, pair.left, width - 6)}"
        yield f"    B {_move(found.right, pair.right, width - 6)}"


def _move(side: Side, move: Move | None, width: int) -> str:
    if move is None:
        return "(no more)"
    words = f"{short(side.session.session)}:{move.n} {cut(one_line(move.name) or 'prompt', 16)} "
    failed = ""
    if move.success is False:
        failed = " [failed]"
    return cut(f"{words}{first_line(move.shown, max(width - width_of(words) - len(failed), 12))}{failed}", width)


def _files(files: tuple[FileDifference, ...], width: int, most: int) -> Iterator[str]:
    if not files:
        return
    yield click.style(f"files: {counted(len(files), 'file')} with different final content", bold=True)
    for file in files[:most]:
        path = cut(one_line(file.path), max(width - 40, 20))
        if file.left is None or file.right is None:
            yield f"  only {'B' if file.left is None else 'A'}  {path}  {_content(file.left or file.right or '')}"
        else:
            yield f"  differ  {path}  {_content(file.left)}  {_content(file.right)}"
    if len(files) > most:
        yield f"  … {len(files) - most:,} more; --limit N shows N, --json all"


def _content(text: str) -> str:
    kind, _, digest = text.partition(":")
    if kind == "unseen":
        return "not seen"
    return one_line(digest or text)[:8]


def _differing_words(differs: tuple[str, ...]) -> str:
    more = ""
    if len(differs) > _MOST_WORDS:
        more = f", … {len(differs) - _MOST_WORDS} more"
    return ", ".join(cut(one_line(word), 60) for word in differs[:_MOST_WORDS]) + more
