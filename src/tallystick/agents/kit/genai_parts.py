"""The content parts of Google's API, in which Gemini CLI and Qwen Code keep messages.

Owns splitting a message into its text, its thinking, its calls and what answers calls. Must not know either agent's
lines.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tallystick.agents.kit.columns import known
from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.reading import dict_of, int_of, text_of
from tallystick.model.step import Json

_TEXT, _THOUGHT = "text", "thought"


class Message(msgspec.Struct, frozen=True):
    """What the parts of one message say."""

    text: str | None = None
    thoughts: tuple[str, ...] = ()
    calls: tuple[dict[str, Json], ...] = ()
    """`{id, name, args}` of each."""
    answers: tuple[dict[str, Json], ...] = ()
    """`{id, name, response}` of each."""
    others: Json = None
    """Pictures and other parts, their bytes taken out."""
    raw: dict[str, bytes] = {}

    def values(self) -> dict[str, Json]:
        """The field values of the words."""
        named = {"content.text": self.text, "content.blocks": self.others}
        return known(named)


def split(content: Json) -> Message:
    """The message that `content` is: text, one part, or a list of parts."""
    if isinstance(content, list):
        parts = content
    elif content is None:
        parts = []
    else:
        parts = [content]
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Json]] = []
    answers: list[dict[str, Json]] = []
    others: list[Json] = []
    for part in parts:
        found: dict[str, Json]
        if isinstance(part, str):
            found = {_TEXT: part}
        else:
            found = dict_of(part)
        text = text_of(found.get(_TEXT))
        if isinstance(found.get("functionCall"), dict):
            calls.append(found["functionCall"])
        elif isinstance(found.get("functionResponse"), dict):
            answers.append(found["functionResponse"])
        elif text is None:
            others.append(part)
        elif text:
            (thoughts if found.get(_THOUGHT) else texts).append(text)
    if others:
        blocks, raw = take_out(others)
    else:
        blocks, raw = None, {}
    return Message("".join(texts) or None, tuple(thoughts), tuple(calls), tuple(answers), blocks, raw)


def answered(response: Json) -> tuple[Json, bool]:
    """What a function response gives the model, and whether it tells an error."""
    found = dict_of(response)
    if len(found) == 1:
        return next(iter(found.values())) if found.keys() <= {"output", "error"} else response, "error" in found
    return response, text_of(found.get("error")) is not None


def tokens(counts: dict[str, Json], names: Mapping[str, str]) -> dict[str, int]:
    """Token counts in which nothing is counted twice.

    Google counts cached tokens as input, too, thoughts mostly beside the output, and prompts of tools beside the input.
    Here `input` is what no cache gave and `output` all that was generated; `reasoning` is a part of it.

    Args:
        names: what the source calls `input`, `output`, `cached`, `thoughts`, `tool` and `total`.
    """
    found = {name: int_of(counts.get(member)) for name, member in names.items()}
    known = {name: count for name, count in found.items() if count is not None and count >= 0}
    cached, thoughts = known.get("cached", 0), known.get("thoughts", 0)
    result: dict[str, int] = {}
    if "input" in known:
        result["input"] = max(known["input"] - cached, 0) + known.get("tool", 0)
    if "output" in known:
        counted = known.get("total") == known.get("input", 0) + known["output"]
        result["output"] = known["output"] + (0 if counted else thoughts)
    if "cached" in known:
        result["cache_read"] = cached
    if "thoughts" in known:
        result["reasoning"] = thoughts
    return result
