"""Asking the store without keeping the screen waiting.

Owns the threads: each lane is one, with an index of its own, and answers one question after the other. A question that
no one waits for any more is not begun. Must not know what is asked.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from tallystick.journal.home import Home
from tallystick.review.browse import Reader

_T = TypeVar("_T")
_PATIENCE_S = 0.3


class StoppedError(Exception):
    """The screen was closed while something long was being done."""


class Lane:
    """One thread that answers questions."""

    def __init__(self, home: Home) -> None:
        self.waiting = 0
        """How many questions are not answered yet."""
        self.stopped = threading.Event()
        self._home = home
        self._asked: SimpleQueue[_Question | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    async def ask(self, question: Callable[[Reader], _T]) -> _T:
        """The answer to a question, which is asked in the lane's thread. Raises what the question raises."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._answer_all, daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_T] = loop.create_future()
        self.waiting += 1
        try:
            self._asked.put(_Question(question, future, loop))
            return await future
        finally:
            self.waiting -= 1

    def check(self, *_: object) -> None:
        """Raise StoppedError once the lane was closed: for what takes long."""
        if self.stopped.is_set():
            raise StoppedError

    def close(self) -> None:
        """End the thread; something long is given up at its next `check`."""
        self.stopped.set()
        self._asked.put(None)
        if self._thread is not None:
            self._thread.join(_PATIENCE_S)

    def _answer_all(self) -> None:
        reader = Reader(self._home)
        try:
            while (question := self._asked.get()) is not None and not self.stopped.is_set():
                question.answer(reader)
        finally:
            reader.close()


class _Question:
    def __init__(
        self, question: Callable[[Reader], Any], future: asyncio.Future[Any], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._question = question
        self._future = future
        self._loop = loop

    def answer(self, reader: Reader) -> None:
        if self._future.cancelled():
            return
        try:
            answer, error = self._question(reader), None
        except Exception as raised:
            reader.close()  # the next question opens the index again: it may have been another file
            answer, error = None, raised
        try:
            self._loop.call_soon_threadsafe(self._deliver, answer, error)
        except RuntimeError:
            return  # the screen is gone

    def _deliver(self, answer: Any, error: Exception | None) -> None:
        if self._future.done():
            return
        if error is not None:
            self._future.set_exception(error)
        else:
            self._future.set_result(answer)
