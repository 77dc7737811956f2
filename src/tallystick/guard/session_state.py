"""What one family of sessions has done, as its journals tell: the state that its next call is judged by.

Owns following journals as they grow, and when a call counts: denied ones never did, one that was asked about counts
when its result is there. A recorder that begins again knows the same, because nothing is kept elsewhere. Must not know
how a call is read (a function for that is given), nor what follows from what was done.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from tallystick.errors import TallystickError
from tallystick.graph.document import plain_text
from tallystick.graph.times import microseconds
from tallystick.guard.approvals import asked_about
from tallystick.guard.call_effects import CallEffects, may_change_anything
from tallystick.guard.file_authors import Before, By, Files, Made
from tallystick.guard.session_families import FamilyJournal
from tallystick.journal.home import Home
from tallystick.journal.read import read_file
from tallystick.model.decision import Call
from tallystick.model.intent import Intent
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.policy.taint.origins import TAKES
from tallystick.policy.taint.secret_output import shows_secret
from tallystick.policy.taint.untrusted_input import Done, Hearing
from tallystick.policy.world import Maker
from tallystick.state.families import Start

_MOST_WAITING = 64
_MOST_SENSITIVE = 16
_MOST_RECENT = 2_000
_MINUTE_US = 60_000_000
_MOST_AHEAD = 5_000
_LARGEST = 2 << 20
"""Bytes of a value that is kept beside the journal: longer ones are not looked at."""
_PATIENCE_S = 2.0
"""Longest time that one call waits for the record to be read on; what is left is read by the next."""


class _Waiting(msgspec.Struct, kw_only=True):
    """A call that is in the record and has no result yet."""

    step: Recorded
    deed: CallEffects
    at_us: int
    number: int
    before: Before = {}
    """What its changes took the place of."""
    is_asked: bool = False
    digests: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """What the user was asked about: content that would run, hosts that data would go to."""


ReadDeed = Callable[[Call], CallEffects]
"""What a recorded call does."""


class SessionState:
    """One family of sessions. Not safe for several threads."""

    def __init__(self, home: Home, hearing: Hearing, read: ReadDeed, is_shared: Callable[[str], bool]) -> None:
        """`read` says what a recorded call does; `is_shared`, whether a path is in version control."""
        self.hearing = hearing
        self.files = Files()
        self.workspace: str | None = None
        self.calls = 0
        self.network_calls = 0
        self.request = 0
        self.sensitive: tuple[str, ...] = ()
        """The secrets that were read, the newest last: what, and in which step."""
        self.approved: set[str] = set()
        """Digests of content that the user let run."""
        self.hosts: set[str] = set()
        """Hosts that the user let data go to, since the last secret was read."""
        self._home = home
        self._read = read
        self._is_shared = is_shared
        self._places: dict[Path, tuple[int, int]] = {}
        self._read_ahead: deque[tuple[int, int, Start, Recorded]] = deque()
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._cwd: dict[str, str] = {}
        self._number = 0
        self._gives_results: set[str] = set()
        self._file_times: deque[int] = deque(maxlen=_MOST_RECENT)
        self._network_times: deque[int] = deque(maxlen=_MOST_RECENT)

    # Following ------------------------------------------------------------------------------------------------------

    def follow(self, journals: Sequence[FamilyJournal]) -> None:
        """Read what is new in the journals of the family, in the order of time. What takes too long is left for the next."""
        until = time.monotonic() + _PATIENCE_S
        while True:
            while self._read_ahead:
                at_us, _, start, step = self._read_ahead.popleft()
                self._take(start, step, at_us)
                if time.monotonic() > until:
                    return
            new = [(_at(step), step.n, start, step) for start, path in journals for step in self._new(path)]
            if not new:
                return
            self._read_ahead.extend(sorted(new, key=lambda one: one[:2]))

    def take(self, start: Start, step: Recorded) -> None:
        """A step of the family that someone else has read, in the order of time."""
        self._take(start, step, _at(step))

    def _new(self, path: Path) -> Iterator[Recorded]:
        try:
            stat = path.stat()
        except OSError:
            return
        inode, offset = self._places.get(path, (stat.st_ino, 0))
        if inode != stat.st_ino:  # an erasure rewrote it: what was read of it stands
            offset = min(offset, stat.st_size)
        if stat.st_size <= offset:
            return
        count = 0
        try:
            for placed in read_file(self._home, path, start=offset, load_blobs=True, largest=_LARGEST):
                offset = placed.end
                yield placed.step
                if (count := count + 1) >= _MOST_AHEAD:
                    break
        except TallystickError:
            offset = max(offset, stat.st_size)
        self._places[path] = (stat.st_ino, offset)

    def _take(self, start: Start, step: Recorded, at_us: int) -> None:
        if "corroborates" in step.meta or "revises" in step.meta or step.type == "sighting":
            return
        match step.type:
            case "session_start":
                self._begin(start, step)
            case "user":
                self._ask(start, step)
            case "tool_call":
                self._call(start, step, at_us)
            case "tool_result":
                self._result(step, at_us)
            case "decision" | "permission" | "security_decision":
                self._decided(step)
            case _:
                self._move(step)

    def _begin(self, start: Start, step: Recorded) -> None:
        folder = self._move(step)
        if self.workspace is None and start.parent is None:
            self.workspace = folder

    def _move(self, step: Recorded) -> str | None:
        folder = step.text("personal.cwd")
        if folder is not None and folder.startswith("/"):
            self._cwd[step.session] = folder
            return folder
        return None

    def _ask(self, start: Start, step: Recorded) -> None:
        self._move(step)
        if "origin" in step.meta or start.parent is not None or start.claimed is not None:
            return  # the task that a parent gave
        self.request += 1
        self.hearing.asked(step.text("content.text") or "")

    # Calls ----------------------------------------------------------------------------------------------------------

    def _call(self, start: Start, step: Recorded, at_us: int) -> None:
        self._move(step)
        tool, corr = step.member("tool"), step.member("corr")
        if not isinstance(corr, str):
            corr = None
        args = step.values.get("content.args")
        folder = self._cwd.get(step.session) or self.workspace
        name, server = tool if isinstance(tool, str) else "", step.member("server")
        if isinstance(server, str) and server and "mcp" not in name:
            name = f"mcp__{server}__{name}"
        call = Call(agent=start.agent, session=start.source, tool=name, args=args, cwd=folder, call_id=corr)
        deed = self._read(call)
        self._number += 1
        waiting = _Waiting(step=step, deed=deed, at_us=at_us, number=self._number)
        self._count(deed, at_us)
        self._change(waiting)
        if start.sid not in self._gives_results:
            self._finish_all(start.sid)
        if "content.output" in step.values:  # some agents tell a call and its result as one
            self._waiting[corr or ""] = waiting
            self._result(step, at_us)
            return
        self._waiting[corr or f"#{step.hash}"] = waiting
        while len(self._waiting) > _MOST_WAITING:
            self._finish(self._waiting.popitem(last=False)[1], None, is_told=False)

    def _count(self, deed: CallEffects, at_us: int) -> None:
        self.calls += 1
        if deed.hosts:
            self.network_calls += 1
            self._network_times.append(at_us)
        elif deed.files:
            self._file_times.append(at_us)

    def recent(self, now_us: int) -> tuple[int, int]:
        """How many calls worked on files, and talked to hosts, in the last minute."""
        for times in (self._file_times, self._network_times):
            while times and times[0] < now_us - _MINUTE_US:
                times.popleft()
        return len(self._file_times), len(self._network_times)

    def _decided(self, step: Recorded) -> None:
        corr = step.member("corr")
        if isinstance(corr, str):
            waiting = self._waiting.get(corr)
        else:
            waiting = self._newest(step.session)
        if waiting is None:
            return
        effect = step.meta.get("effect") or step.meta.get("decision")
        if effect == "deny":
            self._take_back(waiting)
            self.calls -= 1
            self._waiting = OrderedDict((key, one) for key, one in self._waiting.items() if one is not waiting)
        elif effect == "ask" and not waiting.is_asked:
            self._take_back(waiting)
            waiting.is_asked = True
            waiting.digests, waiting.hosts = asked_about(step)

    def _newest(self, session: str) -> _Waiting | None:
        return next((one for one in reversed(self._waiting.values()) if one.step.session == session), None)

    def _result(self, step: Recorded, at_us: int) -> None:
        self._gives_results.add(step.session)
        corr = step.member("corr")
        waiting = self._waiting.pop(corr if isinstance(corr, str) else "", None)
        if waiting is None:
            return
        if step.meta.get("decision") == "deny":
            self._take_back(waiting)
            return
        has_failed = step.meta.get("success") is False
        if waiting.is_asked:
            self._change(waiting)
            if not has_failed:
                self.approved |= set(waiting.digests)
                self.hosts |= set(waiting.hosts)
        if has_failed:
            self._take_back(waiting)
            self._change(waiting, _stood_before)
        if may_change_anything(waiting.deed.effects):
            self.files.loosen(at_us)
        output = step.values.get("content.output")
        self._finish(waiting, _output_text(output), is_told=step.meta.get("scrubbed") is not None)

    def _finish_all(self, session: str) -> None:
        """Calls of a session whose results no one tells."""
        for key in [key for key, one in self._waiting.items() if one.step.session == session and not one.is_asked]:
            self._finish(self._waiting.pop(key), None, is_told=False)

    def _finish(self, waiting: _Waiting, output: str | None, *, is_told: bool) -> None:
        """A call was made. `output` is None where it is not on record; `is_told`: it held a secret, as the scrubber saw."""
        deed, step = waiting.deed, _tool_name(waiting.step)
        gives = shows_secret(
            deed.effects, output or "", root=self.workspace, is_marked=is_told, is_shared=self._is_shared
        )
        before = len(self.hearing.sensitive), self.hearing.sensitive[-1:]
        tool = waiting.step.member("tool")
        done = Done(
            step=step,
            tool=tool if isinstance(tool, str) else "",
            effects=deed.effects,
            texts=deed.texts,
            output=output,
            folder=deed.folder or "",
            is_unlisted=deed.is_unlisted,
            is_sensitive=gives or bool(deed.sensitive),
        )
        self.hearing.done(done)
        if (len(self.hearing.sensitive), self.hearing.sensitive[-1:]) != before:
            self._note_sensitive(self.hearing.sensitive[-1:])
        elif gives or deed.sensitive:
            self._note_sensitive(tuple(f"{what} ({step})" for what in deed.sensitive or (_what(waiting),)))

    def _note_sensitive(self, what: tuple[str, ...]) -> None:
        self.sensitive = tuple(dict.fromkeys((*self.sensitive, *what)))[-_MOST_SENSITIVE:]
        self.hosts.clear()  # what was allowed before does not hold for what is read now

    def _change(self, waiting: _Waiting, wanted: Callable[[Intent], bool] = lambda _: True) -> None:
        by = By(
            at_us=waiting.at_us,
            session=waiting.step.session,
            step=_tool_name(waiting.step),
            request=self.request,
            existing=waiting.deed.existing,
        )
        waiting.before = self.files.change(by, waiting.deed.effects, wanted)

    def is_about_to(self, call_id: str | None) -> None:
        """A call is judged now: what is on record of it already, from the agent's own transcript, has not happened yet."""
        waiting = None
        if call_id is not None:
            waiting = self._waiting.get(call_id)
        if waiting is not None and not waiting.is_asked:
            self._take_back(waiting)
            waiting.is_asked = True

    def _take_back(self, waiting: _Waiting) -> None:
        self.files.undo(waiting.before)
        waiting.before = {}

    def is_loose(self, path: str, since_us: int) -> bool:
        """Whether something may have changed a file since a time, without its text saying that it does."""
        if any(may_change_anything(one.deed.effects) for one in self._waiting.values()):
            return True
        return self.files.is_loose(path, since_us)

    def maker(self, made: Made) -> Maker:
        """Who that is, for the next call."""
        if made.request == self.request:
            return Maker.REQUEST
        return Maker.SESSION


def _stood_before(intent: Intent) -> bool:
    """Whether an intent of a script that failed has happened: a shell reports how its last statement ended."""
    return not intent.is_last


def _at(step: Recorded) -> int:
    return microseconds(step.meta.get("ts")) or microseconds(step.meta.get("recorded")) or 0


def _tool_name(step: Recorded) -> str:
    return f"{step.session[:12]}:{step.n}"


def _output_text(output: Json) -> str | None:
    if output is None:
        return None
    return plain_text(output)


def _what(waiting: _Waiting) -> str:
    """What a call was, for people."""
    paths = [intent.target for intent in waiting.deed.effects.intents if intent.operation in TAKES]
    tool = waiting.step.member("tool")
    return (paths or [*waiting.deed.texts] or [tool if isinstance(tool, str) else "a call"])[0][:200]
