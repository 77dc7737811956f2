"""What the graph's rows say in JSON, and what a result says of its call.

Owns what of a call is kept in the index, and how much: the whole of it is in the journal. Form of `tool_input` and
`tool_response`: specs/gensee.md 1.3, without the call's id, which has a column.
"""

from __future__ import annotations

from hashlib import sha256

import orjson

from tallystick.graph.tables import StepRow
from tallystick.model.intent import Domain, Effects, Intent
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.scrubbing.markers import OPEN

_MOST_COMMAND = 2048
_MOST_RESPONSE = 160
_MOST_CHANGES = 50
_MOST_PATH = 4096
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_KEPT_WHOLE = frozenset(
    ("WebSearch", "WebFetch", "ToolSearch", "web_fetch", "google_web_search", "webfetch", "websearch")
)


def plain(text: str, most: int) -> str:
    """Text that SQLite and JSON take: no lone surrogate, no NUL, so many characters at most."""
    return text[:most].replace("\0", "\ufffd").translate(_SURROGATES)


def json_of(value: dict[str, Json]) -> str:
    """A row's JSON, without members that are not known."""
    return orjson.dumps({name: item for name, item in value.items() if item is not None}).decode()


def said_outcome(step: Recorded, row: StepRow) -> str:
    """What a result says: `confirmed`, `failed` or `denied`. One that says nothing of success confirms."""
    if step.meta.get("decision") == "deny":
        return "denied"
    if row.success == 0:
        return "failed"
    return "confirmed"


def content_digest(content: str | None) -> tuple[str | None, int | None]:
    """Digest and size of a whole content, where it is known: not where a secret was taken out of it."""
    if content is None or OPEN in content:
        return None, None
    data = content.encode("utf-8", "surrogatepass")
    return f"sha256:{sha256(data).hexdigest()}", len(data)


def input_of(step: Recorded, row: StepRow, effects: Effects, own: int) -> str:
    """`tool_input` of a call: the file it works on, or several, or the command; else which call it is."""
    said: dict[str, Json] = {}
    args = step.values.get("content.args")
    command = None
    if own < len(effects.intents):
        command = _command(args)
    files = [intent for intent in effects.intents[:own] if intent.domain is Domain.FILE]
    if command is not None:
        said["command"] = plain(command, _MOST_COMMAND)
        said |= _cut(command, _MOST_COMMAND)
        description = None
        if isinstance(args, dict):
            description = args.get("description")
        said["description"] = plain(description, 200) if isinstance(description, str) else None
    elif len(files) == 1:
        said |= _change(files[0])
    elif files:
        said["changes"] = [_change(intent) for intent in files[:_MOST_CHANGES]]
    elif row.tool in _KEPT_WHOLE and isinstance(args, dict):
        said |= {plain(str(k), 80): plain(v, 500) for k, v in list(args.items())[:20] if isinstance(v, str)}
    return json_of(said)


def _change(intent: Intent) -> dict[str, Json]:
    return {"operation": str(intent.operation), "path": plain(intent.target, _MOST_PATH)}


def _command(args: Json) -> str | None:
    if isinstance(args, str):
        return args
    given = None
    if isinstance(args, dict):
        given = args.get("command") or args.get("cmd") or args.get("script")
    if isinstance(given, list):
        return " ".join(str(word) for word in given)
    if isinstance(given, str):
        return given
    return None


def _cut(text: str, most: int) -> dict[str, Json]:
    if len(text) > most:
        return {"truncated": True, "original_bytes": len(text), "max_bytes": most}
    return {}


def intent_input(intent: Intent) -> str:
    """`tool_input` of a file intent."""
    said: dict[str, Json] = _change(intent)
    if intent.words and intent.words != (intent.target,):
        said["words"] = [plain(word, 200) for word in intent.words[:8]]
    if not intent.is_known or intent.is_pattern:
        said["is_known"] = False
    return json_of(said)


def response_of(step: Recorded, row: StepRow) -> str:
    """`tool_response` of a result: the beginning of what came out, and how it ended."""
    said: dict[str, Json] = {
        "success": None if row.success is None else bool(row.success),
        "duration_ms": row.duration_ms,
    }
    for name, column in (("content.output", "stdout"), ("content.error", "stderr")):
        text = step.values.get(name)
        if isinstance(text, str) and text:
            said[column] = plain(text, _MOST_RESPONSE)
            said |= _cut(text, _MOST_RESPONSE)
    if step.meta.get("interrupted") is True:
        said["interrupted"] = True
    return json_of(said)
