"""Tool calls of one ACP session, put together from their updates.

Owns when a call is known well enough to be recorded, what its arguments and its outcome are, and which call a question is
about. Must not know prompts or messages.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tallystick.agents.claude_code.results import added_by
from tallystick.agents.hooks import UNNAMED
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.agents.protocols._acp_words import arguments, dialect, exit_code, tool_name
from tallystick.model.step import Json, Ref, Source, Step

_RUNNING = ("in_progress", "completed", "failed")
_DONE = ("completed", "failed")
_MOST_OPEN = 4096


class Call(msgspec.Struct):
    """What is known of a call by now."""

    id: str
    first_ns: int
    tool: str | None = None
    kind: str | None = None
    title: str | None = None
    status: str | None = None
    args: Json = None
    output: Json = None
    rest: Json = None
    content: list[Json] = []
    paths: list[Json] = []
    cwd: str | None = None
    of: str | None = None
    """The call whose sub-agent made this one."""
    agent_id: str | None = None
    """The sub-agent that this call began."""
    told: Json = None
    """The arguments that were recorded; None while none were."""
    is_told: bool = False
    questions: int = 0

    source_id: str = ""
    """What the call is recorded as: its id if that is the model's too, else a name of ours."""

    @property
    def name(self) -> str | None:
        """The tool, else the kind of tool."""
        return self.tool or self.kind


class Calls:
    """The calls of one session."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.by_id: dict[str, Call] = {}

    def merge(self, update: dict[str, Json], at_ns: int) -> Call | None:
        """Take what a message says of a call; None if it does not say of which."""
        call_id = text_of(update.get("toolCallId"))
        if not call_id:
            return None
        call = self.by_id.get(call_id)
        if call is None:
            if len(self.by_id) >= _MOST_OPEN:
                del self.by_id[next(iter(self.by_id))]
            if dialect(self.agent).has_native_ids:
                name = call_id
            else:
                name = f"{UNNAMED}acp/{call_id}"
            call = self.by_id[call_id] = Call(call_id, at_ns, source_id=name)
        _merge(self.agent, call, update)
        return call

    def open_calls(self) -> list[Call]:
        """Those without an outcome, the latest first."""
        return [call for call in reversed(self.by_id.values()) if call.status not in _DONE]

    def asked_about(self, shown: dict[str, Json], at_ns: int) -> tuple[Call | None, bool]:
        """The call that a permission request is about, and whether the request may add to what is known of it.

        By its id; where the agent numbers its questions otherwise, the latest open call of the same kind that has the same
        command, or shows the same path; else none.
        """
        call_id = text_of(shown.get("toolCallId")) or ""
        if call_id in self.by_id or dialect(self.agent).is_call(call_id):
            return self._with_question(call_id, shown, at_ns), True
        marks = _marks(shown.get("rawInput"), list_of(shown.get("content")), list_of(shown.get("locations")))
        for call in self.open_calls():
            if call.kind == shown.get("kind") and marks & _marks(call.args, call.content, call.paths):
                return call, self._with_arguments(call, shown)
        return None, False

    def _with_arguments(self, call: Call, shown: dict[str, Json]) -> bool:
        """Take the arguments from a question where the call itself has none; whether there were any."""
        raw = shown.get("rawInput")
        if call.args is not None or not raw:
            return False
        call.args, _ = arguments(self.agent, raw)
        return True

    def _with_question(self, call_id: str, shown: dict[str, Json], at_ns: int) -> Call | None:
        """A question may say more of a call, but what the call said of itself stands."""
        before = self.by_id.get(call_id)
        if before is not None:
            kept = before.args, before.title, before.content
        else:
            kept = None, None, []
        call = self.merge(shown, at_ns)
        if call is not None and kept[0] is not None:
            call.args, call.title, call.content = kept[0], kept[1] or call.title, kept[2] or call.content
        return call

    def working_on(self, path: str) -> Call | None:
        """The open call that works on a file, if there is exactly one."""
        found = [call for call in self.open_calls() if path in _marks(call.args, call.content, call.paths)]
        if len(found) == 1:
            return found[0]
        return None


def _merge(agent: str, call: Call, update: dict[str, Json]) -> None:
    call.title = text_of(update.get("title")) or call.title
    call.kind = text_of(update.get("kind")) or call.kind
    call.status = text_of(update.get("status")) or call.status
    raw = update.get("rawInput")
    if raw is not None and raw != {}:
        args, cwd = arguments(agent, raw)
        if args is not None:
            call.args = args
        call.cwd = cwd or call.cwd
    elif call.args is None:
        call.args = dialect(agent).arguments_of_title(call.title or "")
    call.tool = tool_name(agent, update, call.args) or call.tool
    if isinstance(update.get("content"), list):
        call.content = list_of(update["content"])
    if isinstance(update.get("locations"), list):
        call.paths = list_of(update["locations"])
    if update.get("rawOutput") is not None:
        call.output = update["rawOutput"]
    told = dict_of(dict_of(update.get("_meta")).get("claudeCode"))
    call.of = text_of(told.get("parentToolUseId")) or call.of
    call.rest = told.get("toolResponse", call.rest)
    call.agent_id = text_of(dict_of(call.rest).get("agentId")) or call.agent_id


def _marks(args: Json, content: list[Json], paths: list[Json]) -> set[str]:
    """The command and the paths by which a call can be distinguished from others."""
    members = dict_of(args)
    found = [members.get(key) for key in ("command", "path", "file_path", "filePath", "fileName")]
    found += [dict_of(item).get("path") for item in (*content, *paths)]
    found += [dict_of(members.get("arguments")).get("path"), dict_of(members.get("arguments")).get("command")]
    return {text for text in found if isinstance(text, str) and text}


def is_ready(call: Call) -> bool:
    """Whether a call is more than an announcement."""
    return call.status in _RUNNING


def call_step(call: Call, session: str, ts: str | None) -> Iterator[Step]:
    """The call as a step; nothing if it is recorded with these arguments. With others, the later ones revise it."""
    args = call.args
    if call.is_told and (args is None or args == call.told):
        return
    call.told, call.is_told = args, True
    meta = {"tool": call.name, "corr": call.source_id, "kind": call.kind}
    values = {
        "content.args": args,
        "content.title": call.title,
        "personal.cwd": call.cwd,
        "content.paths": call.paths or None,
        "content.diff": _diffs(call) or None,
    }
    yield Point(session, call.source_id, ts, Source.ACP).step("tool_call", meta, values)


def _diffs(call: Call) -> list[Json]:
    return [item for item in call.content if dict_of(item).get("type") == "diff"]


def result_step(call: Call, agent: str, session: str, ts: str | None, at_ns: int) -> Step:
    """How a call ended, as a step."""
    output, rest = dialect(agent).output(call.output)
    failed = call.status == "failed"
    if output is None:
        output = _text(call.content)
    meta = {
        "tool": call.name,
        "corr": call.source_id,
        "success": not failed,
        "duration_ms": max(0, (at_ns - call.first_ns) // 1_000_000),
        "exit_code": exit_code(call.output),
    }
    if call.rest is not None:
        rest, _ = added_by(call.rest, call.args, output)
    name = "content.output"
    if failed and dialect(agent).tells_error:
        name = "content.error"
    values = {name: output, "content.result": rest}
    meta["agent_id"] = call.agent_id
    step = Point(session, f"{call.source_id}/result", ts, Source.ACP).step("tool_result", meta, values)
    return msgspec.structs.replace(step, after=(Ref(call.source_id),))


def _text(content: list[Json]) -> Json:
    """What was shown of an outcome: text if that is all, else its blocks; a diff is the call's."""
    blocks = [dict_of(item).get("content") for item in content if dict_of(item).get("type") == "content"]
    texts = [dict_of(block).get("text") for block in blocks if dict_of(block).get("type") == "text"]
    if len(texts) == len(blocks):
        return "\n".join(text for text in texts if isinstance(text, str)) or None
    return blocks
