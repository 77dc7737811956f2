"""How a call of Codex ended: exit code, duration, changed files, refusal.

Owns reading that from the text the model was given and from the events Codex writes beside it. Must not know where the
result is in the session.
"""

from __future__ import annotations

import re

import msgspec

from tallystick.agents.kit.columns import known, number
from tallystick.agents.kit.reading import BadJson, dict_of, int_of, loads_text, opposite_of, text_of
from tallystick.agents.kit.spelling import words
from tallystick.model.step import Json

_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})$", re.MULTILINE | re.ASCII)
_WALL = re.compile(r"^Wall time:? (\d{1,9}(?:\.\d{1,12})?) seconds$", re.MULTILINE | re.ASCII)
_SCRIPT = re.compile(r"Script (completed|failed|terminated)\b")
_REPORT = re.compile(r"(?:Chunk ID|Exit code|Wall time|Process exited|Script )")
_REFUSED = re.compile(r"(?:exec[_ ]command|shell|patch|apply_patch|command|rejected|approval policy)\b")
_HOOK = re.compile(r"Command blocked by PreToolUse hook: (.*?)(?:\. Command: .*)?\Z", re.DOTALL)
_FAILURES = words("codex", "failures")
"""How the output of a call begins that did nothing, where no exit code says so."""
_HEAD_CHARS = 2_000
"""Exit code and wall time stand above the output; further down they are the output's own words."""
_LONGEST_SECONDS = 1e9
_STATUS = {"completed": True, "failed": False, "declined": False}


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the end of a call. None: not said."""

    success: bool | None = None
    exit_code: int | None = None
    duration_ms: int | None = None
    decided_by: str | None = None
    """Who refused the call: `hook`, `user` or `policy`."""
    reason: str | None = None
    changes: Json = None
    """Files that a patch changed: path → what was done."""

    def meta(self) -> dict[str, Json]:
        """The members of a step's `meta` that say this."""
        members: dict[str, Json] = {
            "success": self.success,
            "exit_code": self.exit_code,
            "duration_ms": self.duration_ms,
        }
        if self.decided_by is not None:
            members |= {"decision": "deny", "decided_by": self.decided_by}
        return known(members)

    def values(self) -> dict[str, Json]:
        """The field values that say this."""
        return known({"content.changes": self.changes, "content.error": self.reason})

    def over(self, other: Outcome) -> Outcome:
        """This outcome, with what only `other` says."""
        return msgspec.structs.replace(other, **known(msgspec.structs.asdict(self)))


def from_event(event: dict[str, Json]) -> Outcome:
    """The outcome in a turn item (`CommandExecution`, `FileChange`…) or an event (`exec_command_end`…)."""
    code = int_of(event.get("exit_code"))
    success = event.get("success")
    if code is not None:
        success = code == 0
    elif not isinstance(success, bool):
        success = _STATUS.get(text_of(event.get("status")) or "", _mcp_success(event.get("result")))
    decided_by = None
    if event.get("status") == "declined":
        decided_by = "user"
    return Outcome(
        success=success,
        exit_code=code,
        duration_ms=_milliseconds(event.get("duration")),
        decided_by=decided_by,
        changes=dict_of(event.get("changes")) or None,
    )


def _mcp_success(result: Json) -> bool | None:
    found = dict_of(result)
    if "Err" in found:
        return False
    return opposite_of(dict_of(found.get("Ok", found)).get("isError"))


def _milliseconds(duration: Json) -> int | None:
    seconds, nanos = int_of(dict_of(duration).get("secs")), int_of(dict_of(duration).get("nanos"))
    if seconds is None or nanos is None:
        return None
    return _bounded(seconds + nanos / 1e9)


def _bounded(seconds: float) -> int | None:
    """Milliseconds, unless the number is no duration."""
    if 0 <= seconds < _LONGEST_SECONDS:
        return int(seconds * 1000)
    return None


def from_output(output: Json) -> Outcome:
    """The outcome that the output of a call, as the model was given it, says of itself."""
    if isinstance(output, dict):
        said = output.get("success")
        inner = from_output(text_of(output.get("content")))
        if isinstance(said, bool):
            return Outcome(success=said).over(inner)
        return inner
    if isinstance(output, list):
        return from_output(text_of(dict_of(next(iter(output), None)).get("text")))
    if not isinstance(output, str):
        return Outcome()
    if output.startswith(_FAILURES):
        return Outcome(success=False)
    return _refusal(output) or _structured(output) or _spoken(output)


def _refusal(text: str) -> Outcome | None:
    hook = _HOOK.match(text)
    if hook:
        return Outcome(success=False, decided_by="hook", reason=hook[1])
    start = text[:500].lower()
    if not _REFUSED.match(start) or "reject" not in start:
        return None
    by = "policy"
    if "by user" in start:
        by = "user"
    return Outcome(success=False, decided_by=by, reason=text)


def _structured(text: str) -> Outcome | None:
    """Older versions gave the model `{"output": …, "metadata": {"exit_code", "duration_seconds"}}`."""
    if not text.startswith('{"output"'):
        return None
    try:
        found = dict_of(dict_of(loads_text(text).value).get("metadata"))
    except BadJson:
        return None
    return _ended(int_of(found.get("exit_code")), number(found.get("duration_seconds")))


def _ended(code: int | None, seconds: float | None) -> Outcome:
    outcome = Outcome()
    if code is not None:
        outcome = Outcome(success=code == 0, exit_code=code)
    if seconds is not None:
        outcome = msgspec.structs.replace(outcome, duration_ms=_bounded(seconds))
    return outcome


def _spoken(text: str) -> Outcome:
    head = ""
    if _REPORT.match(text):
        head = text[:_HEAD_CHARS].partition("\nOutput:")[0]
    code, wall, script = _EXIT.search(head), _WALL.search(head), _SCRIPT.match(head)
    exit_code = seconds = None
    if code is not None:
        exit_code = int(code[1])
    if wall is not None:
        seconds = float(wall[1])
    outcome = _ended(exit_code, seconds)
    if code is None and script is not None:
        return msgspec.structs.replace(outcome, success=script[1] == "completed")
    return outcome


def arguments(text: Json) -> Json:
    """The arguments of a call: the object that JSON text holds, else what there is."""
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return text
    try:
        value = loads_text(text).value
    except BadJson:
        return text
    if isinstance(value, dict):
        return value
    return text
