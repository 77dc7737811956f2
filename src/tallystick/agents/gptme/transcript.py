"""gptme's conversation log: `conversation.jsonl` in a folder of its own for each conversation.

Owns what a message of gptme says as steps, which result belongs to which call, and the check of a message against the
digest of its input that gptme keeps; the units of what gptme notes about a reply; the openings and endings of messages that
gptme writes itself. Calls inside a message's text are read by `calls`. Source: gptme 0.33 to 0.35.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from tallystick.agents import Shape, SourceFile
from tallystick.agents.gptme.calls import Part, parts_of
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import (
    BadJson,
    bad_line,
    dict_of,
    duplicate_key_losses,
    int_of,
    list_of,
    loads,
    text_of,
)
from tallystick.agents.recognition import IN_ITS_PLACE, count_members, first_object
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Input, Json, Loss, Opening, Ref, Step

FAILED_REQUEST = "LLM request failed:"
"""How gptme reports that the model did not answer."""

# What gptme puts between a call and its result, told by how it begins.
_NOTE = re.compile(
    r"<(?:system|budget|workspace-|agent-)|# Relevant Lessons|Loaded agent instructions from |<!-- gptme-"
    r"|\[INJECTION BLOCKED|\[UNTRUSTED|⚠️|📂 Workspace|Interrupted by user|Stopped: reached max steps"
    r"|LLM request failed:"
)
_NOTIFICATION = re.compile("[✅❌⏱❓⏳]\ufe0f? ?Subagent ")

_RETURN_CODE = re.compile(r"^Return code: (-?\d{1,10})\s*\Z", re.MULTILINE)
_RAN = re.compile(r"Ran (?:allowlisted )?command\b")
_FAILED = re.compile(r"Error\b|Command (?:timed out|interrupted|killed)|Patch failed|Atomic patch aborted")
_RAISED = re.compile(r"^Exception during execution on line ", re.MULTILINE)
_WORKED = re.compile(r"Saved to |Appended to |Patch successfully applied|Executed code block|Task complete\b")


def outcome(text: str) -> tuple[bool | None, int | None]:
    """Whether a call succeeded and its exit code, as far as the text of its result says."""
    code = _RETURN_CODE.search(text)
    if code:
        return int(code[1]) == 0, int(code[1])
    if _RAN.match(text):  # gptme mentions only codes other than 0
        return True, 0
    if _FAILED.match(text) or (text.startswith("Executed code block") and _RAISED.search(text)):
        return False, None
    if _WORKED.match(text):
        return True, None
    return None, None


def is_note(text: str) -> bool:
    """Whether a message is not a result of a call, whatever call waits for one."""
    return is_notification(text) or _NOTE.match(text) is not None


def is_notification(text: str) -> bool:
    """Whether a message tells how a sub-agent fares."""
    return _NOTIFICATION.match(text) is not None


def is_automatic(prompt: str) -> bool:
    """Whether gptme wrote a prompt itself, to keep the model going."""
    return prompt.startswith("<system>")


_TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_creation_tokens",
    "reasoning": "reasoning_tokens",
}


def usage_members(metadata: Mapping[str, Json]) -> dict[str, Json]:
    """Members of a `model_call`; None where the reply does not say. `cost` (USD) and `timings` (ms) as they are too."""
    usage, timings = dict_of(metadata.get("usage")), dict_of(metadata.get("timings"))
    counts = {name: int_of(usage.get(member)) for name, member in _TOKENS.items()}
    return {
        **{key: metadata.get(key) for key in ("model", "served_model", "resolved_model", "cost")},
        "tokens": known(counts) or None,
        "cost_microusd": _whole(metadata.get("cost"), 1_000_000),
        "duration_ms": _whole(_sum(timings.get("ttft_ms"), timings.get("gen_ms")), 1),
        "timings": timings or None,
    }


def tool_durations(metadata: Mapping[str, Json], called: Sequence[str]) -> dict[str, int]:
    """Milliseconds of each tool that the message called once: gptme adds up the calls of one tool."""
    by_name = dict_of(dict_of(metadata.get("timings")).get("tool_ms_by_name"))
    found = {name: _whole(by_name.get(name), 1) for name in called if called.count(name) == 1}
    return known(found)


def _sum(*numbers: Json) -> float | None:
    known = [number for number in numbers if isinstance(number, int | float) and not isinstance(number, bool)]
    if known:
        return sum(known)
    return None


def _whole(number: Json, scale: int) -> int | None:
    """A number of the source in a smaller unit, rounded; None for anything else and for what is not a sensible number."""
    if not isinstance(number, int | float) or isinstance(number, bool) or not 0 <= number < 1e12:
        return None
    return round(number * scale)


NAME = "gptme"
SHAPE = Shape.LINES
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ("config.toml",)

_ROLES = ("system", "user", "assistant")
_HEAD = re.compile(rb'"role"\s*:\s*"(?:system|user|assistant)"')
_DIGESTED = ("role", "content", "files", "file_hashes", "ui_only", "ephemeral_ttl", "call_id")
_INPUT_LOG = ("input_log_messages", "input_log_digest", "input_log_model")
_KNOWN_FLAGS = ("files", "pinned", "hide", "metadata")
_KNOWN_MEMBERS = frozenset((*_DIGESTED, "timestamp", "pinned", "hide", "metadata"))
_KNOWN_METADATA = frozenset(
    (*_INPUT_LOG, "model", "served_model", "resolved_model", "cost", "usage", "timings", "tool")
)


def locate() -> tuple[str, ...]:
    """Globs of conversation logs below the home folder."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is a conversation log: its name, and messages with a role and content at top level."""
    if posixpath.basename(path) == "conversation.jsonl" and _HEAD.search(head) is not None:
        return IN_ITS_PLACE
    first = first_object(head)
    if not path.endswith(".jsonl") or text_of(first.get("role")) not in _ROLES or "type" in first:
        return 0
    return count_members(first, "role", "content", also=("timestamp", *_KNOWN_FLAGS))


def reader(file: SourceFile) -> _Reader:
    """A reader for one conversation."""
    return _Reader(file)


def _session_of(path: str) -> str:
    """A conversation is named by its folder; a file that was moved elsewhere, by itself."""
    folder, name = posixpath.split(path)
    return (posixpath.basename(folder) if name == "conversation.jsonl" else "") or posixpath.splitext(name)[0] or name


class _OpenCall(msgspec.Struct, frozen=True):
    """A call that waits for its result: the `source_id` and tool, and how long it ran if the message says so."""

    source_id: str
    tool: str
    duration_ms: int | None


class _Reader:
    """Turns messages into steps. Remembers where each message ended, the digests so far and open calls."""

    def __init__(self, file: SourceFile) -> None:
        self._session = _session_of(file.path)
        self._config = _config_of(file.companions.get("config.toml", b""))
        self._state = hashlib.sha256()
        self._digests = [self._state.hexdigest()]
        self._tips: list[str | None] = []
        self._tip: str | None = None
        self._native: dict[str, _OpenCall] = {}
        self._waiting: list[_OpenCall] = []
        self._results: dict[str, int] = {}
        self._has_begun = False
        self._has_replied = False

    @property
    def _ordinal(self) -> int:
        return len(self._tips)

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The steps of one message."""
        try:
            parsed = loads(data)
        except BadJson as error:
            yield bad_line(error, offset)
            self._end_message(None)
            return
        yield from duplicate_key_losses(parsed, offset)
        message = dict_of(parsed.value)
        role = message.get("role")
        if role not in _ROLES:
            kind = "unknown_line"
            if isinstance(role, str) and role.isidentifier():
                kind = f"unknown_{role}"
            yield Loss(kind=kind[:60], detail=f"byte {offset}: no message of a role that is known")
            self._end_message(data)
            return
        if not self._has_begun:
            self._has_begun = True
            yield self._opening(text_of(message.get("timestamp")))
        for step in self._steps(role, message):
            self._tip = step.source_id
            yield step
        self._end_message(data)

    def finish(self) -> Iterator[Event]:
        """Nothing is held back: a conversation has no closing mark."""
        return iter(())

    def _end_message(self, data: bytes | None) -> None:
        self._tips.append(self._tip)
        if data is not None:
            self._state.update(_digested(data) + b"\0")
        self._digests.append(self._state.hexdigest())

    def _opening(self, ts: str | None) -> Opening:
        meta = {key: text_of(self._config.get(key)) for key in ("model", "tool_format")}
        values = {
            "content.title": text_of(self._config.get("name")),
            "personal.cwd": text_of(self._config.get("workspace")),
        }
        return Opening(session=self._session, agent=NAME, ts=ts, meta=known(meta), values=known(values))

    def _steps(self, role: Json, message: dict[str, Json]) -> Iterator[Step]:
        if role == "assistant":
            return self._assistant(message)
        if role == "user":
            return self._user(message)
        return self._system(message)

    def _step(self, kind: str, suffix: str, message: dict[str, Json], **rest: Json) -> Step:
        """A step of the current message. Flags and files of the message stand on its plain step only (no suffix)."""
        values: Mapping[str, Json] = rest.pop("values", {})
        meta: Mapping[str, Json] = rest.pop("meta", {})
        if not suffix:
            metadata = {k: v for k, v in dict_of(message.get("metadata")).items() if k != "tool"}
            values, meta = {**values, **_attached(message, metadata)}, {**meta, **_flags(message)}
        source_id = rest.pop("source_id", f"#{self._ordinal}{suffix}")
        ts = text_of(message.get("timestamp"))
        return Step(session=self._session, type=kind, source_id=source_id, ts=ts, meta=meta, values=values, **rest)

    def _user(self, message: dict[str, Json]) -> Iterator[Step]:
        values = {"content.text": message.get("content")}
        if is_automatic(text_of(message.get("content")) or ""):
            yield self._step("user", "", message, meta={"origin": "injected"}, values=values)
            return
        self._waiting = []
        yield self._step("user", "", message, values=values, opens_request=True)

    # System messages: results, notes, the prompt ---------------------------------------------------------------------

    def _system(self, message: dict[str, Json]) -> Iterator[Step]:
        text = text_of(message.get("content")) or ""
        tool = text_of(dict_of(message.get("metadata")).get("tool"))
        call_id = text_of(message.get("call_id"))
        if call_id:
            call = self._native.get(call_id) or _OpenCall(call_id, tool or "unknown", None)
            yield self._result(message, call, call_id, {})
        elif self._waiting and not (_is_hidden(message) or is_note(text)):
            places = [place for place, call in enumerate(self._waiting) if call.tool == tool] or [0]
            call = self._waiting.pop(places[0])
            yield self._result(message, call, call.source_id, {"pairing": "inferred"})
        elif text.startswith(FAILED_REQUEST):
            yield self._step("warning", "", message, values={"content.error": text})
        else:
            yield self._step(
                "system",
                "",
                message,
                meta=self._origin(text),
                values={"content.text": message.get("content")},
            )

    def _origin(self, text: str) -> dict[str, Json]:
        """Why a system message is there: what stands before the first prompt is the prompt of the system."""
        if is_notification(text):
            return {"origin": "notification"}
        if self._has_replied:
            return {"origin": "injected"}
        return {}

    def _result(self, message: dict[str, Json], call: _OpenCall, corr: str, meta: dict[str, Json]) -> Step:
        count = self._results.get(call.source_id, 0) + 1
        self._results[call.source_id] = count
        after = [call.source_id]
        if self._tip not in (None, call.source_id):
            after = [str(self._tip), call.source_id]
        success, exit_code = outcome(text_of(message.get("content")) or "")
        meta |= {"tool": text_of(dict_of(message.get("metadata")).get("tool")) or call.tool, "corr": corr}
        meta |= known(
            {
                "success": success,
                "exit_code": exit_code,
                "duration_ms": call.duration_ms if count == 1 else None,
            }
        )
        return self._step(
            "tool_result",
            "",
            message,
            source_id=f"{call.source_id}/result" + (f"~{count}" if count > 1 else ""),
            meta=meta,
            values={"content.output": message.get("content")},
            after=tuple(Ref(source_id) for source_id in after),
        )

    # Replies ---------------------------------------------------------------------------------------------------------

    def _assistant(self, message: dict[str, Json]) -> Iterator[Step]:
        metadata = dict_of(message.get("metadata"))
        self._waiting, self._has_replied = [], True
        steps = self._reply(message, metadata)
        if metadata.get("usage") or metadata.get("model"):
            yield self._model_call(message, metadata)
        else:
            first = next(steps)
            values = {**first.values, **_attached(message, metadata)}
            yield msgspec.structs.replace(first, meta={**first.meta, **_flags(message)}, values=values)
        yield from steps

    def _reply(self, message: dict[str, Json], metadata: dict[str, Json]) -> Iterator[Step]:
        """Text, thinking and calls in the order in which they stand; at least one step."""
        content = message.get("content")
        parts = []
        if isinstance(content, str):
            parts = parts_of(content)
        durations = tool_durations(metadata, [part.tool for part in parts if part.tool is not None])
        if not parts:
            yield self._step("assistant", "/0", message, values={"content.text": content})
        for number, part in enumerate(parts):
            if part.tool is not None:
                yield self._call(message, part, number, durations.get(part.tool))
            else:
                name = "content.text"
                if part.is_thinking:
                    name = "content.thinking"
                yield self._step("assistant", f"/{number}", message, values={name: part.text})

    def _model_call(self, message: dict[str, Json], metadata: dict[str, Json]) -> Step:
        noted, matches, after = self._input_log(metadata)
        unknown = {key: value for key, value in metadata.items() if key not in _KNOWN_METADATA}
        return self._step(
            "model_call",
            "/usage",
            message,
            meta=known({**usage_members(metadata), **_flags(message), "input_log_match": matches}),
            values={**({"content.meta": noted} if noted else {}), **_attached(message, unknown)},
            input=Input.PATH,
            after=after,
        )

    def _input_log(self, metadata: dict[str, Json]) -> tuple[dict[str, Json], bool | None, tuple[Ref, ...]]:
        """What gptme noted of the call's input, whether the messages here agree, and what the call follows from."""
        noted = known({key: metadata.get(key) for key in _INPUT_LOG})
        count, digest = int_of(noted.get("input_log_messages")), noted.get("input_log_digest")
        if count is None or digest is None or count < 0:
            return noted, None, ()
        matches = count <= self._ordinal and self._digests[count] == digest
        tip = None
        if 0 < count <= self._ordinal:
            tip = self._tips[count - 1]
        return noted, matches, () if tip is None or tip == self._tip else (Ref(tip),)

    def _call(self, message: dict[str, Json], part: Part, number: int, duration_ms: int | None) -> Step:
        is_reused = part.call_id is not None and part.call_id in self._native
        source_id = part.call_id
        if source_id is None or is_reused:
            source_id = f"#{self._ordinal}/{number}"
        call = _OpenCall(source_id, str(part.tool), duration_ms)
        if part.call_id is not None:
            self._native[part.call_id] = call
        else:
            self._waiting.append(call)
        return self._step(
            "tool_call",
            f"/{number}",
            message,
            source_id=source_id,
            meta={"tool": part.tool, "corr": part.call_id or source_id, "syntax": part.syntax},
            values={"content.args": part.args},
        )


def _config_of(data: bytes) -> dict[str, Json]:
    """The `[chat]` table of a conversation's settings; its environment is never looked at."""
    try:
        return dict_of(tomllib.loads(data.decode("utf-8")).get("chat"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError):
        return {}


def _digested(data: bytes) -> bytes:
    """What gptme digests of a message: some members, in its own spelling of JSON."""
    try:
        message = dict_of(json.loads(data))
        members = {key: message[key] for key in _DIGESTED if key in message}
        metadata = message.get("metadata")
        if isinstance(metadata, dict) and "prompt_generation" in metadata:
            members["prompt_generation"] = metadata["prompt_generation"]
        return json.dumps(members, sort_keys=True).encode()
    except (ValueError, RecursionError):
        return b""


def _is_hidden(message: dict[str, Json]) -> bool:
    return any(message.get(flag) is True for flag in ("hide", "pinned", "ui_only"))


def _flags(message: dict[str, Json]) -> dict[str, Json]:
    flags: dict[str, Json] = {key: True for key in ("pinned", "hide", "ui_only") if message.get(key) is True}
    return flags | known({"ephemeral_ttl": int_of(message.get("ephemeral_ttl"))})


def _attached(message: dict[str, Json], metadata: dict[str, Json]) -> dict[str, Json]:
    """Files that came with a message, and what no known version writes; `metadata` has no other place."""
    unknown = {key: value for key, value in message.items() if key not in _KNOWN_MEMBERS}
    values = {
        "content.paths": list_of(message.get("files")),
        "content.file_hashes": dict_of(message.get("file_hashes")),
        "content.extra": {**unknown, **({"metadata": metadata} if metadata else {})},
    }
    return {name: value for name, value in values.items() if value}
