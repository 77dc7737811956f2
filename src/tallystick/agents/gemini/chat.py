"""The messages of a Gemini CLI chat, as steps.

Owns what a message says: prompts, answers, tool calls with their results, sub-agents, and the compaction of a history.
Must not know how messages are in a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from tallystick.agents.gemini.prompts import origin_of
from tallystick.agents.kit import genai_parts as parts
from tallystick.agents.kit.answers import answer_in
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.outcomes import CODE_LINE, code_after, ended
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.agents.kit.spelling import names
from tallystick.agents.kit.trail import Trail
from tallystick.model.step import Event, Json, Loss, Opening, Ref, SessionKind, Step

AGENT = "gemini"

_COUNTS = names("gemini", "counts")
_SHELL = "run_shell_command"
"""The shell tool reports after the output; further up they are the output's own words."""
_STATUS = {"success": True, "error": False, "cancelled": False}
_REFUSALS = tuple(names("gemini", "refusals").items())


class Chat:
    """One chat while it is read."""

    def __init__(self, session: str, parent: str | None = None) -> None:
        self._base = self._session = session
        self._parent = parent
        self._trail = Trail()
        self._is_open = self._is_child = False
        self._about: dict[str, Json] = {}
        self._begins_anew = False
        """The chat was resumed, and its history is not written yet: only the agent's own first words are."""
        self._windows = 0
        self._history: dict[str, str | None] = {}
        """The messages that the model is shown, and the end of the trail before each."""
        self._answered: set[str] = set()

    # Sessions

    def header(self, record: dict[str, Json]) -> Iterator[Event]:
        """The metadata that a chat begins with."""
        if self._is_open:
            self._begins_anew = bool(self._history)
            yield Loss(kind="repeated_header", detail=self._session)
            return
        self._base = self._session = text_of(record.get("sessionId")) or self._session
        self._is_child = record.get("kind") == "subagent"
        self._about = known({"content.paths": record.get("directories"), "content.title": record.get("summary")})
        yield from self._open(text_of(record.get("startTime")))

    def _open(self, ts: str | None) -> Iterator[Opening]:
        if self._is_open:
            return
        self._is_open = True
        if self._is_child:
            kind = SessionKind.CHILD
        else:
            kind = SessionKind.ROOT
        parent = None
        if self._is_child and self._parent:
            parent = Ref(f"{self._base}/start", session=self._parent)
        yield Opening(session=self._session, agent=AGENT, kind=kind, parent=parent, ts=ts, values=self._about)

    def checkpoint(self, messages: list[Json], at: str, ts: str | None) -> Iterator[Event]:
        """The history as it is from now on. If it has lost messages, it was compacted."""
        yield from self._open(ts)
        yield Loss(kind="checkpoint", detail=at)
        records = [dict_of(message) for message in messages]
        names = [text_of(record.get("id")) or f"{at}/{number}" for number, record in enumerate(records)]
        begins_anew, self._begins_anew = self._begins_anew, False
        compacted = bool(self._history) and not begins_anew and not self._history.keys() <= set(names)
        if compacted:
            yield from self._compact(at, ts)
        for name, record in zip(names, records, strict=True):
            if name in self._history:
                yield Loss(kind="retained_message", detail=name)
            else:
                yield from self.message(record, name, origin="summary" if compacted else "injected")
        if not begins_anew:
            self._history = {name: self._history.get(name) for name in names}

    def _compact(self, at: str, ts: str | None) -> Iterator[Event]:
        compaction = self._at(at, ts).step("compaction")
        yield self._trail.along(compaction)
        yield self._trail.along(self._at(f"{at}/end", ts).step("session_end", {"reason": "compaction"}))
        self._windows += 1
        cause = Ref(compaction.source_id, session=self._session)
        self._session = f"{self._base}~{self._windows}"
        kind, about = SessionKind.CONTINUATION, self._about
        yield Opening(session=self._session, agent=AGENT, kind=kind, parent=cause, ts=ts, values=about)

    def rewind(self, to: str, at: str) -> Iterator[Event]:
        """The person takes back a message and all that came after it; an unknown one means all."""
        yield from self._open(None)
        yield self._trail.beside(self._at(at, None).step("discard"))
        names = list(self._history)
        first = 0
        if to in self._history:
            first = names.index(to)
        if names:
            self._trail.turn_back(self._session, self._history[names[first]])
        for name in names[first:]:
            del self._history[name]

    def update(self, members: dict[str, Json], at: str) -> Iterator[Event]:
        """Metadata that has changed."""
        yield from self._open(text_of(members.get("lastUpdated")))
        said = known({"content.summary": members.get("summary"), "content.paths": members.get("directories")})
        if said:
            ts = text_of(members.get("lastUpdated"))
            yield self._trail.beside(self._at(at, ts).step("system", {"subtype": "metadata"}, said))
        else:
            yield Loss(kind="metadata", detail=at)

    # Messages

    def message(self, record: dict[str, Json], name: str, *, origin: str | None = None) -> Iterator[Event]:
        """The steps of one message. `origin` is given for words that no one says now: they are in a checkpoint."""
        ts, type_ = text_of(record.get("timestamp")), record.get("type")
        yield from self._open(ts)
        if type_ in ("user", "gemini"):
            self._history.setdefault(name, self._trail.end(self._session))
        if type_ == "user":
            yield from self._user(parts.split(record.get("content")), name, ts, origin)
        elif type_ == "gemini":
            said = list(self._gemini(record, name, ts))
            yield from said or [Loss(kind="empty_message", detail=name)]
        elif type_ in ("info", "warning", "error"):
            yield self._trail.beside(self._notice(str(type_), record, name, ts))
        else:
            yield unknown(type_, name)

    def _notice(self, type_: str, record: dict[str, Json], name: str, ts: str | None) -> Step:
        kind, field = "warning", "content.error"
        if type_ == "info":
            kind, field = "system", "content.text"
        values = {field: parts.split(record.get("content")).text}
        return self._at(name, ts).step(kind, {"subtype": type_}, values)

    def _user(self, said: parts.Message, name: str, ts: str | None, origin: str | None) -> Iterator[Event]:
        for number, answer in enumerate(said.answers):
            call = text_of(answer.get("id")) or f"{name}/call/{number}"
            if call in self._answered:
                yield Loss(kind="duplicate_event", detail=f"answer {call}")
            else:
                tool = text_of(answer.get("name"))
                yield from self._result({"tool": tool, "corr": call}, [{"functionResponse": answer}], ts)
        if said.text is None and said.others is None and said.answers:
            return
        origin = origin or origin_of(said.text or "", is_child=self._is_child)
        step = self._at(name, ts).step("user", {"origin": origin}, said.values(), said.raw)
        yield self._trail.along(msgspec.structs.replace(step, opens_request=origin is None))

    def _gemini(self, record: dict[str, Json], name: str, ts: str | None) -> Iterator[Event]:
        said = parts.split(record.get("content"))
        calls = [dict_of(call) for call in list_of(record.get("toolCalls"))]
        yield from self._model_call(record, name, ts)
        # Newer versions put thoughts and calls into the content as well, which is then the better source.
        thoughts = said.thoughts or tuple(_thought(dict_of(thought)) for thought in list_of(record.get("thoughts")))
        for number, thought in enumerate(thoughts):
            yield self._trail.along(
                self._at(f"{name}/{number}", ts).step("assistant", {}, {"content.thinking": thought})
            )
        if said.text or said.others is not None:
            yield self._trail.along(self._at(name, ts).step("assistant", {}, said.values(), said.raw))
        listed = {text_of(call.get("id")) for call in calls}
        calls = [*(call for call in said.calls if text_of(call.get("id")) not in listed), *calls]
        yield from self._calls(
            [(text_of(call.get("id")) or f"{name}/call/{n}", call) for n, call in enumerate(calls)], ts
        )

    def _model_call(self, record: dict[str, Json], name: str, ts: str | None) -> Iterator[Event]:
        model, counts = text_of(record.get("model")), dict_of(record.get("tokens"))
        if model is None and not counts:
            return
        meta: dict[str, Json] = {"model": model}
        if counts:
            meta["tokens"] = parts.tokens(counts, _COUNTS)
        yield self._trail.along(self._at(f"{name}/usage", ts).model_call(meta, is_shown=not self._windows))

    def _calls(self, calls: list[tuple[str, dict[str, Json]]], ts: str | None) -> Iterator[Event]:
        for sid, call in calls:
            meta = {"tool": text_of(call.get("name")), "corr": sid}
            yield self._trail.along(self._at(sid, ts).step("tool_call", meta, {"content.args": call.get("args")}))
        for sid, call in calls:
            yield from self._ended(sid, call)

    def _ended(self, sid: str, call: dict[str, Json]) -> Iterator[Event]:
        ts, status = text_of(call.get("timestamp")), text_of(call.get("status"))
        child = text_of(call.get("agentId"))
        if child is not None:
            yield from self._sub_agent(child, sid, call, ts)
        if call.get("result") is None and status not in _STATUS:
            return
        meta = {"tool": text_of(call.get("name")), "corr": sid, "success": _STATUS.get(status or "")}
        display = dict_of(call.get("resultDisplay"))
        if "originalContent" in display or "newContent" in display:
            yield Loss(kind="original_file", detail=sid)
        yield from self._result(meta, call.get("result"), ts, {"content.diff": display.get("fileDiff")})

    def _sub_agent(self, child: str, sid: str, call: dict[str, Json], ts: str | None) -> Iterator[Event]:
        """The sub-agent's own file names itself, not the call that started it: so does this step."""
        role = text_of(dict_of(call.get("args")).get("agent_name"))
        meta = {"corr": sid, "child": child, "agent_role": role}
        yield self._trail.beside(self._at(f"{child}/start", None).step("subagent_start", meta), of=sid)
        step = self._at(f"{child}/end", ts).step("subagent_end", meta)
        ends = (Ref(f"{child}/start"), Ref(session=child))
        yield self._trail.beside(msgspec.structs.replace(step, after=ends))

    def _result(
        self, meta: dict[str, Json], result: Json, ts: str | None, values: Mapping[str, Json] = {}
    ) -> Iterator[Event]:
        """What the call gave that `meta` names as `corr`."""
        said, call = parts.split(result), str(meta["corr"])
        if said.answers:
            output, failed = parts.answered(said.answers[0].get("response"))
        else:
            output, failed = said.text, False
        more = [dict_of(answer).get("response") for answer in said.answers[1:]]
        if more or said.others is not None:
            output = [output, *more, *list_of(said.others)]
        if said.raw:
            inner, raw = output, said.raw
        else:
            inner, raw = take_out(output)
        self._answered.add(call)
        outcome = _outcome(meta, inner, failed=failed)
        step = self._at(f"{call}/result", ts).step("tool_result", outcome, {**values, "content.output": inner}, raw)
        result = self._trail.along(step, answers=call)
        yield result
        for answer in answer_in("gemini", result):
            yield self._trail.along(answer)

    def _at(self, source_id: str, ts: str | None) -> Point:
        return Point(self._session, source_id, ts)


def _thought(thought: dict[str, Json]) -> str:
    subject, description = text_of(thought.get("subject")), text_of(thought.get("description"))
    return "\n".join(text for text in (subject, description) if text)


def _outcome(meta: dict[str, Json], output: Json, *, failed: bool) -> dict[str, Json]:
    """The members of a result: what the source says, the exit code its text tells, and who refused the call."""
    text = text_of(output) or ""
    by = next((who for start, who in _REFUSALS if failed and text.startswith(start)), None)
    refusal: dict[str, Json]
    if by is None:
        refusal = {}
    else:
        refusal = {"success": False, "decision": "deny", "decided_by": by}
    success, exit_code = meta.get("success"), None
    if failed and success is None:
        success = False
    if meta.get("tool") == _SHELL:
        exit_code = code_after(output, CODE_LINE)
    return {**meta, **ended(success, exit_code), **refusal}
