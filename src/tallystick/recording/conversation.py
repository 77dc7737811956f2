"""A session's talk with its models: what each call was given and answered, and the calls that models ask for.

Owns which messages are recorded again, which of them a human gave, and which call of the program is one that a model
asked for. Must not know any API.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from tallystick.errors import TallystickError
from tallystick.model.step import Input, Json, Opening, SessionKind, Step
from tallystick.recording.entry_index import written_input
from tallystick.recording.model_inputs import Index, Said, input_of, is_same_result
from tallystick.recording.record import SessionRecord, as_said
from tallystick.recording.writable_session import WritableSession, Writes

_MOST_ASKED = 256
_MOST_REMEMBERED = 50_000
_MOST_ANSWERS = 256


class Conversation:
    """What the models of one session are given and answer."""

    def __init__(self, session: ConversingSession) -> None:
        self._session = session
        self._index = Index()
        self._lock = threading.RLock()
        self._found: dict[bytes, int] = {}
        """Where the things that have ids stand, by their keys."""
        self._asked: list[tuple[str, str, Json]] = []
        self._answers: OrderedDict[str, tuple[int, ...]] = OrderedDict()

    # What a model is given ------------------------------------------------------------------------------------------

    def give(self, said: Sequence[Said]) -> tuple[int, ...]:
        """The entries that hold what a model is given, in its order; what no entry holds is recorded.

        Raises:
            FormatError: something of it cannot be sealed. JournalError: it cannot be written.
        """
        with self._lock:
            numbers: list[int] = []
            used: set[int] = set()
            self._index.catch_up(self._session.record())
            for item in said:
                n = None
                if item.source_id is not None:
                    n = self._named(item)
                if n is None:
                    n = self._holding(item, used, numbers[-1] if numbers else -1)
                numbers.append(n)
                used.add(n)
            return tuple(numbers)

    def _named(self, said: Said) -> int | None:
        """The entry of something that has an id, where it was found before; None if it was not."""
        return self._found.get(said.key)

    def try_give(self, said: Sequence[Said]) -> tuple[int, ...] | None:
        """The same; None if it fails, which must not break the agent."""
        try:
            return self.give(said)
        except (TallystickError, TypeError, ValueError, OSError) as error:
            self._session.note_loss("message", error)
            return None

    def _holding(self, said: Said, used: set[int], after: int) -> int:
        n = self._find_or_record(said, used, after)
        if said.source_id is not None:
            if len(self._found) >= _MOST_REMEMBERED:
                self._found.clear()
            self._found[said.key] = n
        return n

    def _find_or_record(self, said: Said, used: set[int], after: int) -> int:
        known = None
        if said.source_id is not None:
            known = self._session.record().known.find(said.source_id)
        if known is not None and said.type == "tool_result":
            recorded = self._session.read(known)
            if is_same_result(recorded, said):
                return known
            # The model was given another text than the tool gave: both stand, the later as a revision.
            kept = {key: recorded.meta[key] for key in ("tool", "success", "duration_ms") if key in recorded.meta}
            return self._record(said, {**said.meta, **kept})
        if said.type == "tool_result" and "tool" not in said.meta:
            said = replace(said, meta={**self._tool_of(said), **said.meta})
        if known is None and (found := self._index.find(said, used, after)) is not None:
            return found
        return self._record(said, said.meta)

    def _tool_of(self, result: Said) -> dict[str, Json]:
        """The tool of the call that a result is of, as its call says."""
        corr = result.meta.get("corr")
        n = None
        if isinstance(corr, str):
            n = self._session.record().known.find(corr)
        tool = None
        if n is not None:
            tool = self._session.read(n).meta.get("tool")
        if tool is not None:
            return {"tool": tool}
        return {}

    def _record(self, said: Said, meta: Mapping[str, Json]) -> int:
        human = said.type == "user" and "origin" not in meta and self._is_from_human()
        if said.type == "user" and not human:
            child = self._session.kind is SessionKind.CHILD
            meta = {"origin": "parent" if child else "program", **meta}
        return self._session.put(self._step(said, meta, opens_request=human)).n

    def _step(self, said: Said, meta: Mapping[str, Json], *, opens_request: bool = False) -> Step:
        return Step(
            session=self._session.source_session,
            type=said.type,
            source=self._session.source,
            source_id=said.source_id,
            meta=as_said(meta),
            values=as_said(said.values),
            opens_request=opens_request,
        )

    def _is_from_human(self) -> bool:
        """Whether a user message that no step holds is a prompt.

        It is, unless the program says itself which prompts there are, or asks from within a call or a sub-agent.
        """
        session = self._session
        return not session.is_prompted and session.kind is SessionKind.ROOT and session.place().within is None

    def input_of(self, numbers: Sequence[int]) -> Json:
        """The `input` member of a call that was given these entries."""
        known = self._session.record().known
        return input_of(numbers, [known.hash_at(n) for n in numbers]) or Input.HIDDEN.value

    def path_to(self, tip: int) -> Json:
        """The `input` member of a call that was given all steps on the path to an entry."""
        return written_input(self._session.record().known.path_to(tip), tip)

    # What it answers ------------------------------------------------------------------------------------------------

    def answer(self, said: Sequence[Said], *, response: str | None, given: tuple[int, ...] | None) -> None:
        """Record what a model answered. The calls that it asks for are kept in mind for `claim`."""
        numbers: list[int] = []
        for item in said:
            taken = self._session.try_put(self._step(item, item.meta))
            if taken is not None:
                numbers.append(taken.n)
            if item.type == "tool_call" and item.source_id is not None:
                self._asked.append((item.source_id, str(item.meta.get("tool")), item.values.get("content.args")))
        del self._asked[:-_MOST_ASKED]
        if response is not None and given is not None:
            self._answers[response] = (*given, *numbers)
            while len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)

    def up_to(self, response: str) -> tuple[int, ...] | None:
        """The entries of an earlier call and its answer, which a later one may name instead of repeating them.

        None if this process did not see it.
        """
        return self._answers.get(response)

    # Calls it asks for ----------------------------------------------------------------------------------------------

    def claim(self, tool: str, args: Json) -> str | None:
        """The id of the oldest call that a model asked for with this tool and these arguments and that no one made yet."""
        with self._lock:
            for number, (call_id, name, asked) in enumerate(self._asked):
                if name == tool and asked == args:
                    del self._asked[number]
                    return call_id
        return None

    def asked(self, call_id: str) -> Json:
        """The arguments of a call that is recorded; None if none is."""
        n = self._session.record().known.find(call_id)
        if n is None:
            return None
        return self._session.read(n).values.get("content.args")

    def take(self, call_id: str) -> None:
        """Say that the call with this id is being made."""
        with self._lock:
            self._asked[:] = [call for call in self._asked if call[0] != call_id]


class ConversingSession(WritableSession):
    """A session whose talk with its models is recorded."""

    def __init__(self, recorder: Writes, record: SessionRecord, opening: Opening) -> None:
        super().__init__(recorder, record, opening)
        self.is_prompted = False
        """Whether the program says itself which prompts there are."""
        self.conversation = Conversation(self)
