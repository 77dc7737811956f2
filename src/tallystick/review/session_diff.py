"""How two sessions differ: where they part, what each did that the other did not, what they left behind, and under what.

Owns gathering both sides from the index and the journals. What goes with what is `sessions.differing`'s.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import msgspec

from tallystick.ask.session_costs import NOTHING, Cost, SessionCosts
from tallystick.display.outcome import asked
from tallystick.errors import FormatError, JournalError
from tallystick.graph.family import use_of
from tallystick.graph.lookup import resolve_session
from tallystick.graph.queries import SessionRow
from tallystick.graph.session_actions import UNKNOWN, Act, acts_of, configured_at, duration_us, left_by
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.read import read_at, read_line
from tallystick.model.plain_text import plain_text
from tallystick.model.recorded import Recorded
from tallystick.sessions import configuration
from tallystick.sessions.differing import (
    Aligned,
    Divergence,
    FileDifference,
    Kind,
    Move,
    aligned,
    divergence,
    file_differences,
    local_path,
    parts_of,
    text_parts,
    unseen,
)
from tallystick.workspace.index import Index

MOST_MOVES = 100_000
"""Prompts and calls of one session that are compared. Of a longer one the rest is left out, and that is remarked."""
_MOST_SHOWN = 2_000


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two sessions, summed up."""

    session: SessionRow
    agent_version: str | None
    models: tuple[str, ...]
    prompts: int
    cost: Cost
    duration_ms: int | None
    changed_files: int


class Setting(msgspec.Struct, frozen=True):
    """Something that the sessions ran under and that was not the same."""

    name: str
    left: str | None
    right: str | None


class SessionDiff(msgspec.Struct, frozen=True, kw_only=True):
    """How two sessions differ. `moves` are all prompts and calls of both, those that go together side by side.

    `sections` are the parts of their configurations that differ; None where one of them says nothing of its configuration.
    """

    left: Side
    right: Side
    divergence: Divergence | None
    moves: tuple[Aligned, ...]
    files: tuple[FileDifference, ...]
    settings: tuple[Setting, ...]
    sections: tuple[configuration.Difference, ...] | None

    @property
    def is_empty(self) -> bool:
        """Whether both did the same, left the same behind and ran under the same."""
        return self.divergence is None and not (self.files or self.settings or self.sections)


def session_diff(home: Home, index: Index, left: str, right: str) -> SessionDiff:
    """How two sessions differ that a person named.

    Raises:
        NotFoundError, AmbiguousError: a name means no session, or several. JournalError: a journal is gone.
    """
    costs = SessionCosts(home, index)
    ours, theirs = (_Gathered(home, index, resolve_session(index.graph, name), costs) for name in (left, right))
    one, other = ours.configured, theirs.configured
    return SessionDiff(
        left=ours.side,
        right=theirs.side,
        divergence=divergence(ours.moves, theirs.moves),
        moves=aligned(ours.moves, theirs.moves),
        files=file_differences(ours.left, theirs.left),
        settings=tuple(_settings(ours.side, theirs.side)),
        sections=None if one is None or other is None else configuration.differences(one, other),
    )


def _settings(left: Side, right: Side) -> Iterator[Setting]:
    told = (
        ("agent", left.session.agent, right.session.agent),
        ("agent version", left.agent_version, right.agent_version),
        ("models", ", ".join(left.models) or None, ", ".join(right.models) or None),
        ("folder", left.session.cwd, right.session.cwd),
        ("workspace", left.session.workspace, right.session.workspace),
        ("goal", left.session.goal, right.session.goal),
    )
    yield from (Setting(name, one, other) for name, one, other in told if one != other)


class _Gathered:
    """One session, as it is compared."""

    def __init__(self, home: Home, index: Index, row: SessionRow, costs: SessionCosts) -> None:
        path = home.journal(row.session)
        if path is None:
            raise JournalError(f"the journal of session {row.session} is missing", hint="run `tally verify`")
        self._home, self._path, self._row = home, path, row
        self.left: dict[str, str] = {}
        self._left_at: dict[int, dict[str, str]] = {}
        acts = acts_of(index.graph, row.session)
        if len(acts) > MOST_MOVES:
            index.remarks.append(f"{row.session[:8]}: only its first {MOST_MOVES:,} prompts and calls are compared")
        moves = [self._move(step, act) for act, step in self._acted(acts[:MOST_MOVES])]
        self._take_files(index, {move.n: move.key for move in moves})
        self.moves = [msgspec.structs.replace(move, left=self._left_at.get(move.n, {})) for move in moves]
        self.configured = self._configured(index)
        self.side = self._side(index, costs)

    def _step(self, offset: int) -> Recorded | None:
        return read_at(self._home, self._path, offset, load_blobs=True)

    def _acted(self, acts: list[Act]) -> Iterator[tuple[Act, Recorded]]:
        """Acts with their steps, where they stand where the index says. The file is gone through once."""
        wanted = {act.offset: act for act in acts}
        lines, offset = LineFile(self._path), 0
        try:
            for text in lines:
                act = wanted.pop(offset, None)
                offset = lines.end
                if act is None:
                    continue
                with contextlib.suppress(FormatError):  # what verification reports
                    step = read_line(self._home, text, load_blobs=True)
                    if step.n == act.n:
                        yield act, step
                if not wanted:
                    return
        except OSError as error:
            raise JournalError(f"cannot read {self._path}: {error.strerror}") from error

    def _move(self, step: Recorded, act: Act) -> Move:
        if act.type == "user":
            said = step.values.get("content.text")
            shown = ""
            if said is not None:
                shown = plain_text(said)[:_MOST_SHOWN]
            return Move(n=step.n, kind=Kind.PROMPT, name="", shown=shown, parts=text_parts(said))
        args = step.values.get("content.args")
        shown = asked(args)[:_MOST_SHOWN]
        parts = parts_of(args, self._row.cwd)
        return Move(n=step.n, kind=Kind.CALL, name=act.tool or "", shown=shown, parts=parts, success=act.success)

    def _take_files(self, index: Index, keys: dict[int, str]) -> None:
        for change in left_by(index.graph, self._row.session):
            path = local_path(change.uri, self._row.cwd)
            content = change.content
            if content == UNKNOWN:
                content = unseen(self.left.get(path, ""), keys.get(change.n, ""))
            self.left[path] = content
            self._left_at.setdefault(change.n, {})[path] = content

    def _configured(self, index: Index) -> configuration.Configuration | None:
        offset = configured_at(index.graph, self._row.session)
        step = None
        if offset is not None:
            step = self._step(offset)
        if step is None:
            return None
        return configuration.told_by(step)

    def _side(self, index: Index, costs: SessionCosts) -> Side:
        row = self._row
        start = self._step(0)
        version = None
        if start is not None:
            version = start.member("agent_version")
        duration = duration_us(index.graph, row.session)
        return Side(
            session=row,
            agent_version=version if isinstance(version, str) else None,
            models=tuple(use.model for use in use_of(index.graph, [row.session]) if use.model),
            prompts=sum(move.kind is Kind.PROMPT for move in self.moves),
            cost=costs.each([row.session]).get(row.session, NOTHING),
            duration_ms=duration // 1000 if duration is not None else None,
            changed_files=len(self.left),
        )
