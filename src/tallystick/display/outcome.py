"""A step in a few words: its name, how long it took, and its result, on one line.

Owns which of a step's values says most about it, type by type. Everything it returns is safe to print. Must not know
where the step was found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from tallystick.display.tagged import readable
from tallystick.display.text import cut, first_line, one_line
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

# What a tool was asked, by the names of arguments under which agents say it, the most telling first.
_TELLING = (
    *("command", "cmd", "file_path", "path", "filePath", "url"),
    *("query", "pattern", "description", "prompt", "code", "input"),
)
_TOKEN_WORDS = {
    "input": "in",
    "output": "out",
    "cache_read": "cached",
    "cache_write": "to cache",
    "reasoning": "reasoning",
}
_TEXTS = ("content.text", "content.error", "content.label", "content.goal", "content.reason")
_LIVE = ("hook", "acp", "sdk", "watch", "otel")
"""Sources that report what they see as it happens: the moment of recording is that of happening."""
_LONGEST = 4000
"""Of a long value only so much is looked at for one line."""


def name_of(step: Recorded) -> str:
    """Which tool, model or agent: the word beside the type; often none exists."""
    member = {"model_call": "model", "usage": "model", "session_start": "agent"}.get(step.type, "tool")
    name = _member(step, member)
    if name is None and step.type in ("user", "system", "permission"):
        name = _member(step, "subtype") or _member(step, "origin") or _member(step, "hook")
    if name is None and step.type.startswith("subagent"):
        name = _member(step, "agent_type") or _member(step, "agent_role")
    if name is None:
        return ""
    return one_line(str(name))


def duration_of(step: Recorded) -> str:
    """`35 ms`, `1.2 s`, `3 min 5 s`; empty if no one measured it."""
    found = step.meta.get("duration_ms")
    if type(found) is int and found >= 0:
        return duration_text(found)
    return ""


def duration_text(milliseconds: int) -> str:
    """A duration for people."""
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(milliseconds // 1000, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    return f"{minutes // 60} h {minutes % 60} min"


def when_of(step: Recorded) -> str:
    """When it happened, in UTC. `[2026-01-02 03:04]` is when it was recorded, of steps whose source says no time."""
    happened, recorded = _time(step, "ts"), _time(step, "recorded")
    if happened or step.meta.get("source") in _LIVE:
        return happened or recorded
    if recorded:
        return f"[{recorded[:16]}]"
    return ""


def _time(step: Recorded, member: str) -> str:
    text = step.meta.get(member)
    if isinstance(text, str) and len(text) >= 19:
        return one_line(text[:19].replace("T", " "))
    return ""


def is_refused(step: Recorded) -> bool:
    """Whether someone or some rule refused what was asked for."""
    return _member(step, "decision") in ("deny", "block") or _member(step, "action") in ("deny", "block")


def is_failed(step: Recorded) -> bool:
    """Whether it says that it did not succeed."""
    return step.meta.get("success") is False or (step.type == "session_end" and _member(step, "status") == "failed")


def outcome_of(step: Recorded, width: int) -> str:
    """The result of the step, within `width` columns."""
    return cut(" · ".join(first_line(part, width) for part in _parts(step) if part), width)


def _parts(step: Recorded) -> Iterator[str]:
    """What there is to say, most telling first. Still unsafe: the caller makes it one safe line."""
    match step.type:
        case "model_call" | "usage":
            yield tokens_text(step.meta.get("tokens")) or _word(step, "stop_reason")
            yield _cost(step)
            yield _first_value(step, "content.error")
        case "tool_call":
            yield asked(step.values.get("content.args"))
        case "tool_result":
            yield from _result(step)
        case "session_start":
            yield _word(step, "kind")
            yield "resumed" if _member(step, "resumed") is True else ""
            yield _word(step, "model")
            yield _first_value(step, "content.title", "personal.cwd")
        case "session_end":
            yield _word(step, "status") or _word(step, "reason")
        case "config_change" if "content.after" in step.values:
            before, after = plain(step.values.get("content.before")), plain(step.values["content.after"])
            yield f"{_word(step, 'key')}: {before} → {after}"
        case "sighting":
            seen = step.meta.get("steps")
            yield (
                f"confirmed: {_word(step, 'source')} reports the same {len(seen)} steps"
                if isinstance(seen, list)
                else ""
            )
        case "assistant" if "content.text" not in step.values and "content.thinking" in step.values:
            yield "(thinking) " + _first_value(step, "content.thinking")
        case _:
            yield _decision(step)
            yield _first_value(
                step, "content.text", "content.error", "content.label", "content.goal", "content.reason", "content.path"
            ) or _any(step)
    yield gone(step)


def _result(step: Recorded) -> Iterator[str]:
    """How a call ended: refused, failed or done, its exit code, and the first line of what it gave."""
    code = _member(step, "exit_code")
    if is_refused(step):
        yield _decision(step)
    elif is_failed(step):
        if type(code) is int:
            yield f"failed, exit {code}"
        else:
            yield "failed"
    elif type(code) is int:
        yield f"exit {code}"
    yield _first_value(step, "content.error") or _first_value(step, "content.output") or _any(step)


def _member(step: Recorded, name: str) -> Json:
    """A member of a step, as it was before it was tagged."""
    return readable(step.member(name))


def _decision(step: Recorded) -> str:
    """`DENIED by config: the rule`, `allow`; empty if nothing was decided."""
    decision = _member(step, "decision") or _member(step, "action")
    if not isinstance(decision, str):
        return ""
    word = decision
    if is_refused(step):
        word = "DENIED"
    by, why = _member(step, "decided_by"), _member(step, "decision_reason")
    if isinstance(by, str):
        word += f" by {by}"
    if isinstance(why, str):
        word += f": {why}"
    return word


def _word(step: Recorded, member: str) -> str:
    value = _member(step, member)
    if isinstance(value, str):
        return value
    return ""


def _first_value(step: Recorded, *names: str) -> str:
    """The first of some values that is there and says something."""
    for name in names:
        text = plain(step.values.get(name))
        if text:
            return text
    return ""


def _any(step: Recorded) -> str:
    """Any content at all, where a type is not known here."""
    names = sorted(name for name in step.values if name.startswith("content.") and name != "content.meta")
    return _first_value(step, *names)


def plain(value: Json) -> str:
    """The beginning of a value as text: text unchanged, blocks of text joined, anything else as JSON."""
    if value is None:
        return ""
    value = readable(value)
    if isinstance(value, str):
        return value[:_LONGEST].strip()
    if isinstance(value, list) and all(isinstance(block, dict) for block in value):
        return "\n".join(map(_block, value))[:_LONGEST].strip()
    return _json(value)


def _block(block: dict[str, Json]) -> str:
    """A block of a message: its text, else `[image]` and similar."""
    text = block.get("text")
    if isinstance(text, str):
        return text
    return f"[{block.get('type', '?')}]"


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)[:_LONGEST]


def asked(args: Json) -> str:
    """What a tool was asked, from its arguments."""
    args = readable(args)
    if not isinstance(args, dict):
        return plain(args)
    for name in _TELLING:
        value = args.get(name)
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return " ".join(value)[:_LONGEST]
        if isinstance(value, str) and value.strip():
            return value[:_LONGEST].strip()
    if args:
        return _json(args)
    return ""


def tokens_text(tokens: Json) -> str:
    """`1,234 in, 56 out, 1,000 cached`."""
    if not isinstance(tokens, dict):
        return ""
    return ", ".join(
        f"{tokens[key]:,} {word}"
        for key, word in _TOKEN_WORDS.items()
        if type(tokens.get(key)) is int and tokens[key] > 0
    )


def _cost(step: Recorded) -> str:
    cost = step.meta.get("cost_microusd")
    if type(cost) is int:
        return f"${cost / 1_000_000:.4f}"
    return ""


def gone(step: Recorded) -> str:
    """What cannot be shown: erased or withheld values, and large ones that were not loaded."""
    hidden = names_text(step.withheld)
    large = ", ".join(f"{name} of {size:,} bytes" for name, size in step.unloaded.items())
    if hidden:
        hidden = f"▧ withheld: {hidden}"
    return " · ".join(part for part in (hidden, large) if part)


def names_text(names: Iterable[str]) -> str:
    """Field names, listed. They are words of the program, but a journal may have been tampered with."""
    return ", ".join(one_line(name) for name in names)
