"""What the full screen is made of: its panes, the lanes in which the store is asked, and the line that says what happened.

Owns that nothing which takes time is done while keys wait, that a newer question takes the place of an older one, and
that an error is reported with what to do next. Must not know what is asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, ClassVar

from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container

from tallystick.display.text import one_line
from tallystick.errors import TallystickError
from tallystick.journal.home import Home
from tallystick.tui.bars import Bar, Prompt, hint_pieces
from tallystick.tui.detail import Text
from tallystick.tui.keys import bindings
from tallystick.tui.lanes import Lane, StoppedError
from tallystick.tui.theme import BAD, BOLD, NOTE, PLAIN, Piece
from tallystick.tui.timeline import Timeline
from tallystick.tui.tree import Tree

_SLIM, _WIDE = 40, 100
_HIGH = 10
_TOLD_EVERY_S = 0.2
_THEME = "ansi-dark"
"""The terminal's own colours: it looks as the rest of the terminal does, light or dark, and 16 of them are enough."""

FOLLOWING = "follow"
"""The one task that never ends by itself."""
_HUNG_UP = 128 + signal.SIGHUP
_LEAVE_S = 2.0
"""So long the screen has to end by itself once its terminal is gone."""


def _wait_for_hang_up(terminal: int, ends: Callable[[], object]) -> None:
    """End where the terminal is gone, though no signal may tell it: what reads the keys would ask it for ever.

    What writes to it has died then, and anyone who draws may wait for that for ever too.
    """
    look = select.poll()
    look.register(terminal, 0)  # nothing is asked for: that it hung up is reported unasked
    if not any(told & (select.POLLHUP | select.POLLERR) for _, told in look.poll()):
        return  # a system that cannot look at terminals
    with contextlib.suppress(RuntimeError):  # it has ended meanwhile
        ends()
    time.sleep(_LEAVE_S)
    os._exit(_HUNG_UP)


class Frame(App[None]):
    """The panes, and asking beside the keys."""

    CSS_PATH = "styles.tcss"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_WIDE, "-wide")]  # noqa: RUF012 - declared so above
    VERTICAL_BREAKPOINTS = [(0, "-low"), (_HIGH, "-high")]  # noqa: RUF012 - likewise
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "quit", show=False, priority=True), *bindings()]

    def __init__(self, home: Home) -> None:
        super().__init__(ansi_color=True)
        self.set_reactive(App.theme, _THEME)
        self.home = home
        self.rows_lane, self.detail_lane = Lane(home), Lane(home)
        self.work_lane, self.verdict_lane = Lane(home), Lane(home)
        self.said: Piece = ("", PLAIN)
        self.advice = ""
        """What to do next where something went wrong: it stands where the keys stand else."""
        self.fault: Exception | None = None
        """What went wrong that should never: for anyone who tests this."""
        self.ended_by: Exception | None = None
        """What ended the screen, if it was not a key: for anyone who opened it to say."""
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def compose(self) -> ComposeResult:
        """Two lines above, three panes, and the lines below."""
        yield Bar(self.header_pieces, id="header")
        yield Bar(self.badge_pieces, id="badge")
        with Container(id="panes"):
            yield Tree()
            with Container(id="right"):
                yield Timeline(self.wants)
                yield Text(id="detail", empty="no step")
        yield Prompt()
        yield Bar(self.status_pieces, id="status")
        yield Bar(self.hint_pieces, id="hints")

    def on_mount(self) -> None:
        """Nothing is typed yet; the keys are the steps'."""
        self.prompt.end()
        self.sessions.border_title, self.timeline.border_title, self.detail.border_title = "Sessions", "Steps", "Detail"
        self.show_detail(self.size.width >= _WIDE)
        self.sessions.display = self.size.width >= _SLIM
        self.timeline.focus()
        for number in (signal.SIGTERM, signal.SIGHUP):  # the terminal is given back as it was
            with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, self.exit, None, 128 + number)
        if not self.is_headless and sys.__stdin__ is not None:
            ends = partial(asyncio.get_running_loop().call_soon_threadsafe, self.exit, None, _HUNG_UP)
            threading.Thread(target=_wait_for_hang_up, args=(sys.__stdin__.fileno(), ends), daemon=True).start()

    def on_unmount(self) -> None:
        """No one waits for an answer any more."""
        for task in self._tasks.values():
            task.cancel()
        for lane in (self.rows_lane, self.detail_lane, self.work_lane, self.verdict_lane):
            lane.close()

    def _handle_exception(self, error: Exception) -> None:
        """A fault of ours ends the screen. Textual would print what was in memory: the record, and it is hostile."""
        if os.environ.get("TALLY_DEBUG"):
            super()._handle_exception(error)
            return
        self.ended_by = self.ended_by or error
        self._return_code = 1
        if self._exception is None:  # what plays the screen in tests looks here
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()

    # The panes ------------------------------------------------------------------------------------------------------

    @property
    def sessions(self) -> Tree:
        """The sessions."""
        return self.screen_stack[0].query_one(Tree)

    @property
    def timeline(self) -> Timeline:
        """The steps."""
        return self.screen_stack[0].query_one(Timeline)

    @property
    def detail(self) -> Text:
        """Everything of a step."""
        return self.screen_stack[0].query_one("#detail", Text)

    @property
    def prompt(self) -> Prompt:
        """The line that is typed in."""
        return self.screen_stack[0].query_one(Prompt)

    def show_detail(self, shown: bool) -> None:
        """Show the detail, or give its lines to the steps."""
        if not shown and self.detail.has_focus:
            self.timeline.focus()
        self.detail.display = shown
        self.screen_stack[0].set_class(shown, "-detail")

    def redraw(self) -> None:
        """Draw the lines above and below again."""
        self._draw("Bar")

    def _draw(self, which: str) -> None:
        """Draw some of those lines again. There are none any more while the screen ends, and others may still tell things."""
        for screen in self.screen_stack[:1]:
            for bar in screen.query(which):
                bar.refresh()

    def say(self, text: str, look: Style = PLAIN, *, advice: str = "") -> None:
        """Tell something in the line at the bottom, and in the one below what to do next."""
        had_advice, self.advice = self.advice, one_line(advice)
        self.said = (one_line(text), look)
        self._draw("#status")
        if self.advice or had_advice:
            self._draw("#hints")

    def header_pieces(self, width: int) -> list[Piece]:
        """What is open. For the classes below to say, as the next three."""
        return []

    def badge_pieces(self, width: int) -> list[Piece]:
        """How far it can be trusted."""
        return []

    def status_pieces(self, width: int) -> list[Piece]:
        """Where one is in it."""
        return [self.said]

    def hint_pieces(self, width: int) -> list[Piece]:
        """The keys, or what to do next."""
        if self.advice:
            return [(" → ", BOLD), (self.advice, PLAIN)]
        return hint_pieces(width)

    def wants(self, block: int) -> None:
        """Rows are to be drawn that are not there."""

    # Beside the keys ------------------------------------------------------------------------------------------------

    def begin(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside the keys. What was begun under the same name before is given up."""
        self.end(name)
        task = asyncio.create_task(self._report_errors(work))
        self._tasks[name] = task
        task.add_done_callback(lambda done: self._task_ended(name, done, work))

    def end(self, *names: str) -> None:
        """Give up what was begun under these names."""
        for name in names:
            task = self._tasks.pop(name, None)
            if task is not None:
                task.cancel()

    def end_all(self, beginning: str) -> None:
        """Give up all whose names begin so."""
        self.end(*[name for name in self._tasks if name.startswith(beginning)])

    def has_begun(self, name: str) -> bool:
        """Whether it is being done."""
        return name in self._tasks

    def is_settled(self, *besides: str) -> bool:
        """Whether nothing is being done, but following and what is named."""
        return not (self._tasks.keys() - {FOLLOWING, *besides})

    def _task_ended(self, name: str, task: asyncio.Task[None], work: Coroutine[Any, Any, None]) -> None:
        work.close()  # what was given up before it began would be complained of
        if self._tasks.get(name) is task:
            del self._tasks[name]

    async def _report_errors(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it, and say what went wrong."""
        try:
            await work
        except StoppedError:
            return
        except (TallystickError, OSError) as error:
            self.tell_error(error)
        except Exception as error:
            if not self.is_running:  # the screen that it was for is gone
                return
            self.fault = error
            if os.environ.get("TALLY_DEBUG"):
                raise
            self.say(f"✕ internal error: {type(error).__name__}: {error}", BAD)

    def tell_error(self, error: Exception) -> None:
        """An error, and what to do next."""
        text = str(error)
        if isinstance(error, OSError):
            if error.filename:
                text = f"{error.filename}: {error.strerror}"
            else:
                text = error.strerror or text
        self.say(f"✕ {text}", BAD, advice=getattr(error, "hint", None) or "")

    def progress(self, lane: Lane, doing: str) -> Callable[[int], None]:
        """What a lane calls with how many bytes more were read: it is reported, and stops when the screen is closed."""
        loop = asyncio.get_running_loop()
        done, last = 0, 0.0

        def told(more: int) -> None:
            nonlocal done, last
            lane.check()
            done += more
            if time.monotonic() - last > _TOLD_EVERY_S:
                last = time.monotonic()
                loop.call_soon_threadsafe(self.say, f"{doing}: {done / 1e6:,.1f} MB read", NOTE)

        return told
