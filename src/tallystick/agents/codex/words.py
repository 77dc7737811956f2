"""The words in a response item of Codex: text, thinking, where a prompt comes from.

Owns the content blocks, and telling a prompt that someone typed from one that Codex wrote for the model. Must not know
the item's place in the session.
"""

from __future__ import annotations

from tallystick.agents.kit.media import take_out
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.model.step import Json

_TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
_INJECTED = (
    "<environment_context>",
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<model_switch>",
    "<personality_spec>",
    "<skill>",
    "<skills_instructions>",
    "<plugins_instructions>",
    "<apps_instructions>",
    "<hook_prompt",
    "<turn_aborted>",
)
_OPENINGS = (
    *((text, "injected") for text in _INJECTED),
    ("<user_shell_command>", "command"),
    ("<subagent_notification>", "notification"),
)
"""How prompts begin that no one typed, for versions that do not say where a prompt comes from."""


def said(content: Json, name: str = "content.text") -> tuple[dict[str, Json], dict[str, bytes]]:
    """The values and raw values of a message: its text, and its blocks too if not all of them are text."""
    if isinstance(content, str):
        return {name: content}, {}
    blocks = list_of(content)
    texts = [text for block in blocks if (text := _text(block)) is not None]
    values: dict[str, Json] = {}
    if texts:
        values = {name: "\n".join(texts)}
    others = [block for block in blocks if _text(block) is None and not is_encrypted(block)]
    if not others:
        return values, {}
    values["content.blocks"], raw = take_out(others)
    return values, raw


def _text(block: Json) -> str | None:
    found = dict_of(block)
    if found.get("type") in _TEXTS:
        return text_of(found.get("text"))
    if found.get("type") == "encrypted_content" and not is_encrypted(block):
        return text_of(found.get("encrypted_content"))
    return None


def is_encrypted(block: Json) -> bool:
    """Whether a block is ciphertext. Some providers send plain words in it; ciphertext has no spaces."""
    found = dict_of(block)
    return found.get("type") == "encrypted_content" and " " not in str(found.get("encrypted_content"))


def thought(payload: dict[str, Json]) -> dict[str, Json]:
    """The values of a reasoning item: the thinking, or the summary of it that the provider gives."""
    whole, _ = said(payload.get("content"), "content.thinking")
    brief, _ = said(payload.get("summary"), "content.thinking")
    if not whole:
        return brief
    if brief:
        return {**whole, "content.summary": brief["content.thinking"]}
    return whole


def origin(payload: dict[str, Json], *, child: bool) -> str | None:
    """Where a user message comes from: `injected`, `summary`… or None, if someone typed it.

    No one types into a sub-agent: what would be a prompt in another session is its parent's task there.
    """
    passed = dict_of(payload.get("internal_chat_message_metadata_passthrough"))
    kinds = [text for kind in list_of(passed.get("content_item_kinds")) if (text := text_of(kind)) is not None]
    if set(kinds) - {"unknown"}:
        found = _of_kinds(kinds)
    else:
        found = _of_text(payload)
    if found is None and child:
        return "parent"
    return found


def _of_kinds(kinds: list[str]) -> str | None:
    if any(kind.startswith("user.") for kind in kinds):
        return None
    if "compaction.summary" in kinds:
        return "summary"
    if any("notification" in kind for kind in kinds):
        return "notification"
    return "injected"


def _of_text(payload: dict[str, Json]) -> str | None:
    values, _ = said(payload.get("content"))
    start = (text_of(values.get("content.text")) or "").lstrip()[:64]
    return next((where for opening, where in _OPENINGS if start.startswith(opening)), None)
