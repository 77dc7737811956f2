"""The front's side of deciding: calls go to a decider, and decisions come back while other deliveries are taken.

Owns how long a decider may take, and what is answered where none is there: one that takes too long or ends is replaced, what
it had not answered is asked again, and the call that it was at is answered as undecided. Must not know how a call is judged.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable

import msgspec

from tallystick.errors import PolicyError
from tallystick.guard.differing import Compared
from tallystick.guard.policy_change import Change
from tallystick.journal.home import Home
from tallystick.model.decision import NO_OPINION, Call, Decision
from tallystick.service.frames import Answer, Answers, Question, written_question
from tallystick.service.template import PID, WANTED, Template
from tallystick.service.unanswered import undecided_on

_LOG = logging.getLogger(__name__)
_PATIENCE_SECONDS = 1.6
"""How long a call waits for its decision, once policies are loaded: its hook answers for itself after two seconds."""
_OVERRUN_SECONDS = 5.0
"""How long a decider may be at one call, before it is taken for one that will not end."""
_START_SECONDS = 10.0
_END_SECONDS = 2.0
_LOOK_SECONDS = 0.1
_MOST_AT_DECIDER = 8
"""So many questions are at the decider, so that it never waits. Of the others, one that is given up costs it nothing."""
_MOST_TRIES = 2

Then = Callable[[Decision], None]


class _Asked(msgspec.Struct):
    """A question that is not answered yet."""

    question: Question
    then: Then
    until: float
    tries: int = 0


class _Decider(asyncio.Protocol):
    """The connection to one decider process."""

    def __init__(self, pid: int, take: Callable[[Answer], None], lost: Callable[[_Decider], None]) -> None:
        self.pid = pid
        self._take = take
        self._lost = lost
        self._answers = Answers()
        self._transport: asyncio.Transport | None = None
        self._at: deque[int] = deque()
        self._since = time.monotonic()
        self.is_ready = False
        """Whether it has loaded the policies."""
        self._is_warm = False
        self._is_lost = asyncio.Event()

    @property
    def at(self) -> int | None:
        """The question that it is at."""
        return self._at[0] if self._at else None

    @property
    def has_room(self) -> bool:
        """Whether it can be asked one more question."""
        return self._transport is not None and len(self._at) < _MOST_AT_DECIDER

    @property
    def has_overrun(self) -> bool:
        """Whether it is at one question for too long. Before it has read the record no one knows what is too long."""
        return self._is_warm and bool(self._at) and time.monotonic() - self._since > _OVERRUN_SECONDS

    def ask(self, question: Question) -> None:
        """Have it answer one more question."""
        if self._transport is None:
            return
        if not self._at:
            self._since = time.monotonic()
        self._at.append(question.number)
        self._transport.write(written_question(question))

    async def end(self) -> None:
        """Let it end."""
        if self._transport is not None and not self._at:
            self._transport.write_eof()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_lost.wait(), _END_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End it, whatever it does."""
        if self._transport is not None:
            self._transport.abort()
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)

    # As asyncio calls it

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It can be asked."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take answers."""
        try:
            for answer in self._answers.taken(data):
                self._since = time.monotonic()
                self.is_ready |= answer.is_ready
                self._is_warm |= answer.is_warm
                if answer.decision is not None:
                    self._at.popleft()
                self._take(answer)
        except (ValueError, IndexError):
            _LOG.exception("a decider says what is no answer")
            self.kill()

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""
        self._transport = None
        self._is_lost.set()
        self._lost(self)


class Deciders:
    """Asks a decider of one store. All in the thread of the event loop."""

    def __init__(self, home: Home, template: Template) -> None:
        """Ask what `template` makes."""
        self._home = home
        self._template = template
        template.channel.setblocking(False)
        self._asked: dict[int, _Asked] = {}
        self._waiting: deque[int] = deque()
        """Questions that are not at the decider yet; some of them may have been given up."""
        self._number = 0
        self._decider: _Decider | None = None
        self._starting: asyncio.Task[None] | None = None
        self._is_closed = False
        self._looking: asyncio.TimerHandle | None = None
        self.replaced = 0
        """How often a decider had to be replaced."""
        self.compared: Callable[[Compared], None] = lambda _: None
        """Called with each recent decision that was made again from the record."""
        self.changed: Callable[[Change], None] = lambda _: None
        """Called when other policies are in force."""

    @property
    def pid(self) -> int | None:
        """The decider's process."""
        return None if self._decider is None else self._decider.pid

    # Asking ---------------------------------------------------------------------------------------------------------

    def decide(self, call: Call, then: Then) -> None:
        """Have a call judged; `then` is called in the end, whatever becomes of deciders."""
        self._ask(call, then, is_after=False)

    def look_after(self, call: Call, then: Then) -> None:
        """Have the files judged that a call has written."""
        self._ask(call, then, is_after=True)

    def _ask(self, call: Call, then: Then, *, is_after: bool) -> None:
        self._number += 1
        asked = _Asked(Question(self._number, call, is_after), then, time.monotonic() + _PATIENCE_SECONDS)
        self._asked[self._number] = asked
        self._waiting.append(self._number)
        self._hand_out()
        if self._looking is None:
            self._look_again()

    def _hand_out(self) -> None:
        """Ask the decider as much of what waits as it has room for."""
        if self._decider is None:
            self.start()
            return
        while self._waiting and self._decider.has_room:
            asked = self._asked.get(self._waiting.popleft())
            if asked is not None:
                self._decider.ask(asked.question)

    def _take(self, answer: Answer) -> None:
        if answer.is_ready:
            for waiting in self._asked.values():
                waiting.until = time.monotonic() + _PATIENCE_SECONDS
        if answer.change is not None:
            self.changed(answer.change)
        if answer.compared is not None:
            self.compared(answer.compared)
        if answer.decision is not None:
            asked = self._asked.pop(answer.number, None)
            if asked is not None:  # else it came too late
                asked.then(answer.decision)
            self._hand_out()

    def _give_up(self, number: int, why: str) -> None:
        """Answer a call that no decider answers."""
        asked = self._asked.pop(number)
        call = asked.question.call
        if asked.question.is_after:
            asked.then(NO_OPINION)
            return
        _LOG.error("a call of %s was not decided on: %s", call.tool, why)
        asked.then(undecided_on(self._home, call, PolicyError(why, hint="run/recorder.log has more")))

    # How long it takes ----------------------------------------------------------------------------------------------

    def _look_again(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        self._looking = asyncio.get_running_loop().call_later(_LOOK_SECONDS, self._look)

    def _look(self) -> None:
        """Answer what waits for too long; end a decider that is at one call for too long."""
        self._looking = None
        decider = self._decider
        is_ready = decider is not None and decider.is_ready
        now = time.monotonic() - (0.0 if is_ready else _START_SECONDS)
        for number in [number for number, asked in self._asked.items() if now > asked.until]:
            self._give_up(number, f"no decision within {_PATIENCE_SECONDS} s")
        if decider is not None and decider.has_overrun:
            _LOG.error("the decider was at one call for %s s and is replaced", _OVERRUN_SECONDS)
            decider.kill()
        if self._asked or (decider is not None and decider.at is not None):
            self._look_again()

    # The decider's process ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Have a decider, unless there is one."""
        if self._decider is None and self._starting is None and not self._is_closed:
            self._starting = asyncio.get_running_loop().create_task(self._started())
            self._starting.add_done_callback(self._has_started)

    def _has_started(self, starting: asyncio.Task[None]) -> None:
        self._starting = None
        if not starting.cancelled() and (error := starting.exception()) is not None:
            _LOG.error("no decider could be started: %s", error)

    async def _started(self) -> None:
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        try:
            try:
                pid = await asyncio.wait_for(self._forked(theirs), _START_SECONDS)
            except (OSError, TimeoutError):  # the template is gone, or does nothing
                self._new_template()
                pid = await asyncio.wait_for(self._forked(theirs), _START_SECONDS)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        decider = _Decider(pid, self._take, self._lost)
        await loop.create_connection(lambda: decider, sock=ours)
        self._decider = decider
        self._waiting = deque(self._asked)
        self._hand_out()

    def _lost(self, decider: _Decider) -> None:
        """A decider has ended: the call that it was at is asked once more, and then no more. Another one goes on."""
        if decider is not self._decider or self._is_closed:
            return
        self._decider = None
        self.replaced += 1
        decider.kill()
        asked = self._asked.get(decider.at or 0)
        if asked is not None:
            asked.tries += 1
            if asked.tries >= _MOST_TRIES:
                self._give_up(asked.question.number, "the decider ended while it was at it")
        if self._asked or decider.is_ready:
            self.start()

    async def _forked(self, theirs: socket.socket) -> int:
        """A decider at the other end of a socket."""
        loop = asyncio.get_running_loop()
        socket.send_fds(self._template.channel, [WANTED], [theirs.fileno()])
        said = await loop.sock_recv(self._template.channel, PID.size)
        if len(said) < PID.size:
            raise ConnectionError("the template has ended")
        return int(PID.unpack(said)[0])

    def _new_template(self) -> None:
        """Start another template: this process has threads now, so it cannot be forked."""
        self._end_template()
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.set_inheritable(True)
        words = ("-I", "-m", "tallystick.service.decider", str(self._home.folder), str(theirs.fileno()))
        no_input = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        pid = os.posix_spawn(sys.executable, (sys.executable, *words), os.environ, file_actions=(no_input,))
        theirs.close()
        self._template = Template(pid, ours)

    def _end_template(self) -> None:
        self._template.channel.close()
        with contextlib.suppress(OSError):
            os.kill(self._template.pid, signal.SIGKILL)
            os.waitpid(self._template.pid, 0)

    async def close(self) -> None:
        """End deciders; what is left is answered as undecided. One that is at no call keeps first what sessions have done."""
        self._is_closed = True
        if self._looking is not None:
            self._looking.cancel()
        if self._starting is not None:
            self._starting.cancel()
        for number in list(self._asked):
            self._give_up(number, "the recorder ends")
        if self._decider is not None:
            await self._decider.end()
        self._end_template()
