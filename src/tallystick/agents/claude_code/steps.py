"""Claude Code's lines and blocks as steps, one by one.

Owns the type, source id, members and values of each step. Must not know which steps come before or after it, beyond the
parent that the line names.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.agents.claude_code.blocks import Parts, output_of, prompt_values, texts_of
from tallystick.agents.claude_code.draft import Draft, Place
from tallystick.agents.claude_code.lines import (
    attachment_members,
    origin_of,
    prompt_meta,
    queued_origin,
    queued_text_origin,
    system_members,
)
from tallystick.agents.claude_code.results import added_by, kept_output, result_meta, shell_changes
from tallystick.agents.claude_code.thread import Thread
from tallystick.agents.claude_code.tree import AGENT, where
from tallystick.agents.kit.answers import said_in
from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import blocks_of, dict_of, text_of
from tallystick.model.request import opened_kind
from tallystick.model.step import Json

OUTPUTS = ("{stem}/tool-results/*", "../tool-results/*")
"""Where large outputs are kept beside a transcript: of a session, of a sub-agent."""
CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class Line(msgspec.Struct, frozen=True):
    """A line of a conversation, and what all its steps share."""

    json: dict[str, Json]
    id: str
    thread: Thread
    parent: Place | None
    size: int
    beside: Mapping[str, bytes] = {}
    """The files beside its transcript, by the patterns of `COMPANIONS`."""

    @property
    def ts(self) -> str | None:
        """When it was written."""
        return text_of(self.json.get("timestamp"))

    def draft(self, kind: str, source_id: str, meta: dict[str, Json], values: dict[str, Json]) -> Draft:
        """A step that the line makes."""
        draft = Draft(kind, source_id, self.id, self.ts, meta, values, parent=self.parent)
        draft.follows = "parentUuid" not in self.json
        return draft

    def blocks(self) -> list[Json]:
        """The blocks of its message; text alone is one block."""
        return blocks_of(dict_of(self.json.get("message")).get("content"))


class Call(msgspec.Struct):
    """A call that has no result so far: where it is recorded, and what it was."""

    session: str
    tool: str | None
    args: Json


def prompt(line: Line, blocks: list[Json], source_id: str, *, beside_results: bool) -> Draft:
    """What the model was told in the user's place."""
    parts = Parts()
    text = texts_of(blocks)
    origin = origin_of(line.json, text, in_child=line.thread.is_child)
    meta = prompt_meta(line.json, origin, text)
    if origin is None and beside_results:
        meta["queued"] = True
    draft = line.draft("user", source_id, meta, prompt_values(blocks, parts))
    draft.raw = parts.raw
    draft.opens_request = opened_kind(draft.type, draft.meta) is not None
    if draft.opens_request and not beside_results:
        _by_human(line, draft)
    return draft


def _by_human(line: Line, draft: Draft) -> None:
    """A prompt opens a request; it says where it was given if that is another folder or branch than before."""
    draft.branches = True
    here = where(line.json)
    if here and here != line.thread.where:
        draft.values |= {key: value for key, value in here.items() if line.thread.where.get(key) != value}
        line.thread.where = here


def queued(line: Line, attachment: dict[str, Json]) -> Draft:
    """A prompt or notification that was queued while the agent worked, and given to it between two calls."""
    blocks = blocks_of(attachment.get("prompt"))
    parts = Parts()
    origin = queued_origin(attachment)
    meta: dict[str, Json] = {"origin": origin, "run": text_of(line.json.get("promptId")), "queued": True}
    draft = line.draft("user", line.id, known(meta), prompt_values(blocks, parts))
    draft.raw = parts.raw
    draft.opens_request = origin is None
    return draft


def queued_text(line: Line, text: str, since: str) -> Draft:
    """A text that left the queue while the agent worked, of which the file has no line but the queue's own."""
    origin = queued_text_origin(text)
    meta: dict[str, Json] = {"origin": origin, "queued": True}
    draft = line.draft("user", f"{line.thread.root}/queued/{since}", known(meta), {"content.text": text})
    draft.opens_request = origin is None
    return draft


def answer(line: Line, result: Draft) -> Draft | None:
    """What a person said in a call's result: the answer to a question, yes to a plan, what to do instead of the call."""
    answers = {"content.result": line.json.get("toolUseResult")}
    found = said_in(AGENT, result.meta, {**result.values, **answers})
    called = text_of(result.meta.get("corr"))
    if found is None or called is None:
        return None
    draft = line.draft("user", f"{called}/answer", found.meta, {"content.text": found.text})
    draft.opens_request = draft.follows = True
    return draft


def attachment(line: Line) -> Draft:
    """What Claude Code put before the model besides the conversation."""
    said = dict_of(line.json.get("attachment"))
    if said.get("type") == "queued_command" and said.get("prompt"):
        return queued(line, said)
    parts = Parts()
    meta, values = attachment_members(line.json, said, parts)
    draft = line.draft("system", line.id, meta, values)
    draft.raw = parts.raw
    return draft


def system(line: Line) -> Draft:
    """What Claude Code noted for the person."""
    return line.draft(*_with_id(line.id, system_members(line.json)))


def _with_id(
    line_id: str, members: tuple[str, dict[str, Json], dict[str, Json]]
) -> tuple[str, str, dict[str, Json], dict[str, Json]]:
    kind, meta, values = members
    return kind, line_id, meta, values


def _whole(path: str | None, beside: Mapping[str, bytes]) -> str | None:
    """The whole of an output that was put into a file, if the file is still in its place beside the transcript."""
    if path is None:
        return None
    name = path.replace("\\", "/").rpartition("/")[2]
    for folder in OUTPUTS:
        found = beside.get(folder.removesuffix("*") + name)
        if found is not None:
            return found.decode("utf-8", "replace")
    return None


def result(line: Line, block: dict[str, Json], call: Call, source_id: str, *, is_first: bool) -> tuple[Draft, int]:
    """A tool's result, and how many copies of whole files it came with. `toolUseResult` is of the line's first one."""
    if is_first:
        said = line.json
    else:
        said = {}
    parts = Parts()
    content = block.get("content")
    output = output_of(content, parts)
    rest, originals = added_by(said.get("toolUseResult"), call.args, content)
    failed = block.get("is_error") is True
    called = text_of(block.get("tool_use_id"))
    meta = {"corr": called, "tool": call.tool, **result_meta(said, block, output)}
    path, _ = kept_output(said.get("toolUseResult"), content)
    values = {
        "content.output": output,
        "content.output_file": path,
        "content.output_whole": _whole(path, line.beside),
        "content.error": rest if failed and isinstance(rest, str) else None,
        "content.result": parts.out_of(rest) if not (failed and isinstance(rest, str)) else None,
        "content.mcp": said.get("mcpMeta"),
    }
    changed, changes = shell_changes(said.get("toolUseResult"))
    draft = line.draft("tool_result", source_id, known(meta | changed), known(values | changes))
    draft.raw = parts.raw
    if called is not None:
        draft.call = call.session, called
    else:
        draft.call = None
    draft.joins = text_of(meta.get("agent_id"))
    return draft, originals


def from_model(line: Line, block: dict[str, Json], source_id: str) -> Draft:
    """One block of a model message."""
    kind = text_of(block.get("type")) or ""
    if kind == "text":
        return line.draft("assistant", source_id, {}, {"content.text": block.get("text")})
    if kind in ("thinking", "redacted_thinking"):
        took = line.json.get("thinkingDurationMs")
        meta: dict[str, Json] = {}
        if isinstance(took, int) and took is not True:
            meta = {"duration_ms": took}
        text = block.get("thinking")
        if text:
            values = {"content.thinking": text}
        else:
            values = {}
        return line.draft("assistant", source_id, meta if text else {**meta, "redacted": True}, values)
    if kind in CALLS:
        call = text_of(block.get("id"))
        meta = known({"tool": text_of(block.get("name")), "corr": call})
        return line.draft("tool_call", call or source_id, meta, {"content.args": block.get("input")})
    parts = Parts()
    draft = line.draft("assistant", source_id, {"block": kind}, {"content.block": parts.out_of(block)})
    draft.raw = parts.raw
    return draft


def in_place_of_model(line: Line) -> Draft:
    """What Claude Code wrote itself where a message of the model was due: an error, or a note that there was none."""
    text = texts_of(dict_of(line.json.get("message")).get("content"))
    if line.json.get("isApiErrorMessage") is not True:
        return line.draft("assistant", line.id, {"synthetic": True}, {"content.text": text})
    said = line.json.get("error")
    meta = {"error": text_of(said), "status": line.json.get("apiErrorStatus"), "synthetic": True}
    values = {"content.error": text, "content.details": said if isinstance(said, dict | list) else None}
    return line.draft("warning", line.id, known(meta), known(values))
