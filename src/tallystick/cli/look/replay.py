"""`tally replay`: sessions step by step, from the store or from files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from tallystick.cli import completing
from tallystick.cli.command import FAILED, Command
from tallystick.cli.context import Run, counted, envelope, pass_run
from tallystick.cli.filters import step_filters
from tallystick.cli.prices import price_option, prices_for
from tallystick.cli.progress import index_line, progress_bar
from tallystick.cli.timeline import Look, View, has_own_words

if TYPE_CHECKING:
    from tallystick.lineage.taint_tree import TaintNode
    from tallystick.review.replay import Asked
    from tallystick.review.replay_sources import Cast
    from tallystick.sessions.timeline import Beat

_FILTERS = ("types", "agents", "tools", "since", "until", "failed", "request")


def _search_words(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Words separated by commas, or given one by one."""
    return tuple(word.strip() for text in value for word in text.split(",") if word.strip())


def _speed(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """The speed as a factor; None: no pauses."""
    if value is None or value == "max":
        return None
    try:
        found = float(value)
    except ValueError:
        found = 0.0
    if not 0 < found < 1e9:
        raise click.BadParameter("give a number above 0 (2: twice as fast), or max", context, parameter)
    return found


@click.command(
    cls=Command,
    example="tally replay a3f9\ntally replay a3f9 --from 17 --tool Bash -v\ntally replay a3f9 --follow\n"
    "tally replay a3f9 77c1 --merge\ntally replay ~/session.jsonl --only tool_call,tool_result",
)
@click.argument("names", nargs=-1, required=True, metavar="SESSION|FILE...", shell_complete=completing.steps_or_paths)
@click.option("--from", "start", metavar="STEP", help="Only this step and what follows from it, in any session.")
@click.option("--to", "stop", metavar="STEP", help="End with this step.")
@click.option(
    "--only", callback=_search_words, multiple=True, metavar="TYPES", help="Steps of these types: tool_call,warning."
)
@click.option("--goal", "goals", multiple=True, metavar="G", help="Steps of this goal.")
@click.option(
    "--text", "texts", multiple=True, metavar="WORDS", help="Steps that contain this text, in upper or lower case."
)
@click.option("--errors", is_flag=True, help="Only problems: failed, refused, warnings, alerts, gaps.")
@step_filters
@click.option(
    "--subagents",
    "below",
    type=click.Choice(("inline", "fold", "hide")),
    help="Sessions started by this one, and sub-agents: in place, folded into one line, or left out.  [default: fold]",
)
@click.option("--merge", is_flag=True, help="Merge several sessions by time instead of one after the other.")
@click.option(
    "--taint", is_flag=True, help="Below each call show what `tally taint` knows of the sources of its content."
)
@click.option("--follow", is_flag=True, help="Follow the session until it ends.")
@click.option(
    "--speed", callback=_speed, metavar="N|max", help="On a terminal: with the original pauses, N times as fast."
)
@click.option(
    "--verbose", "-v", count=True, help="Include prompts, arguments and results; -vv: full prompts and thinking."
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most this many steps.  [default: all]")
@click.option("--no-pager", is_flag=True, help="Print without a pager, however long it is.")
@click.option(
    "--stats", is_flag=True, help="Show times, calls, tokens, cost and checks instead of the steps, of whole sessions."
)
@price_option
@pass_run
def replay(run: Run, /, **options: Any) -> None:
    """Replay a session step by step.

    SESSION is a recorded session. FILE is a file of an agent, a journal, or a folder of such files; nothing of it is
    recorded. Each row has the step's number, its time (UTC), the time since the row above, and the event. What could
    not be read is listed at the end, and the exit code is then 1. With --json and --follow each step is a document on
    one line.
    """
    from tallystick.review.replay_sources import open_cast

    given = _Options(
        filters={name: options.pop(name) for name in _FILTERS}, **{name: options[name] for name in options}
    )
    if given.stats and given.chooses_steps:
        raise click.UsageError("--stats counts whole sessions: omit the options that select steps")
    if given.specs and not given.stats:
        prices_for(run, given.specs)  # problems of the sessions are reported all the same
        run.note("--cost needs --stats: single steps have no price")
    with ExitStack() as stack:
        with _reading(run, given.names) as advance:
            loads = given.verbose > 0 or bool(given.texts)
            cast = stack.enter_context(open_cast(run.home, given.names, loads_blobs=loads, progress=advance))
        if given.stats:
            from tallystick.cli.look.statistics import show_statistics

            show_statistics(run, cast, given.specs, without_sub_agents=given.below == "hide")
        elif cast.tops or run.json:
            _show(run, cast, given.asked(cast), given)
        if not run.json:  # there they are part of the answer
            run.take((*cast.remarks, *cast.failures))
        if cast.failures:
            raise SystemExit(FAILED)


class _Options(msgspec.Struct, frozen=True, kw_only=True):
    """The values of the options of the command."""

    names: tuple[str, ...]
    start: str | None
    stop: str | None
    only: tuple[str, ...]
    goals: tuple[str, ...]
    texts: tuple[str, ...]
    errors: bool
    below: str | None
    merge: bool
    taint: bool
    follow: bool
    speed: float | None
    verbose: int
    limit: int | None
    no_pager: bool
    stats: bool
    specs: tuple[str, ...]
    """What models cost: `MODEL:IN,OUT`."""
    filters: dict[str, Any]
    """Those that the log has too, by the names of workspace.filters.StepFilter."""

    @property
    def chooses_steps(self) -> bool:
        """Whether only some of the steps are wanted, or only future ones."""
        own = (self.start, self.stop, self.only, self.goals, self.texts, self.errors, self.follow, self.limit)
        return any(one is not None and one is not False and one != () for one in (*own, *self.filters.values()))

    def asked(self, cast: Cast) -> Asked:
        """The question, once its sessions are known."""
        from tallystick.review.replay import Asked, Wanted
        from tallystick.review.replay_sources import find_spot
        from tallystick.sessions.timeline import Below

        start = stop = None
        if self.start is not None:
            start = find_spot(cast, self.start)
        if self.stop is not None:
            stop = find_spot(cast, self.stop)
        below = Below.FOLD
        if self.below is not None:
            below = Below(self.below)
        elif self.merge:
            below = Below.INLINE
        own: dict[str, Any] = {"goals": self.goals, "texts": self.texts, "errors": self.errors}
        types = (*self.filters["types"], *self.only)
        return Asked(
            wanted=Wanted(**{**self.filters, **own, "types": types}),
            start=start,
            stop=stop,
            below=below,
            merge=self.merge,
            limit=self.limit,
        )


def _reading(run: Run, names: tuple[str, ...]) -> AbstractContextManager[Callable[[str, int], None]]:
    """A progress bar, if there may be files to read; else a line, if the index has to be made first."""
    if any(Path(name).exists() for name in names):
        return progress_bar(run, None)
    return _reading_index(run)


@contextmanager
def _reading_index(run: Run) -> Iterator[Callable[[str, int], None]]:
    with index_line(run) as told:
        yield lambda _name, more: told(more)


def _show(run: Run, cast: Cast, asked: Asked, given: _Options) -> None:
    from tallystick.review.replay import paced
    from tallystick.review.replay import replay as replay_sessions
    from tallystick.sessions.timeline import Below

    is_styled = run.uses_color
    if is_styled is None:
        is_styled = sys.stdout.isatty()
    if given.taint:
        taints = _taints(run, cast)
    else:
        taints = {}
    is_mixed = given.merge or (given.follow and asked.below is Below.INLINE)
    look = Look(width=run.width, verbosity=given.verbose, is_mixed=is_mixed, is_styled=is_styled)
    view = View(cast, look, taints)
    if given.follow:
        from tallystick.review.replay_live import follow_cast

        _live(run, view, follow_cast(cast, asked))
        if run.json and (told := [*cast.remarks, *cast.failures]):
            run.write(envelope("step", None, told, on_one_line=True) + "\n")
        return
    if run.json:
        steps = [beat.step for beat in replay_sessions(cast, asked) if beat.folded is None]
        run.take((*cast.remarks, *cast.failures))
        run.answer("steps", steps, ())
    elif given.speed is not None and sys.stdout.isatty():
        _live(run, view, paced(replay_sessions(cast, asked), given.speed))
    elif given.no_pager:
        run.write_lines(_lines(view, cast, asked, given))
    else:
        run.page(_lines(view, cast, asked, given))
    below = len(cast.family()) - len(cast.tops)
    if below and asked.below is Below.FOLD and not asked.wanted.is_any:
        run.note(f"{counted(below, 'session')} below these not included; --subagents inline includes them")


def _lines(view: View, cast: Cast, asked: Asked, given: _Options) -> Iterator[str]:
    """The rows: one an act; every step where that is asked for, and of agents that have a replay of their own."""
    if given.verbose or has_own_words(cast):
        from tallystick.review.replay import replay as replay_sessions

        return view.lines(replay_sessions(cast, asked))
    from tallystick.review.acts import replay_acts

    return view.act_lines(replay_acts(cast, asked))


def _taints(run: Run, cast: Cast) -> dict[tuple[str, int], tuple[TaintNode, ...]]:
    """By call, what is known of the sources of its content; of sessions in the store."""
    from tallystick.ask.taint import taint_tree
    from tallystick.workspace.indexing import open_index

    found: dict[tuple[str, int], tuple[TaintNode, ...]] = {}
    sessions = [track.session for track, _ in cast.family() if track.session not in cast.origins]
    if sessions:
        with open_index(run.home) as index:
            for session in sessions:
                for root in taint_tree(run.home, index, session, folder="/").roots:
                    if root.session is not None and root.n is not None:
                        found[root.session, root.n] = root.children
    return found


def _live(run: Run, view: View, beats: Iterable[Beat]) -> None:
    """Print each step as it arrives, without buffering."""
    if run.json:
        for beat in beats:
            if beat.folded is None:
                run.write(envelope("step", beat.step, [], on_one_line=True) + "\n")
                sys.stdout.flush()
        return
    for line in view.lines(beats):
        run.write(line + "\n")
        sys.stdout.flush()
