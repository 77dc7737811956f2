"""Joining what two witnesses say: whether it is the same event, and whether they agree on it (docs/format.md 13.3, 13.5).

Owns the normalisation under which the reports of different sources are compared, and which events of a source without
ids wait for those of another. Must not know how steps are read or written.

The normalisation, stated: text is compared without blanks around it; blocks of text, and an object with nothing but one
text in it, count as that text; of a tool's output, the lines `Exit code: …` and similar before `Output:` are left out;
arguments that are, or hold, nothing but one command count as that command; and objects, but for arguments, are compared
in the members that both have, which must be one at least.
"""

from __future__ import annotations

import enum
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from hashlib import blake2b

import msgspec

from tallystick.agents.hooks import UNNAMED
from tallystick.model.moments import normal_time
from tallystick.model.pattern import pattern_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Step
from tallystick.seal.tagged import sealed_text

_MOST_WAITING = 10_000
_ONCE = frozenset(("compaction", "session_end"))
"""What a session does once: after a compaction another one goes on."""
_COMMANDS = frozenset(("command", "cmd"))
_FRAME = pattern_of(r"(?:(?:[A-Z][A-Za-z ]{0,30}: [^\n]{0,200}|Process exited with code -?\d+)\n){1,8}Output:(?:\s|\Z)")


class Corroboration(enum.StrEnum):
    """How one source's report of an event stands to another's."""

    SAME = "same"
    MORE = "more"
    """It agrees in what both say, and says something that the other does not."""
    OTHER = "other"


class Told(msgspec.Struct, frozen=True):
    """What 13.3 compares of a step: its `content.*` values but `content.meta`, raw values, `tokens` and its outcome."""

    values: Mapping[str, Json]
    raw: Mapping[str, bytes] = {}
    tokens: Json = None
    success: Json = None
    exit_code: Json = None

    def names(self) -> frozenset[str]:
        """The names of its values."""
        return frozenset((*self.values, *self.raw))


def told_by(step: Step | Recorded, values: Mapping[str, Json], raw: Mapping[str, bytes]) -> Told:
    """What is compared of a step with these values."""
    shown = {
        name: value
        for name, value in values.items()
        if name.startswith("content.") and name != "content.meta" and value is not None
    }
    kept = {name: data for name, data in raw.items() if name.startswith("content.")}
    meta = step.meta
    return Told(shown, kept, meta.get("tokens"), meta.get("success"), meta.get("exit_code"))


def corroboration(first: Told, second: Told) -> Corroboration:
    """How `second`, of another source, stands to `first`."""
    both = (first.values.keys() | first.raw.keys()) & second.names()
    relations = {_relation_at(name, first, second) for name in both}
    if Corroboration.OTHER in relations or not _compatible(first, second):
        return Corroboration.OTHER
    is_more = second.names() - first.names() or (first.tokens is None and second.tokens is not None)
    if is_more or Corroboration.MORE in relations:
        return Corroboration.MORE
    return Corroboration.SAME


_OUTRANKED = {"transcript": frozenset(("hook",))}
"""By source: whose word on how a call ended it outranks. A hook guesses at that moment what the agent's file then says."""


def outranks(source: str, others: Iterable[Json]) -> bool:
    """Whether a source outranks all that reported an event before."""
    return set(others) <= _OUTRANKED.get(source, frozenset())


def ends_otherwise(first: Told, second: Told) -> bool:
    """Whether `second` says of the outcome what `first` does not."""
    pairs = ((first.success, second.success), (first.exit_code, second.exit_code))
    return any(yours is not None and mine != yours for mine, yours in pairs)


def _compatible(first: Told, second: Told) -> bool:
    pairs = ((first.tokens, second.tokens), (first.success, second.success), (first.exit_code, second.exit_code))
    return all(mine is None or yours is None or _same_where_both_say(mine, yours) for mine, yours in pairs)


def _same_where_both_say(first: Json, second: Json) -> bool:
    """Token counts agree in those that both sources give; one may not know of caches or of reasoning."""
    if isinstance(first, dict) and isinstance(second, dict):
        return all(first[name] == second[name] for name in first.keys() & second.keys())
    return bool(first == second)


def told_already(first: Told, second: Told) -> frozenset[str]:
    """The names of values of `second` that say nothing that those of `first` do not."""
    both = first.names() & second.names()
    return frozenset(name for name in both if _relation_at(name, first, second) is Corroboration.SAME)


def _relation_at(name: str, first: Told, second: Told) -> Corroboration:
    if name in first.raw or name in second.raw:
        is_same = name in first.raw and first.raw[name] == second.raw.get(name)
        if is_same:
            return Corroboration.SAME
        return Corroboration.OTHER
    return _relation(name, first.values[name], second.values[name])


def _relation(name: str, first: Json, second: Json) -> Corroboration:
    """How a value stands to another source's. An object may leave out members that the other has: what both have counts."""
    if normal(name, first) == normal(name, second):
        return Corroboration.SAME
    if name == "content.args" or not (isinstance(first, dict) and isinstance(second, dict)):
        return Corroboration.OTHER
    relations = {_relation(name, first[key], second[key]) for key in first.keys() & second.keys()}
    if Corroboration.OTHER in relations or not relations:
        return Corroboration.OTHER
    if second.keys() - first.keys() or Corroboration.MORE in relations:
        return Corroboration.MORE
    return Corroboration.SAME


def normal(name: str, value: Json) -> bytes:
    """A value as it is compared: canonical bytes of its normalised form."""
    if name == "content.args":
        command = _command(value)
        return sealed_text(command.strip() if command is not None else value)
    text = _text(value)
    if text is None:
        return sealed_text(value)
    return sealed_text(_unframed(text.strip()) if name == "content.output" else text.strip())


def _command(args: Json) -> str | None:
    """The command that arguments are, or that is all they hold."""
    if isinstance(args, str):
        return args
    if isinstance(args, dict) and len(args) == 1:
        (name, value) = next(iter(args.items()))
        if name in _COMMANDS and isinstance(value, str):
            return value
        return None
    return None


def _text(value: Json) -> str | None:
    """The text that a value is: itself, blocks of text, or the only thing in an object."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(block, dict) for block in value):
        texts = [block.get("text") for block in value if block.keys() <= {"type", "text"}]
        whole = [text for text in texts if isinstance(text, str)]
        if len(whole) == len(value):
            return "\n".join(whole)
        return None
    if isinstance(value, dict) and len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str):
            return only
        return None
    return None


def _unframed(text: str) -> str:
    frame = _FRAME.match(text)
    if frame is not None:
        return text[frame.end() :].strip()
    return text


# The same source again -------------------------------------------------------------------------------------------------

_NOT_COMPARED = frozenset(("ts_text", "source_id", "corr", "input", "same"))


def said_exactly(step: Recorded) -> bytes:
    """What 13.3 compares of a step with what the same source says again: `content.*`, `tokens` and `success`."""
    values = {name: value for name, value in step.values.items() if name.startswith("content.")}
    return compared(values, step.raw, step.meta)


def compared(values: Mapping[str, Json], raw: Mapping[str, bytes], meta: Mapping[str, Json]) -> bytes:
    """Canonical bytes of the `content.*` values, raw values and members that are compared."""
    shown = {name: value for name, value in values.items() if name != "content.meta"}
    members = values.get("content.meta")
    rest = {
        key: value for key, value in (members if isinstance(members, dict) else {}).items() if key not in _NOT_COMPARED
    }
    return sealed_text([shown, rest, meta.get("tokens"), meta.get("success")]) + b"".join(
        name.encode() + data for name, data in sorted(raw.items())
    )


# Events without ids --------------------------------------------------------------------------------------------------


def is_unnamed(source_id: str | None) -> bool:
    """Whether an id is one of ours, for an event whose source gives none."""
    return source_id is not None and source_id.startswith(UNNAMED)


def join_key(step: Step | Recorded, values: Mapping[str, Json]) -> bytes | None:
    """What an event of a source without ids has in common with another source's report of it; None: nothing to go by.

    A result is not found so: it belongs to its call, whatever it says.
    """
    if step.type in _ONCE:
        return step.type.encode()
    if step.type == "model_call":
        return _usage_key(step.meta.get("tokens"))
    name = next((name for name in ("content.args", "content.text") if values.get(name) is not None), None)
    if name is None or step.type == "tool_result":
        return None
    tool = step.meta.get("tool")
    key = sealed_text([step.type, tool.casefold() if isinstance(tool, str) else None])
    return blake2b(key + normal(name, values[name]), digest_size=16).digest()


def seconds_apart(first: Json, second: Json) -> float | None:
    """How many seconds lie between two times; None if one of them is none, or has no zone."""
    moments = []
    for text in (first, second):
        found = None
        if isinstance(text, str):
            found = normal_time(text, UTC)
        if found is None or found[1]:
            return None
        moments.append(datetime.fromisoformat(found[0]))
    return (moments[1] - moments[0]).total_seconds()


def _usage_key(tokens: Json) -> bytes | None:
    """Calls of a model with the same counts, in the order in which they were told."""
    if not isinstance(tokens, dict) or tokens.get("input") is None or tokens.get("output") is None:
        return None
    counts = [tokens["input"], tokens["output"], tokens.get("cache_read", 0)]
    return blake2b(sealed_text(["model_call", *counts]), digest_size=16).digest()


class Waiting:
    """Entries that wait for another source to tell the same event, by what they would have in common. The oldest first."""

    def __init__(self) -> None:
        self._by_key: dict[bytes, deque[int]] = {}
        self._keys: OrderedDict[int, bytes] = OrderedDict()

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: bytes, n: int) -> None:
        """Let entry `n` wait. Of very many, the oldest waits no longer."""
        self._by_key.setdefault(key, deque()).append(n)
        self._keys[n] = key
        if len(self._keys) > _MOST_WAITING:
            self.remove(next(iter(self._keys)))

    def remove(self, n: int) -> None:
        """Let entry `n` wait no longer, if it does."""
        key = self._keys.pop(n, None)
        if key is not None:
            self._by_key[key].remove(n)
            if not self._by_key[key]:
                del self._by_key[key]

    def candidates(self, key: bytes) -> tuple[int, ...]:
        """The entries that wait under a key, the oldest first."""
        return tuple(self._by_key.get(key, ()))
