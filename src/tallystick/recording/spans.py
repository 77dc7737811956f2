"""Blocks of a program that are recorded when they begin and when they end: calls and requests.

Owns what is recorded at either end, and that what happens within is recorded as being within. Must not know how a step
finds its parents: the session does; nor other sessions.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from msgspec.structs import replace

from tallystick.model.step import Json, Step
from tallystick.recording.context import ExecutionContext
from tallystick.recording.conversation import ConversingSession
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.messages import said_of, tool_call
from tallystick.recording.model_inputs import Said
from tallystick.recording.record import as_said
from tallystick.recording.session_writer import Taken

_INTERRUPTIONS = (KeyboardInterrupt, asyncio.CancelledError, GeneratorExit)


class Block:
    """What all blocks do: they work with `with` and with `async with`, and end once."""

    session: ConversingSession

    def begin(self) -> None:
        """Record the beginning."""
        raise NotImplementedError

    def end(self, error: BaseException | None) -> None:
        """Record the end."""
        raise NotImplementedError

    def __enter__(self) -> Any:
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(error)

    async def __aenter__(self) -> Any:
        self.begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end(error)


class Enclosing(Block):
    """A block whose beginning encloses the steps that are recorded within it.

    Attributes:
        quiet: a fault of the recorder does not reach the program; what was lost is told of by a `gap`.
        n: the entry of the beginning; None if it could not be recorded.
    """

    def __init__(self, session: ConversingSession) -> None:
        self.session = session
        self.quiet = False
        self.n: int | None = None
        self.began = 0.0
        self._strand: ExecutionContext | None = None
        self._outer: int | None = None

    def quietly(self) -> Self:
        """The block, which from now on is quiet."""
        self.quiet = True
        return self

    def put(self, step: Step) -> Taken | None:
        """Record a step as this block is wont to."""
        if self.quiet:
            return self.session.try_put(step)
        return self.session.put(step)

    def step(self, kind: str, values: Mapping[str, Json], **more: Any) -> Step:
        """A step of the session of this block."""
        return Step(
            session=self.session.source_session,
            type=kind,
            source=self.session.source,
            meta=as_said(more.pop("meta", {})),
            values=as_said(values),
            **more,
        )

    def go_in(self, n: int | None) -> None:
        """What comes next is within entry `n`."""
        self.began = time.monotonic()
        self.n = n
        place = self.session.place()
        self._outer, self._strand = place.within, place.strand
        place.strand.open += 1
        if n is not None:
            self.session.move(replace(place, within=n, tip=n))

    def go_out(self) -> None:
        """What comes next is beside this block. It may end elsewhere than it began, as generators do."""
        if self._strand is not None:
            self._strand.open -= 1
            self._strand = None
        place = self.session.place()
        if self.n is not None and place.within == self.n:
            self.session.move(replace(place, within=self._outer))

    def leave(self) -> int | None:
        """Step out for a while, as a generator does when it yields; the call that encloses what comes next."""
        place = self.session.place()
        if self.n is not None and place.within == self.n:
            self.session.move(replace(place, within=self._outer))
        return self.n

    def come_back(self) -> None:
        """Step in again, wherever this is now."""
        if self.n is not None:
            place = self.session.place()
            self._outer = place.within
            self.session.move(replace(place, within=self.n))

    def duration_ms(self) -> int:
        """Milliseconds since it began."""
        return round((time.monotonic() - self.began) * 1000)


def said_error(error: BaseException) -> str:
    """An exception for the record: its class and its words."""
    return f"{type(error).__name__}: {error}"


class ToolCall(Enclosing):
    """A tool call that is being recorded. Set `output` (and `success`) before leaving the block.

    An exception in the block is recorded as the call's failure, and goes on.
    """

    def __init__(self, session: ConversingSession, tool: str, args: Json, call_id: str | None) -> None:
        super().__init__(session)
        self.call_id = call_id or ""
        self.output: Json = None
        self.success: bool | None = None
        self.tool = tool
        self.args = args
        self._before: int | None = None

    def begin(self) -> None:
        """Record the call."""
        talk = self.session.conversation
        if self.call_id:
            talk.take(self.call_id)
        else:
            self.call_id = talk.claim(self.tool, self.args) or f"call_{uuid.uuid4().hex}"
        before = self.session.place().tip
        meta = {"corr": self.call_id, "tool": self.tool}
        taken = self.put(self.step("tool_call", {"content.args": self.args}, source_id=self.call_id, meta=meta))
        if taken is not None and taken.outcome is not Outcome.RECORDED:
            self._before = before  # the model asked for it a while ago; it is made now
        if taken is not None:
            self.go_in(taken.n)
        else:
            self.go_in(None)

    def end(self, error: BaseException | None) -> None:
        """Record the result."""
        values = {"content.output": self.output}
        meta: dict[str, Json] = {"corr": self.call_id, "tool": self.tool, "duration_ms": self.duration_ms()}
        meta["success"] = error is None if self.success is None else self.success
        if error is not None:
            values["content.error"] = said_error(error)
            if isinstance(error, _INTERRUPTIONS):
                meta["interrupted"] = True
        if self.n is not None:
            after = self.session.result_of(self.n, self._before)
        else:
            after = ()
        self.go_out()
        self.put(self.step("tool_result", values, source_id=f"{self.call_id}/result", after=after, meta=meta))


class ModelCall(Enclosing):
    """A model call that is being recorded. Say what it answered (`says`, `thinks`, `calls`) before leaving the block.

    Attributes:
        id: the answer's own id. model: the model that answered, if another than was asked. tokens: `input` (what no cache
        gave), `output`, `cache_read`, `cache_write`, `reasoning`. stop_reason: why it stopped. meta: further members.
    """

    def __init__(
        self,
        session: ConversingSession,
        model: str | None,
        messages: Sequence[Json | Said] | None,
        settings: Mapping[str, Json],
    ) -> None:
        super().__init__(session)
        self.id: str | None = None
        self.model = model
        self.tokens: Mapping[str, int] = {}
        self.stop_reason: str | None = None
        self.meta: dict[str, Json] = {}
        self.error: str | None = None
        """What went wrong, where no exception says it."""
        self.is_hidden = False
        """True: the model was given more than the messages, which this program does not see."""
        self.before: tuple[int, ...] = ()
        """The entries of an earlier call and its answer, from which this one goes on without repeating them."""
        self.given: tuple[int, ...] | None = None
        """The entries that hold all the model was given."""
        self._messages = messages
        self._lasting: tuple[int, ...] | None = None
        self._settings = settings
        self._said: list[Said] = []

    def begin(self) -> None:
        """Record what the model is given."""
        self.began = time.monotonic()
        if self._messages is None:
            return
        self._messages = messages = list(said_of(self._messages))
        talk = self.session.conversation
        if self.quiet:
            given = talk.try_give(messages)
        else:
            given = talk.give(messages)
        if given is None:
            return
        self.given = (*self.before, *given)
        lasting = (n for n, said in zip(given, messages, strict=True) if said.is_lasting)
        self._lasting = (*self.before, *lasting)

    def says(self, text: str) -> None:
        """The model said this."""
        self.adds(Said(type="assistant", values={"content.text": text}))

    def thinks(self, text: str) -> None:
        """The model thought this before it answered."""
        self.adds(Said(type="assistant", values={"content.thinking": text}))

    def calls(self, tool: str, args: Json, call_id: str | None = None) -> None:
        """The model asks for this call. The call that `tool_call` makes of it is recorded as the same."""
        self.adds(tool_call(call_id, tool, args))

    def adds(self, said: Said) -> None:
        """Something the model answered."""
        self._said.append(said)

    def end(self, error: BaseException | None) -> None:
        """Record the call and its answer."""
        values: dict[str, Json] = {"content.settings": dict(self._settings) or None, "content.error": self.error}
        meta: dict[str, Json] = {**self.meta, "model": self.model, "duration_ms": self.duration_ms()}
        meta |= {"response": self.id, "stop_reason": self.stop_reason, "tokens": dict(self.tokens) or None}
        if error is not None:
            values["content.error"] = said_error(error)
        if error is not None or self.error is not None:
            meta["success"] = False
        meta["input"] = self._input()
        source_id = None
        if self.id:
            source_id = f"{self.id}/usage"
        self.put(self.step("model_call", values, source_id=source_id, meta=meta))
        self.session.conversation.answer(self._named(), response=self.id, given=self._lasting)

    def _input(self) -> Json:
        talk = self.session.conversation
        if self.is_hidden or (self._messages is not None and self.given is None):
            return "not-visible"
        if self.given is None:
            tip = self.session.place().tip
            if tip is None:
                return None
            return talk.path_to(tip)
        return talk.input_of(self.given)

    def _named(self) -> list[Said]:
        """What was answered, under ids: block k of the answer where it has no id of its own."""
        if not self.id:
            return self._said
        return [
            said if said.source_id is not None else _with_id(said, f"{self.id}/{k}")
            for k, said in enumerate(self._said)
        ]


def _with_id(said: Said, source_id: str) -> Said:
    return replace(said, source_id=source_id)


class Request(Block):
    """A human prompt and what is done for it. Steps within carry its number, also those of tasks begun within."""

    def __init__(self, session: ConversingSession, text: str, meta: Mapping[str, Json]) -> None:
        self.session = session
        self.n: int | None = None
        self._text = text
        self._meta = meta
        self._outer: int | None = None

    def begin(self) -> None:
        """Record the prompt."""
        session = self.session
        self._outer = session.place().request
        step = Step(
            session=session.source_session,
            type="user",
            source=session.source,
            meta=as_said(self._meta),
            values=as_said({"content.text": self._text}),
            opens_request=True,
        )
        self.n = session.put(step).n

    def end(self, error: BaseException | None) -> None:
        """What comes next is no longer for this prompt."""
        place = self.session.place()
        if place.request == self.n:
            self.session.move(replace(place, request=self._outer))
