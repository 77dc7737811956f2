"""One session as it is spoken of over ACP: messages, calls, questions, effects, turns.

Owns what each message of a session becomes. Must not know how messages are paired with their answers: `acp` does that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from tallystick.agents.claude_code.blocks import Parts
from tallystick.agents.hermes.acp import reported_provenance
from tallystick.agents.hooks import UNNAMED
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.point import Point, after
from tallystick.agents.kit.reading import dict_of, int_of, list_of, text_of
from tallystick.agents.protocols._acp_calls import Call, Calls, call_step, is_ready, result_step
from tallystick.agents.protocols._acp_words import WITH_HISTORIES, dialect
from tallystick.model.moments import epoch_time
from tallystick.model.step import Event, Json, Opening, Ref, SessionKind, Source, Step

_SPEECH = {"agent_message_chunk": "content.text", "agent_thought_chunk": "content.thinking"}
_ROLLOVERS = ("turn_boundary_rollover", "turn_boundary_rollover_recovered")
_MOST_REPLAY = 32 << 20
_TOKENS = (
    ("inputTokens", "input"),
    ("outputTokens", "output"),
    ("cachedReadTokens", "cache_read"),
    ("cachedWriteTokens", "cache_write"),
    ("thoughtTokens", "reasoning"),
)


def moment(at_ns: int) -> str | None:
    """A time of our clock as the format writes it."""
    return epoch_time(at_ns / 1e9)


class Speech(msgspec.Struct):
    """A message of the agent that is still coming in."""

    field: str
    message: str | None
    at_ns: int
    texts: list[str] = []
    blocks: list[Json] = []


class Turn(msgspec.Struct):
    """A prompt that has no answer so far."""

    at_ns: int
    cancelled: bool = False


class Session:
    """The state of one session. All its methods give the events to record, in order."""

    def __init__(self, acp_id: str, agent: str) -> None:
        self.acp_id = acp_id
        self.name = acp_id
        """The agent's own id of the session that is live now. Hermes changes it when it compacts."""
        self.agent = agent
        self.calls = Calls(agent)
        self.turns: dict[object, Turn] = {}
        self.replaying = 0
        self.opened = False
        self.closed = False
        self._children: set[str] = set()
        self._speech: Speech | None = None
        self._blocks: dict[str, int] = {}
        self._usage: dict[str, Json] = {}
        self._options: dict[str, Json] = {}
        self._commands: Json = None
        self.terminals: dict[str, dict[str, Json]] = {}
        self._compactions: dict[str, list[str]] = {}
        self._replay: list[Json] = []
        self._replayed = 0
        self._replay_bytes = 0

    # Steps --------------------------------------------------------------------------------------------------------------

    def step(self, kind: str, at_ns: int, meta: Mapping[str, Json], values: Mapping[str, Json] = {}) -> Step:
        """A step of this session without a name."""
        return self.at(at_ns).step(kind, meta, values)

    def at(self, at_ns: int, source_id: str | None = None) -> Point:
        """The point of a step of this session."""
        return Point(self.name, source_id, moment(at_ns), Source.ACP)

    def about(self, call: Call | None, step: Step) -> Step:
        """A step where the call is recorded that it is about, after that call if it is."""
        step = msgspec.structs.replace(step, session=self._home(call))
        if call is not None and call.is_told:
            return after(step, call.source_id)
        return step

    def prompted(self, key: object, params: dict[str, Json], at_ns: int) -> Iterator[Event]:
        """The editor sent a prompt."""
        yield from self.fall_silent()
        self.turns[key] = Turn(at_ns)
        parts = Parts()
        blocks = list_of(params.get("prompt"))
        texts = [dict_of(block).get("text") for block in blocks if dict_of(block).get("type") == "text"]
        values: dict[str, Json] = {"content.text": "\n\n".join(text for text in texts if isinstance(text, str)) or None}
        if any(dict_of(block).get("type") != "text" for block in blocks):
            values["content.blocks"] = parts.out_of(blocks)
        trace = text_of(dict_of(params.get("_meta")).get("traceparent"))
        meta = {"traceparent": trace, "queued": len(self.turns) > 1 or None}
        step = self.at(at_ns).step("user", meta, values, parts.raw)
        yield msgspec.structs.replace(step, opens_request=True)

    def cancelled(self, at_ns: int) -> Iterator[Event]:
        """The editor asked the agent to stop."""
        for turn in self.turns.values():
            turn.cancelled = True
        yield self.step("system", at_ns, {"subtype": "cancel", "turns": len(self.turns)})

    def answered(self, key: object, result: dict[str, Json], at_ns: int) -> Iterator[Event]:
        """The agent answered a prompt: the turn is over."""
        yield from self.fall_silent()
        turn = self.turns.pop(key, None)
        yield from self._used(result, at_ns)
        meta: dict[str, Json] = {"subtype": "turn_end", "stop_reason": text_of(result.get("stopReason"))}
        if turn is not None:
            meta |= {"cancelled": turn.cancelled or None, "duration_ms": max(0, (at_ns - turn.at_ns) // 1_000_000)}
        yield self.step("system", at_ns, meta)

    def _used(self, result: dict[str, Json], at_ns: int) -> Iterator[Event]:
        """What the turn used, if anything is said; some agents give the sums of the session so far."""
        usage = dict_of(result.get("usage"))
        tokens = {name: usage[key] for key, name in _TOKENS if int_of(usage.get(key)) is not None}
        scope = dialect(self.agent).usage_scope
        member = "tokens"
        if self.agent in WITH_HISTORIES:
            member = f"{scope}_tokens"
        meta = dict(self._usage)
        if tokens:
            meta[member] = tokens
        self._usage = {}
        if meta:
            yield self.step("usage", at_ns, {"scope": scope, **meta})

    def failed(self, key: object, what: str, error: dict[str, Json], at_ns: int) -> Iterator[Event]:
        """A request of the editor was answered with an error."""
        yield from self.fall_silent()
        turn = self.turns.pop(key, None)
        took = None
        if turn is not None:
            took = max(0, (at_ns - turn.at_ns) // 1_000_000)
        meta = {"subtype": "rpc_error", "method": what, "code": int_of(error.get("code")), "duration_ms": took}
        values = {"content.error": text_of(error.get("message")), "content.details": error.get("data")}
        yield self.step("warning", at_ns, meta, values)

    # Updates ------------------------------------------------------------------------------------------------------------

    def updated(self, update: dict[str, Json], at_ns: int, size: int) -> Iterator[Event]:
        """A `session/update`."""
        if self.replaying:
            self._remember(update, size)
            return
        kind = text_of(update.get("sessionUpdate")) or ""
        if kind in _SPEECH:
            yield from self._spoken(kind, update, at_ns)
            return
        if kind in ("tool_call", "tool_call_update"):
            yield from self.fall_silent()
            yield from self._called(update, at_ns)
            return
        take = _UPDATES.get(kind)
        if take is not None:
            yield from take(self, update, at_ns)
        elif kind == "user_message_chunk":
            yield from self.fall_silent()
            meta = {"origin": "echo", "subtype": kind}
            yield self.step("user", at_ns, meta, {"content.blocks": [update.get("content")]})
        else:
            yield self.step("system", at_ns, {"subtype": "update", "kind": kind}, {"content.raw": update})

    def _spoken(self, kind: str, update: dict[str, Json], at_ns: int) -> Iterator[Event]:
        field, message = _SPEECH[kind], text_of(update.get("messageId"))
        if self._speech is not None and (self._speech.field, self._speech.message) != (field, message):
            yield from self.fall_silent()
        if self._speech is None:
            self._speech = Speech(field, message, at_ns)
        content = dict_of(update.get("content"))
        text = text_of(content.get("text"))
        if content.get("type") == "text" and text is not None:
            self._speech.texts.append(text)
        else:
            self._speech.blocks.append(content)

    def fall_silent(self) -> Iterator[Event]:
        """The message that was coming in is whole."""
        speech, self._speech = self._speech, None
        if speech is None:
            return
        text = "".join(speech.texts)
        if not text and not speech.blocks:
            return
        parts = Parts()
        values: dict[str, Json] = {speech.field: text or None}
        if speech.blocks:
            values["content.blocks"] = parts.out_of(speech.blocks)
        step = self.at(speech.at_ns, self._block_id(speech.message)).step("assistant", {}, values, parts.raw)
        yield step

    def _block_id(self, message: str | None) -> str | None:
        """The id of a block. Histories that we know name blocks otherwise: there, words are found by what they say."""
        if message is None or self.agent in WITH_HISTORIES:
            return None
        number = self._blocks.get(message, 0)
        self._blocks = {message: number + 1}  # a message is over when the next one begins
        return f"{message}/{number}"

    def _called(self, update: dict[str, Json], at_ns: int) -> Iterator[Event]:
        call = self.calls.merge(update, at_ns)
        if call is None:
            yield self.step("system", at_ns, {"subtype": "update", "kind": "tool_call"}, {"content.raw": update})
            return
        if is_ready(call):
            yield from self._told(call)
        if call.status in ("completed", "failed"):
            yield result_step(call, self.agent, self._home(call), moment(at_ns), at_ns)

    def _told(self, call: Call) -> Iterator[Event]:
        """A call, in the session of the sub-agent that made it, which is begun if it is not there."""
        home = self._home(call)
        if home != self.name and home not in self._children:
            self._children.add(home)
            ts, parent = moment(call.first_ns), Ref(call.of, self.name)
            kind = SessionKind.CHILD
            yield Opening(session=home, agent=self.agent, kind=kind, parent=parent, source=Source.ACP, ts=ts)
        inside = None
        if call.of is not None and home == self.name:
            inside = Ref(call.of)
        for step in call_step(call, home, moment(call.first_ns)):
            yield msgspec.structs.replace(step, within=inside)

    def _home(self, call: Call | None) -> str:
        """Where a call is recorded: with the sub-agent that made it, as soon as its id is known."""
        parent = None
        if call is not None and call.of is not None:
            parent = self.calls.by_id.get(call.of)
        if parent is not None and parent.agent_id is not None:
            return f"{self.name}/{parent.agent_id}"
        return self.name

    def _planned(self, update: dict[str, Json], at_ns: int) -> Iterator[Event]:
        kind = text_of(update.get("sessionUpdate"))
        rest = {key: value for key, value in update.items() if key != "sessionUpdate"}
        yield self.step("system", at_ns, {"subtype": kind}, {"content.plan": rest.get("entries", rest)})

    def _commanded(self, update: dict[str, Json], at_ns: int) -> Iterator[Event]:
        names = [dict_of(command).get("name") for command in list_of(update.get("availableCommands"))]
        if names != self._commands:
            self._commands = names
            yield self.step("system", at_ns, {"subtype": "commands", "count": len(names)}, {"content.names": names})

    def _switched(self, update: dict[str, Json], at_ns: int) -> Iterator[Event]:
        yield from self.set("mode", update.get("currentModeId"), at_ns, by="agent")

    def set(self, setting: Json, value: Json, at_ns: int, *, by: str) -> Iterator[Event]:
        """A setting changed. Telling it again is not a change."""
        name = text_of(setting) or "setting"
        if value is None or self._options.get(name) == value:
            return
        self._options[name] = value
        yield self.step("config_change", at_ns, {"setting": name, "value": value, "by": by})

    def settings(self) -> Mapping[str, Json]:
        """What is set now, as far as it was reported."""
        return self._options

    def configure(self, options: Json) -> None:
        """Take note of the settings that a session begins with."""
        for option in list_of(options):
            self._options[text_of(dict_of(option).get("id")) or "setting"] = dict_of(option).get("currentValue")

    def _reconfigured(self, update: dict[str, Json], at_ns: int) -> Iterator[Event]:
        for option in list_of(update.get("configOptions")):
            members = dict_of(option)
            yield from self.set(members.get("id"), members.get("currentValue"), at_ns, by="agent")

    def _informed(self, update: dict[str, Json], at_ns: int) -> Iterator[Event]:
        yield from self.fall_silent()
        told = reported_provenance(update)
        values = {"content.title": update.get("title"), "content.provenance": told or None}
        yield self.step("system", at_ns, {"subtype": "session_info"}, values)
        yield from self._rotated(told, at_ns)

    def _rotated(self, told: dict[str, Json], at_ns: int) -> Iterator[Event]:
        """The agent goes on under another id: the old session ends, the new one belongs to it.

        One notice may stand for several changes. What it belongs to then is a session of which nothing was reported
        here.
        """
        before, current = text_of(told.get("previousHermesSessionId")), text_of(told.get("currentHermesSessionId"))
        if not before or not current or current == self.name or before == current:
            return
        reason, above = text_of(told.get("reason")), text_of(told.get("parentHermesSessionId"))
        compaction = None
        if reason not in _ROLLOVERS:
            compaction = f"{UNNAMED}acp/{current}/compaction"
        if compaction is not None:
            yield self.at(at_ns, compaction).step("compaction", {"mode": "rotation", "reason": reason})
            reason = "compaction"
        yield self.at(at_ns, f"{UNNAMED}acp/{current}/end").step("session_end", {"reason": reason})
        if above in (None, self.name, before):
            parent = Ref(compaction, self.name)
        else:
            parent = Ref(None, above)
        self.name = current
        yield self._continuation(current, parent, at_ns)

    def _continuation(self, session: str, parent: Ref, at_ns: int) -> Opening:
        return Opening(
            session=session,
            agent=self.agent,
            kind=SessionKind.CONTINUATION,
            parent=parent,
            source=Source.ACP,
            ts=moment(at_ns),
            meta={"acp_session": self.acp_id},
        )

    def _counted(self, update: dict[str, Json], at_ns: int) -> Iterator[Event]:
        """How full the context is, and what was spent: the last word of a turn is recorded at its end."""
        cost = dict_of(update.get("cost"))
        amount = cost.get("amount")
        self._usage |= known({"context_used": int_of(update.get("used")), "context_size": int_of(update.get("size"))})
        if isinstance(amount, int | float) and cost.get("currency") == "USD":
            self._usage["session_cost_microusd"] = round(amount * 1_000_000)
        yield from ()

    def _compacted(self, update: dict[str, Json], at_ns: int) -> Iterator[Event]:
        name = text_of(update.get("compactionId")) or "compaction"
        status = text_of(update.get("status"))
        if status == "in_progress":
            self._compactions.setdefault(name, [])
            return
        summary = text_of(update.get("summary")) or "".join(self._compactions.pop(name, [])) or None
        values = {"content.text": summary, "content.error": update.get("error")}
        source_id = f"{UNNAMED}acp/{name}"
        meta = {"mode": "in-place", "status": status}
        yield self.at(at_ns, source_id).step("compaction", meta, values)
        if status not in ("completed", None):
            return
        yield self.at(at_ns, f"{source_id}/end").step("session_end", {"reason": "compaction"})
        yield self._continuation(
            self.name, Ref(source_id, self.name), at_ns
        )  # anyone who records knows which number it has
        if summary is not None:
            yield self.step("user", at_ns, {"origin": "summary"}, {"content.text": summary})

    def _summarised(self, update: dict[str, Json], at_ns: int) -> Iterator[Event]:
        text = text_of(dict_of(update.get("content")).get("text")) or ""
        self._compactions.setdefault(text_of(update.get("compactionId")) or "compaction", []).append(text)
        yield from ()

    # Replay -------------------------------------------------------------------------------------------------------------

    def _remember(self, update: dict[str, Json], size: int) -> None:
        """History that the agent tells again is not a new activity: it is kept as one value of one step."""
        self._replayed += 1
        self._replay_bytes += size
        if self._replay_bytes <= _MOST_REPLAY:
            self._replay.append(update)

    def replayed(self, method: str, at_ns: int) -> Iterator[Event]:
        """The replay is over."""
        kept, self._replay = self._replay, []
        told, self._replayed, self._replay_bytes = self._replayed, 0, 0
        if told:
            meta = {"subtype": "replay", "method": method, "updates": told, "left_out": (told - len(kept)) or None}
            yield self.step("system", at_ns, meta, {"content.replay": kept})

    # Questions ------------------------------------------------------------------------------------------------

    def asked(self, params: dict[str, Json], at_ns: int) -> tuple[Call | None, list[Event]]:
        """The agent asks for permission: the call it is about, and that call if it was not recorded so far."""
        events = list(self.fall_silent())
        call, adds = self.calls.asked_about(dict_of(params.get("toolCall")), at_ns)
        if call is not None:
            call.questions += 1
            if adds or not call.is_told:
                events += self._told(call)
        return call, events

    # The end ------------------------------------------------------------------------------------------------------------

    def ended(self, reason: str, at_ns: int, members: Mapping[str, Json]) -> Iterator[Event]:
        """The session is closed, or its agent is gone. What was under way then is reported."""
        yield from self.fall_silent()
        yield from self.replayed("ended", at_ns)
        for call in reversed(self.calls.open_calls()):
            yield from self._told(call)
        if self.turns:
            meta = {"subtype": "ended_during_prompt", "turns": len(self.turns), **members}
            yield self.step("warning", at_ns, meta)
            self.turns.clear()
        if not self.closed:
            self.closed = True
            yield self.step("session_end", at_ns, {"reason": reason, **members})


_UPDATES = {
    "plan": Session._planned,
    "plan_update": Session._planned,
    "plan_removed": Session._planned,
    "available_commands_update": Session._commanded,
    "current_mode_update": Session._switched,
    "config_option_update": Session._reconfigured,
    "session_info_update": Session._informed,
    "usage_update": Session._counted,
    "compaction_update": Session._compacted,
    "compaction_summary_chunk": Session._summarised,
}
