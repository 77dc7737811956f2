"""Claude Code: what its transcripts (`~/.claude/projects/*/*.jsonl` and below) say, as steps.

Owns where they are and how one is known, which lines make steps, which are counted as no event, and that each event of a
file is handed out once. Must not know what a block or a system line says (`steps`), how a message is put together
(`thread`), nor how steps are recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.claude_code import steps
from tallystick.agents.claude_code.blocks import texts_of
from tallystick.agents.claude_code.draft import Draft, Place
from tallystick.agents.claude_code.lines import (
    BOOKKEEPING,
    PULL_REQUESTS,
    TITLES,
    call_meta,
    compaction_members,
    pull_request,
)
from tallystick.agents.claude_code.steps import Call, Line
from tallystick.agents.claude_code.thread import HeldLine, Message, Places, Thread, newest
from tallystick.agents.claude_code.tree import AGENT, META, Tree, opening_meta, where
from tallystick.agents.kit.reading import BadJson, bad_line, dict_of, duplicate_key_losses, loads, text_of
from tallystick.agents.recognition import count_members, objects
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Input, Json, Loss, Opening, Ref, SessionKind, Step

_MOST_OPEN_CALLS = 10_000
_MOST_LINKS = 1_000


class ClaudeReader:
    """Turns the lines of one transcript into events."""

    def __init__(self, file: SourceFile) -> None:
        self._out: list[Event] = []
        self._tree = Tree(file)
        self._beside = file.companions
        self._places = Places()
        self._calls: dict[str, Call] = {}
        self._given: dict[str, None] = {}
        """Source ids handed out, the newest: one id stands for one event of the file."""
        self._linked: set[str] = set()
        """Pull requests that were handed out."""
        self._named: dict[tuple[str, str], dict[str, Json]] = {}
        """Lines that name a session, by their type and what they name: the last one counts."""

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one line."""
        self._out = []
        try:
            # Files are grown ahead of being written: what was not filled in is NUL.
            parsed = loads(data.lstrip(b"\0") if data[:1] == b"\0" else data)
        except BadJson as error:
            return iter((bad_line(error, offset),))
        if parsed.duplicate_keys:
            self._out.extend(duplicate_key_losses(parsed, offset))
        if isinstance(parsed.value, dict):
            self._read(parsed.value, offset, len(data))
        else:
            self._lose("unknown_line", offset)
        return iter(self._out)

    def finish(self) -> Iterator[Event]:
        """The messages of which no more lines came, and the names that sessions were given last."""
        self._out = []
        threads = self._tree.threads
        while any(thread.message is not None for thread in threads.values()):
            for thread in list(threads.values()):
                self._complete(thread)
        for thread in list(threads.values()):
            self._deliver(thread)
        for (kind, of), line in self._named.items():
            self._name(kind, of, line)
        return iter(self._out)

    # Lines -----------------------------------------------------------------------------------------------------------

    def _read(self, line: dict[str, Json], offset: int, size: int) -> None:
        kind = text_of(line.get("type")) or ""
        uuid = text_of(line.get("uuid"))
        if uuid is not None and uuid in self._places:
            self._lose("duplicate_line", offset)
        elif kind in _SAID:
            self._say(_SAID[kind], line, offset, size)
        elif kind == "progress":
            self._progress(line, offset, size)
        elif kind == "queue-operation":
            self._queue(line, offset, size)
        elif kind == "summary" or kind in TITLES:
            self._keep_name(kind, line, offset)
        elif kind in PULL_REQUESTS:
            self._link(kind, line, offset, size)
        else:
            self._pass_on(line, _loss_of(kind), offset)

    def _say(self, make: _Maker, line: dict[str, Json], offset: int, size: int) -> None:
        """A line of a conversation, unless the conversation has to wait for the call that spawns it."""
        uuid = text_of(line.get("uuid"))
        line_id = uuid or self._tree.id_at(offset, line)
        key = self._tree.key_of(line, line_id, self._places)
        place = self._places.get(text_of(line.get("parentUuid")))
        thread = self._tree.threads.get(key)
        if thread is None:
            main = None
            if key[1]:
                main = self._tree.threads.get((key[0], ""))
            if main is not None and main.message is not None:
                if not main.message.hold(HeldLine(line, offset, size), size):
                    self._complete(main)
                return
            thread = self._open(key, line, place)
        ended = make(self, Line(line, line_id, thread, place, size, self._beside))
        if ended is None:
            self._lose("empty_message", offset)
        if uuid is not None:
            self._places.note(uuid, ended or place)

    def _open(self, key: tuple[str, str], line: dict[str, Json], place: Place | None) -> Thread:
        text = texts_of(dict_of(line.get("message")).get("content"))
        thread, opening = self._tree.open(key, line, place, text)
        thread.where = where(line)
        self._out.append(opening)
        return thread

    def _progress(self, line: dict[str, Json], offset: int, size: int) -> None:
        """What a tool is doing. A sub-agent's calls and results, which may have no file of their own, are shown so."""
        data = dict_of(line.get("data"))
        shown, agent = dict_of(data.get("message")), text_of(data.get("agentId"))
        if not agent or shown.get("type") not in ("user", "assistant"):
            self._pass_on(line, "progress", offset)
            return
        self._pass_on(line, None, offset)
        inner = {key: value for key, value in line.items() if key not in ("data", "parentUuid", "uuid")}
        self._read(inner | shown | {"agentId": agent, "isSidechain": True, "isProgress": True}, offset, size)

    def _queue(self, line: dict[str, Json], offset: int, size: int) -> None:
        """A prompt that is removed from the queue was given to the model between two calls, without a line of its own."""
        thread = self._tree.main(text_of(line.get("sessionId")))
        ready = None if thread is None else thread.queue.take(line)
        if thread is None or ready is None:
            self._pass_on(line, "queue-operation", offset)
            return
        at = Line(line, self._tree.id_at(offset, line), thread, None, size)
        thread.queue.waiting.append(steps.queued_text(at, ready.text, ready.since))

    def _deliver(self, thread: Thread) -> None:
        """Hand out what left the queue and no other line told of."""
        waiting, thread.queue.waiting = thread.queue.waiting, []
        for draft in waiting:
            self._emit(thread, draft)

    def _pass_on(self, line: dict[str, Json], kind: str | None, offset: int) -> None:
        """Count a line that is not an event. Lines that name it as parent follow its parent."""
        uuid = text_of(line.get("uuid"))
        if uuid is not None:
            self._places.note(uuid, self._places.get(text_of(line.get("parentUuid"))))
        if kind is not None:
            self._lose(kind, offset)

    def _lose(self, kind: str, offset: int) -> None:
        self._out.append(Loss(kind=kind, detail=f"byte {offset}"))

    # Handing out -----------------------------------------------------------------------------------------------------

    def _put(self, line: Line, draft: Draft) -> Place:
        """Hand a step out, or keep it until the message before it is complete."""
        thread = line.thread
        if thread.message is None:
            self._emit(thread, draft)
        elif not thread.message.hold(draft, line.size):
            self._complete(thread)
        return thread.session, draft.source_id

    def _complete(self, thread: Thread) -> None:
        for item in thread.complete():
            if isinstance(item, HeldLine):
                self._read(item.line, item.offset, item.size)
            else:
                self._emit(thread, item)

    def _emit(self, thread: Thread, draft: Draft) -> None:
        source_id = draft.source_id
        if source_id in self._given:
            source_id = draft.line_id
            if source_id in self._given:
                self._out.append(Loss(kind="repeated_id", detail=draft.source_id))
                return
        self._given = newest(self._given)
        self._given[source_id] = None
        joined = None
        if draft.joins is not None:
            joined = self._end_of(thread, draft.joins)
        self._out.append(thread.step(draft, source_id, joined))

    def _end_of(self, thread: Thread, agent: str) -> Ref | None:
        """The last step of a sub-agent, if this file shows it."""
        child = self._tree.threads.get((thread.root, agent))
        if child is None or child is thread:
            return None
        self._complete(child)
        if child.last is None:
            return None
        return Ref(child.last, child.session)

    # What is said ----------------------------------------------------------------------------------------------------

    def _user(self, line: Line) -> Place | None:
        blocks = line.blocks()
        results = [block for block in blocks if _is_result(block)]
        rest = blocks
        if results:
            rest = [block for block in blocks if not _is_result(block)]
        ended = None
        for index, block in enumerate(results):
            ended = self._result(line, block, index)
        if rest:
            if results:
                source_id = f"{line.id}/{len(results)}"
            else:
                source_id = line.id
            ended = self._prompt(line, steps.prompt(line, rest, source_id, beside_results=bool(results)))
        return ended

    def _prompt(self, line: Line, draft: Draft) -> Place:
        thread = line.thread
        if draft.branches:
            self._complete(thread)
            self._deliver(thread)
            thread.awaits_summary = False
        elif draft.meta.get("origin") == "summary" and line.json.get("isCompactSummary") is True:
            if not thread.awaits_summary and not thread.is_new:
                self._compact(line, f"{line.id}/compaction")
            thread.awaits_summary = False
        return self._put(line, draft)

    def _result(self, line: Line, block: dict[str, Json], index: int) -> Place:
        called = text_of(block.get("tool_use_id"))
        call = None
        if called is not None:
            call = self._calls.pop(called, None)
        if called:
            source_id = f"{called}/result"
        else:
            source_id = f"{line.id}/{index}"
        known = call or Call(line.thread.session, None, None)
        draft, originals = steps.result(line, block, known, source_id, is_first=index == 0)
        if originals:
            self._out.append(Loss(kind="original_file", detail=source_id))
        if called and draft.joins:
            self._tree.note_agent(draft.joins, called)
        place = self._put(line, draft)
        answer = steps.answer(line, draft)
        return place if answer is None else self._put(line, answer)

    def _assistant(self, line: Line) -> Place | None:
        message = dict_of(line.json.get("message"))
        if line.json.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
            self._complete(line.thread)
            return self._put(line, steps.in_place_of_model(line))
        current = self._message(line, text_of(message.get("id")) or line.id)
        line.thread.awaits_summary = False
        called = None
        if not current.goes_on:
            called = _count(current, line, call_meta(line.json, message))
        return self._blocks(line, current) or called

    def _message(self, line: Line, message_id: str) -> Message:
        """The message that the line is of, begun if it is another than the one before."""
        thread = line.thread
        if thread.message is None or thread.message.id != message_id:
            self._complete(thread)
            self._deliver(thread)
            goes_on = f"{message_id}/usage" in self._given
            follows = "parentUuid" not in line.json
            thread.message = Message(message_id, line.parent, follows, None, goes_on, [], [])
        return thread.message

    def _blocks(self, line: Line, message: Message) -> Place | None:
        session = line.thread.session
        blocks = line.blocks()
        for index, block in enumerate(dict_of(item) for item in blocks):
            if len(blocks) == 1:
                source_id = line.id
            else:
                source_id = f"{line.id}/{index}"
            kind = text_of(block.get("type")) or ""
            called = text_of(block.get("tool_use_id"))
            if kind.endswith("_tool_result") and called:
                call = self._calls.pop(called, None) or Call(session, None, None)
                draft, _ = steps.result(line, block, call, f"{called}/result", is_first=False)
            else:
                draft = steps.from_model(line, block, source_id)
            if "signature" in block or kind == "redacted_thinking":
                self._out.append(Loss(kind="thinking_signature", detail=source_id))
            if draft.type == "tool_call":
                self._note_call(draft, session)
            message.blocks.append(draft)
        if blocks:
            return session, message.blocks[-1].source_id
        return None

    def _note_call(self, draft: Draft, session: str) -> None:
        tool, args = text_of(draft.meta.get("tool")), draft.values.get("content.args")
        self._calls = newest(self._calls, _MOST_OPEN_CALLS)
        self._calls[draft.source_id] = Call(session, tool, args)
        self._tree.note_call(draft.source_id, session, tool, args)

    def _system(self, line: Line) -> Place:
        if line.json.get("subtype") == "compact_boundary":
            line.thread.awaits_summary = True
            if line.thread.is_new:  # of a session that this one was forked from: nothing of its own ends here
                return self._put(line, line.draft("compaction", line.id, *compaction_members(line.json)))
            return self._compact(line, line.id)
        return self._put(line, steps.system(line))

    def _attachment(self, line: Line) -> Place:
        draft = steps.attachment(line)
        if draft.meta.get("queued") is True:
            line.thread.queue.shown(text_of(draft.values.get("content.text")) or "")
        return self._put(line, draft)

    def _compact(self, line: Line, source_id: str) -> Place:
        """The session ends with a compaction, and goes on as another."""
        thread = line.thread
        self._complete(thread)
        for draft in (
            line.draft("compaction", source_id, *compaction_members(line.json)),
            line.draft("session_end", f"{source_id}/end", {"reason": "compaction"}, {}),
        ):
            draft.follows = True
            self._emit(thread, draft)
        ended, begun = thread.continue_in_new_session()
        self._out.append(
            Opening(
                session=begun,
                agent=AGENT,
                kind=SessionKind.CONTINUATION,
                parent=Ref(source_id, ended),
                ts=line.ts,
                meta=opening_meta(line.json),
                values=where(line.json),
            )
        )
        return ended, source_id

    def _link(self, kind: str, line: dict[str, Json], offset: int, size: int) -> None:
        """A pull request that the session is about, once however often it is written."""
        thread = self._tree.main(text_of(line.get("sessionId")))
        url = text_of(line.get(PULL_REQUESTS[kind]))
        if thread is None or not url or len(self._linked) == _MOST_LINKS:
            self._lose(kind, offset)
            return
        source_id = f"{thread.root}/{kind}/{url}"
        if source_id in self._linked:
            self._lose(f"{kind}_again", offset)
            return
        self._linked.add(source_id)
        said = Line(line, source_id, thread, None, size)
        self._put(said, said.draft("system", source_id, *pull_request(kind, url, line)))

    # Names of sessions -----------------------------------------------------------------------------------------------

    def _keep_name(self, kind: str, line: dict[str, Json], offset: int) -> None:
        """A name is written again whenever a session is resumed: the last one is the one."""
        of = text_of(line.get("leafUuid" if kind == "summary" else "sessionId")) or ""
        if (kind, of) in self._named:
            self._lose(f"{kind}_again", offset)
        self._named[kind, of] = line

    def _name(self, kind: str, of: str, line: dict[str, Json]) -> None:
        """Hand out a name: of the session, or (a summary) of a conversation that may be in another file."""
        place = None
        if kind == "summary":
            place = self._places.get(of)
        thread = self._tree.main(place[0] if place is not None else text_of(line.get("sessionId")))
        if thread is None:
            self._out.append(Loss(kind=kind, detail="names no conversation of this file"))
            return
        is_here = kind != "summary" or place is not None
        name = {"content.title" if is_here else "content.text": line.get(TITLES.get(kind, kind))}
        meta = {"subtype": kind, **({"leaf": of} if kind == "summary" and of else {})}
        if kind == "summary":
            source_id = f"{thread.root}/{kind}/{of}"
        else:
            source_id = f"{thread.root}/{kind}"
        self._out.append(
            Step(
                session=thread.session,
                type="system",
                source_id=source_id,
                ts=text_of(line.get("timestamp")),
                meta=meta,
                values=name,
            )
        )


def _is_result(block: Json) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def _count(message: Message, line: Line, meta: dict[str, Json] | None) -> Place | None:
    """Take what a line says of its whole message: the last one wins, what it leaves out stays. The call, if it is new."""
    if meta is None:
        return None
    if line.thread.shows_calls_only:
        meta["partial"] = True  # what progress lines show of a sub-agent is not all that it used
    if message.call is not None:
        message.call.meta |= meta
        return None
    message.call = line.draft("model_call", f"{message.id}/usage", meta, {})
    message.call.input = Input.PATH
    return line.thread.session, message.call.source_id


_Maker = Callable[[ClaudeReader, Line], Place | None]
_SAID: dict[str, _Maker] = {
    "user": ClaudeReader._user,
    "assistant": ClaudeReader._assistant,
    "attachment": ClaudeReader._attachment,
    "system": ClaudeReader._system,
}
"""The lines of the conversation, and what makes steps of each."""


def _loss_of(kind: str | None) -> str:
    """What a line is counted as that becomes no step."""
    if kind in BOOKKEEPING:
        return str(kind)
    if kind:
        return f"unknown_{kind}"
    return "unknown_line"


NAME = AGENT
SHAPE = Shape.LINES
GLOBAL_IDS = True
COMPANIONS: tuple[str, ...] = (META, *steps.OUTPUTS)

_HEAD_LINES = 20
_MEMBERS = ("type", "sessionId", "uuid", "parentUuid", "isSidechain", "message.content", "leafUuid", "messageId")


def locate() -> tuple[str, ...]:
    """Where Claude Code keeps transcripts; sub-agents' are in folders below their session's."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """How much the first line that says whose it is has of a transcript's line."""
    for line in objects(head)[:_HEAD_LINES]:
        verdict = _is_ours(line)
        if verdict is not None:
            if verdict:
                return count_members(line, also=_MEMBERS)
            return 0
    return 0


def _is_ours(line: dict[str, Json]) -> bool | None:
    """Whether a line is of a transcript, None if it could be of another agent's too."""
    kind = text_of(line.get("type"))
    if kind in ("user", "assistant") or (kind is None and "isSidechain" in line):
        # Qwen Code writes the same lines with another model's messages in them.
        return ("isSidechain" in line or "sessionId" in line) and "content" in dict_of(line.get("message"))
    named_by = {"summary": "leafUuid", "file-history-snapshot": "messageId", "attachment": "attachment"}.get(kind or "")
    if named_by is not None:
        return named_by in line
    if (kind in BOOKKEEPING or kind in TITLES) and "sessionId" in line:
        return True
    return None


def reader(file: SourceFile) -> Reader:
    """A reader of one transcript."""
    return ClaudeReader(file)
