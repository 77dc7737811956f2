"""Claude Code: what its transcripts (`~/.claude/projects/*/*.jsonl` and below) say, as steps.

Owns where they are and how one is known; _claude_reader.py reads them. Must not know how steps are recorded.
"""

from __future__ import annotations

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents._claude_lines import BOOKKEEPING, TITLES
from tallystick.agents._claude_reader import ClaudeReader
from tallystick.agents._claude_tree import AGENT, META
from tallystick.agents.reading import BadJson, dict_of, loads, text_of
from tallystick.model.step import Json

NAME = AGENT
SHAPE = Shape.LINES
GLOBAL_IDS = True
COMPANIONS: tuple[str, ...] = (META,)

_HEAD_LINES = 20


def locate() -> tuple[str, ...]:
    """Where Claude Code keeps transcripts; sub-agents' are in folders below their session's."""
    return (".claude/projects/**/*.jsonl", ".config/claude/projects/**/*.jsonl")


def recognises(path: str, head: bytes) -> bool:
    """Whether the first line that says so is a line of a transcript."""
    for text in head.split(b"\n", _HEAD_LINES)[:_HEAD_LINES]:
        try:
            verdict = _is_ours(loads(text.strip(b"\0")).value) if text.strip(b"\0 \r\t") else None
        except BadJson:
            continue
        if verdict is not None:
            return verdict
    # A first line that is longer than the head cannot be parsed.
    return b"\n" not in head and b'"isSidechain":' in head and b'"sessionId":' in head and b'"parts":' not in head


def _is_ours(line: Json) -> bool | None:
    """Whether a line is of a transcript, None if it could be of another agent's too."""
    if not isinstance(line, dict):
        return False
    kind = text_of(line.get("type"))
    if kind in ("user", "assistant"):
        # Qwen Code writes the same lines with another model's messages in them.
        return ("isSidechain" in line or "sessionId" in line) and "content" in dict_of(line.get("message"))
    named_by = {"summary": "leafUuid", "file-history-snapshot": "messageId", "attachment": "attachment"}.get(kind or "")
    if named_by is not None:
        return named_by in line
    return True if (kind in BOOKKEEPING or kind in TITLES) and "sessionId" in line else None


def reader(file: SourceFile) -> Reader:
    """A reader of one transcript."""
    return ClaudeReader(file)
