"""The relay: lines between our own stdin and stdout and those of a child, untouched, with a look at each.

Owns the bytes of both ways, back-pressure, end of file, signals, exit status, and what happens when the one that looks on is
slow or fails: nothing, to the stream. Must not know what a line means.

    relay(command, change=…, observe=…) -> Ended

* **The stream.** What one side writes the other reads, byte for byte: CRLF, empty lines, invalid UTF-8, a last line without
  its newline. The child's stderr, environment and folder are ours, untouched. The end of a stream is passed on each way by
  itself, and so is a reader that has gone.
* **`observe(line)`** is given a copy of every line, in the order of reading, on a thread of its own behind a queue of bounded
  bytes. It may be slow or fail: the stream goes on. What found no room in the queue is counted in the next line's `missed`.
* **`change(way, data)`** is asked before a line goes on, on the thread that moves the bytes, so it must be quick. None sends
  the line as it is; `Passing` sends other lines in its place and may answer the sender itself; `Later` is work for a thread
  of its own: until it is done, or its time is up, the lines behind it in that way wait, the other way goes on. An error sends
  the line as it is and is reported in `Ended.faults`. Without `change`, bytes go on before their line is whole.
* **Long lines.** A line over `hold_bytes` goes on in pieces as it comes and is not offered to `change`; `observe` gets its
  first bytes and its size.
* **Memory.** At most about `hold_bytes` and `full_bytes` a way, and `queue_bytes` for the observer.
* **The end.** The child's exit is the end, once what it wrote has been passed on, even if a grandchild keeps its stdout
  open. SIGINT, SIGTERM and SIGHUP are passed on to it; the relay itself lives as long as the child.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from tallystick.capture._relay_ends import Child, Signals, Stream
from tallystick.capture._relay_lines import Piece
from tallystick.capture._relay_observer import Line, Observer, Way
from tallystick.capture.quick_switches import quick_switches

__all__ = [
    "STANDARD_STREAMS",
    "Change",
    "Ended",
    "Later",
    "Limits",
    "Line",
    "Passing",
    "Streams",
    "Way",
    "end_as",
    "relay",
]

_HEAD_BYTES = 1 << 16
_MOST_FAULTS = 10


class Passing(msgspec.Struct, frozen=True):
    """What goes on in place of a line, and what its sender is answered by us. Lines carry their newline themselves."""

    sent: tuple[bytes, ...] = ()
    replies: tuple[bytes, ...] = ()


class Later(msgspec.Struct, frozen=True):
    """An answer of `change` that takes a while: `work` runs on a thread of its own, for at most `seconds`."""

    work: Callable[[], Passing | None]
    seconds: float = 2.0


Change: TypeAlias = Callable[[Way, bytes], Passing | Later | None]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much is held, in bytes, and how long the observer may take at the end."""

    hold_bytes: int = 64 << 20
    """The longest line that is gathered before it goes on."""
    full_bytes: int = 1 << 20
    """So much waiting for one side, and nothing more is read for it."""
    queue_bytes: int = 128 << 20
    """Copies waiting for the observer."""
    drain_seconds: float = 10.0
    """How long the end waits for the observer."""


class Streams(msgspec.Struct, frozen=True):
    """The descriptors that the other side writes to and reads from."""

    stdin: int
    stdout: int


STANDARD_STREAMS = Streams(0, 1)


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How it went."""

    returncode: int
    """The child's; -N: ended by signal N."""
    signals: tuple[int, ...] = ()
    """What was passed on to the child."""
    missed: int = 0
    """Lines the observer was not given."""
    faults: tuple[str, ...] = ()
    """What went wrong in `change` and `observe`, the first ten of each."""


def relay(
    command: Sequence[str],
    *,
    change: Change | None = None,
    observe: Callable[[Line], None] | None = None,
    streams: Streams = STANDARD_STREAMS,
    limits: Limits | None = None,
) -> Ended:
    """Run `command` between two descriptors of ours until it ends.

    Signals are passed on only when called on the main thread: Python allows handlers nowhere else.

    Raises:
        SourceError: the command cannot be started.
    """
    bounds = limits or Limits()
    observer = None
    if observe is not None:
        observer = Observer(observe, bounds.queue_bytes)
    try:
        with Signals(is_terminal=os.isatty(streams.stdin)) as signals, quick_switches():
            child = Child(command)
            signals.send_to(child)
            onlooker = _Onlooker(change, observer)
            _Loop(child, streams, onlooker, bounds).run()
    finally:
        if observer is not None:
            observer.close(bounds.drain_seconds)
    if observer is not None:
        seen = observer.missed, observer.faults
    else:
        seen = 0, []
    return Ended(
        returncode=child.returncode,
        signals=tuple(signals.sent),
        missed=seen[0],
        faults=tuple(onlooker.faults + seen[1]),
    )


def end_as(returncode: int) -> int:
    """The exit code that stands for a child's end. If a signal ended it, the same signal ends this process, now."""
    if returncode >= 0:
        return returncode
    with contextlib.suppress(OSError, ValueError):
        signal.signal(-returncode, signal.SIG_DFL)
        os.kill(os.getpid(), -returncode)
    return 128 - returncode


class _Work:
    """A `Later` on its thread, and the line that waits for it."""

    def __init__(self, later: Later, piece: Piece, at_ns: int, wake: Callable[[], None]) -> None:
        self.piece = piece
        self.at_ns = at_ns
        self.seconds = later.seconds
        self.until = time.monotonic() + later.seconds
        self.is_done = False
        self.passing: Passing | None = None
        self.error: Exception | None = None
        self._work, self._wake = later.work, wake
        threading.Thread(target=self._run, name="relay-later", daemon=True).start()

    def _run(self) -> None:
        try:
            self.passing = self._work()
        except Exception as error:
            self.error = error
        self.is_done = True
        self._wake()


class _Onlooker:
    """Who is asked about lines and shown them. What goes wrong there is no fault of the stream."""

    def __init__(self, change: Change | None, observer: Observer | None) -> None:
        self.faults: list[str] = []
        self._change = change
        self._observer = observer

    @property
    def holds_lines(self) -> bool:
        """Whether lines wait until it has said what becomes of them."""
        return self._change is not None

    def ask(self, way: Way, data: bytes) -> Passing | Later | None:
        """What becomes of a line; None: it goes on as it is."""
        if self._change is None:
            return None
        try:
            return self._change(way, data)
        except Exception as error:
            self.fault(f"{type(error).__name__}: {error}")
            return None

    def result(self, work: _Work) -> Passing | None:
        """The result of an answer that took a while."""
        if not work.is_done:
            self.fault(f"no answer in {work.seconds:g} s, the line went on as it was")
            return None
        if work.error is not None:
            self.fault(f"{type(work.error).__name__}: {work.error}")
        return work.passing

    def fault(self, what: str) -> None:
        """Note what went wrong."""
        if len(self.faults) < _MOST_FAULTS:
            self.faults.append(what)

    def show(self, line: Line, passing: Passing | None) -> None:
        """Show a line, and what went on in its place."""
        if self._observer is None:
            return
        if passing is not None:
            line = replace(line, sent=passing.sent, replies=passing.replies)
        self._observer.give(line)


class _Loop:
    """The thread that moves the bytes."""

    def __init__(self, child: Child, streams: Streams, onlooker: _Onlooker, limits: Limits) -> None:
        self._child, self._onlooker, self._limits = child, onlooker, limits
        self._to = Stream(Way.TO_CHILD, streams.stdin, child.stdin, hold_bytes=limits.hold_bytes)
        self._from = Stream(Way.FROM_CHILD, child.stdout, streams.stdout, hold_bytes=limits.hold_bytes)
        self._streams = (self._to, self._from)
        self._work: dict[Way, _Work] = {}
        self._heads: dict[Way, tuple[bytes, int]] = {}
        self._woken, self._wake_end = os.pipe()
        self._waking = threading.Lock()
        os.set_blocking(self._wake_end, False)

    def run(self) -> None:
        """Move bytes until the child has ended and what it wrote has been passed on."""
        self._child.on_exit(self._wake)
        try:
            while not (self._child.has_exited and self._is_over(self._from)):
                self._turn()
        finally:
            self._to.close_target()
            self._from.close_source()
            os.close(self._woken)
            with self._waking:  # or the number might be another file's by the time a late thread writes to it
                os.close(self._wake_end)
                self._wake_end = -1

    def _wake(self) -> None:
        """Called from other threads: something has happened that no descriptor tells."""
        with self._waking, contextlib.suppress(OSError):
            os.write(self._wake_end, b"!")

    def _turn(self) -> None:
        """Wait until something can be done, and do it."""
        reads = [stream.source for stream in self._streams if stream.source is not None and self._has_room(stream)]
        writes = [stream.target for stream in self._streams if stream.target is not None and stream.waiting]
        had_exited = self._child.has_exited  # before looking: what it wrote last must not be taken for nothing
        wait = 0.0 if had_exited and self._from.source in reads else self._patience()
        readable, writable, _ = select.select([self._woken, *reads], writes, [], wait)
        if self._woken in readable:
            os.read(self._woken, 64)
        for stream in self._streams:
            if stream.target in writable:
                stream.write()
        for stream in self._streams:
            if stream.source is not None and stream.source in readable:
                self._read(stream)
            elif stream is self._from and had_exited and stream.source in reads:
                self._end(stream)  # a grandchild may have it open for ever
            self._go_on(stream)

    def _has_room(self, stream: Stream) -> bool:
        """Whether to read more: nothing is being thought about, and neither side has too much waiting."""
        if stream is self._to:
            other = self._from
        else:
            other = self._to
        full = self._limits.full_bytes
        is_full = stream.waiting >= full or (
            self._onlooker.holds_lines and other.waiting >= full + self._limits.hold_bytes
        )
        return stream.way not in self._work and not is_full

    def _patience(self) -> float | None:
        """Seconds until the time of something is up; None if nothing is under way."""
        now = time.monotonic()
        return min((max(0.0, work.until - now) for work in self._work.values()), default=None)

    def _is_over(self, stream: Stream) -> bool:
        return stream.source is None and not stream.waiting and not stream.pending and stream.way not in self._work

    def _read(self, stream: Stream) -> None:
        chunk = stream.read()
        if chunk == b"":
            self._end(stream)
        elif chunk:
            if not self._onlooker.holds_lines:
                stream.put(chunk)
            stream.pending.extend(stream.lines.feed(chunk))

    def _end(self, stream: Stream) -> None:
        stream.pending.extend(stream.lines.rest())
        stream.close_source()

    def _go_on(self, stream: Stream) -> None:
        """Send on what can be; close the target once all of it is there."""
        work = self._work.get(stream.way)
        if work is not None and (work.is_done or time.monotonic() >= work.until):
            del self._work[stream.way]
            self._settle(stream, work.piece, work.at_ns, self._onlooker.result(work))
        while stream.pending and stream.way not in self._work:
            self._pass_on(stream, stream.pending.popleft())
        if self._is_over(stream):
            stream.close_target()

    def _pass_on(self, stream: Stream, piece: Piece) -> None:
        if not piece.whole:
            self._pass_part(stream, piece)
            return
        at_ns = time.time_ns()
        answer = self._onlooker.ask(stream.way, piece.data)
        if isinstance(answer, Later):
            self._work[stream.way] = _Work(answer, piece, at_ns, self._wake)
        else:
            self._settle(stream, piece, at_ns, answer)

    def _settle(self, stream: Stream, piece: Piece, at_ns: int, passing: Passing | None) -> None:
        """Send a whole line on, or what is in its place, and show it to the observer."""
        if stream is self._to:
            other = self._from
        else:
            other = self._to
        if passing is not None:
            for line in passing.sent:
                stream.put(line)
            for line in passing.replies:
                other.put_between(line)
        elif self._onlooker.holds_lines:
            stream.put(piece.data)
        whole = Line(way=stream.way, data=piece.data, size=len(piece.data), at_ns=at_ns)
        self._onlooker.show(whole, passing)

    def _pass_part(self, stream: Stream, piece: Piece) -> None:
        if self._onlooker.holds_lines:
            stream.put(piece.data)
        head, size = self._heads.pop(stream.way, (b"", 0))
        head, size = head or piece.data[:_HEAD_BYTES], size + len(piece.data)
        if piece.ends:
            self._onlooker.show(Line(way=stream.way, data=head, size=size, at_ns=time.time_ns()), None)
        else:
            self._heads[stream.way] = head, size
