"""What Claude Code knows of a tool's result beyond what the model saw.

Owns which part of `toolUseResult` says something new, and who refused a call. Must not know how steps are ordered.
"""

from __future__ import annotations

import re

from tallystick.agents.kit.columns import known
from tallystick.agents.kit.outcomes import code_before, ended
from tallystick.agents.kit.reading import dict_of, int_of, list_of, text_of
from tallystick.agents.kit.spelling import names
from tallystick.model.step import Json

_WHOLE_FILES = frozenset(("originalFile", "original_file", "updated_file"))
_KEPT_WHOLE = frozenset(("structuredPatch", "gitDiff"))  # the point of the result, though its lines are in the call
_TO_META = frozenset(("durationMs", "totalDurationMs"))
_LEFT = _WHOLE_FILES | _TO_META | names("claude-code", "shell_changes").keys()
"""What stands elsewhere in the step, or nowhere."""
_OF_AGENTS = (("agent_tokens", "totalTokens"), ("agent_calls", "totalToolUseCount"))
_LEAST_QUOTE = 24  # a shorter text that also stands somewhere in the output may well be there by chance

_CODE = re.compile(r"\AExit code (-?\d{1,9})$", re.MULTILINE | re.ASCII)
_GONE = object()

_SHELL_CHANGES = tuple(names("claude-code", "shell_changes").items())
"""Members of a shell call's result that say what it changed in files, and theirs that lists the changes."""
_KEPT = tuple(names("claude-code", "kept_outputs").items())
"""How an output begins of which the whole is in a file, and what stands before the file's name."""
_MOST_NOTED = 1_000
_REFUSALS = tuple(names("claude-code", "refusals").items())
"""How the output of a refused call begins, in versions that do not say `permissionDecision`, and who refused."""
_ANSWERS = {"accept": "allow", "reject": "deny"}


class _Shown:
    """What a reader of the step sees anyway: the call's arguments and the output."""

    def __init__(self, args: Json, output: Json) -> None:
        members = dict_of(args)
        blocks = [dict_of(block).get("text") for block in list_of(output)]
        if isinstance(output, str):
            self.text = output
        else:
            self.text = "\n".join(text for text in blocks if isinstance(text, str))
        self._whole = {text for text in (*members.values(), *blocks) if isinstance(text, str)}
        self._whole |= {self.text, self.text.strip()}
        self._args = {key.replace("_", "").lower(): value for key, value in members.items()}
        self._objects = [value for value in (*members.values(), output) if isinstance(value, dict | list) and value]

    def says(self, text: str) -> bool:
        """Whether `text` stands there, whole or as a quotation."""
        return text in self._whole or (len(text) >= _LEAST_QUOTE and text.strip() in self.text)

    def numbers(self, text: str) -> bool:
        """Whether `text` is in the output with something before each line, as Read shows a file."""
        first, last = text[:200].partition("\n")[0], text[-200:].rstrip("\n").rpartition("\n")[2]
        return bool(first and last) and first in self.text and last in self.text

    def names(self, key: str, value: Json) -> bool:
        """Whether the call has an argument of this name and value."""
        given = self._args.get(key.replace("_", "").lower(), _GONE)
        return type(given) is type(value) and bool(given == value)

    def holds(self, value: Json) -> bool:
        """Whether an argument, or the output, is this object."""
        return value in self._objects


def added_by(result: Json, args: Json, output: Json) -> tuple[Json, int]:
    """What `toolUseResult` adds to the call and its output, None if nothing; and how many whole files were left out."""
    shown = _Shown(args, output)
    originals = 0
    if isinstance(result, dict):
        originals = sum(isinstance(result.get(key), str) for key in _WHOLE_FILES)
        result = {key: value for key, value in result.items() if key not in _LEFT}
    elif isinstance(result, str) and shown.says(result.removeprefix("Error: ")):
        result = None
    rest = _trim(result, shown)
    return (rest if rest is not _GONE and _says_something(rest) else None), originals


def _trim(value: Json, shown: _Shown) -> Json:
    """`value` without what is shown anyway; `_GONE` if nothing is left."""
    if isinstance(value, str):
        if value and shown.says(value):
            return _GONE
        return value
    if isinstance(value, dict):
        return _trim_object(value, shown)
    if isinstance(value, list) and value:
        if shown.holds(value):
            return _GONE
        if all(isinstance(item, str) for item in value) and "\n".join(value) in shown.text:
            return _GONE
        # A list is kept or left out as a whole: places in it mean something.
        if all(_trim(item, shown) is _GONE for item in value):
            return _GONE
        return value
    return value


def _trim_object(value: dict[str, Json], shown: _Shown) -> Json:
    if shown.holds(value):
        return _GONE
    kept: dict[str, Json] = {}
    for key, item in value.items():
        if key in _KEPT_WHOLE:
            kept[key] = item
        elif not shown.names(key, item) and not (key == "content" and isinstance(item, str) and shown.numbers(item)):
            rest = _trim(item, shown)
            if rest is not _GONE:
                kept[key] = rest
    if len(kept) < len(value) and kept.keys() <= {"type"}:
        return _GONE
    return kept


def _says_something(value: Json) -> bool:
    """Whether there is anything in `value` but null, no, and emptiness. A zero is a count."""
    if isinstance(value, dict):
        return any(_says_something(item) for item in value.values())
    if isinstance(value, list):
        return any(_says_something(item) for item in value)
    return value is not None and value is not False and value != ""


def shell_changes(result: Json) -> tuple[dict[str, Json], dict[str, Json]]:
    """The members and values that say what files a shell call changed, and how, as Claude Code compared them itself."""
    paths: dict[str, None] = {}
    changes: list[Json] = []
    left_out = 0
    for name, listed in _SHELL_CHANGES:
        said = dict_of(dict_of(result).get(name))
        for change in map(dict_of, list_of(said.get(listed))):
            path = text_of(change.get("filePath"))
            if path:
                paths[path] = None
                changes.append({"path": path, "hunks": change.get("hunks")})
        paths |= dict.fromkeys(path for path in list_of(said.get("changedFiles")) if isinstance(path, str) and path)
        left_out += int_of(said.get("moreFiles")) or 0
    if not paths and not left_out:
        return {}, {}
    unnamed = max(len(changes) + left_out - len(paths), 0)
    meta: dict[str, Json] = {"unnamed_changes": unnamed or None}
    return known(meta), known({"content.changed_paths": list(paths), "content.changes": changes or None})


def kept_output(result: Json, output: Json) -> tuple[str | None, int | None]:
    """The file that Claude Code put the whole of an output into, and how many bytes it has, as far as it says."""
    members = dict_of(result)
    path = text_of(members.get("persistedOutputPath"))
    if path is not None:
        return path, int_of(members.get("persistedOutputSize"))
    if isinstance(output, str):
        for beginning, before in _KEPT:
            if output.startswith(beginning):
                return output[:_MOST_NOTED].partition(before)[2].partition("\n")[0].strip() or None, None
    return None, None


def result_meta(line: dict[str, Json], block: dict[str, Json], output: Json) -> dict[str, Json]:
    """How a call ended: success, how long it took, and who allowed or refused it."""
    result = line.get("toolUseResult")
    members = dict_of(result)
    meta = _decision(line, result, output, failed=block.get("is_error") is True)
    denial = line.get("toolDenialKind")
    interrupted = (
        members.get("interrupted") is True
        or denial in ("interrupted", "cancelled")
        or (isinstance(result, str) and "[Request interrupted by user" in result[:80])
    )
    if interrupted:
        meta["interrupted"] = True
    meta["success"] = not (block.get("is_error") is True or interrupted or meta.get("decision") == "deny")
    if not meta["success"]:
        meta |= ended(False, failed_with(output))
    took = members.get("durationMs", members.get("totalDurationMs"))
    if isinstance(took, int | float) and not isinstance(took, bool) and 0 <= took < 1e15:
        meta["duration_ms"] = int(took)
    agent = text_of(members.get("agentId"))
    if agent is not None:
        meta["agent_id"] = agent
    for name, member in _OF_AGENTS:
        count = int_of(members.get(member))
        if count is not None and count >= 0:
            meta[name] = count
    _, size = kept_output(result, output)
    if size is not None:
        meta["output_bytes"] = size
    return meta


def failed_with(output: Json) -> int | None:
    """The exit code that the output of a failed command begins with."""
    return code_before(output, _CODE)


def _decision(line: dict[str, Json], result: Json, output: Json, *, failed: bool) -> dict[str, Json]:
    said = dict_of(line.get("permissionDecision"))
    answer = text_of(said.get("decision"))
    if answer is not None:
        reason = text_of(said.get("reasonCode")) or text_of(said.get("reasonType"))
        return _words(_ANSWERS.get(answer, answer), text_of(said.get("source")), reason)
    denial = text_of(line.get("toolDenialKind"))
    if denial in ("user-rejected", "permission-rule"):
        return _words("deny", "user" if denial == "user-rejected" else "rule", denial)
    if result == "User rejected tool use":
        return _words("deny", "user", None)
    if failed and isinstance(output, str):
        for beginning, who in _REFUSALS:
            if output.startswith(beginning):
                return _words("deny", who or None, None)
    return {}


def _words(decision: str, who: str | None, reason: str | None) -> dict[str, Json]:
    said = {"decision": decision, "decided_by": who, "decision_reason": reason}
    return known(said)
