"""Claude Code: what its transcripts (`~/.claude/projects/*/*.jsonl` and below) say, as steps.

Owns where they are and how one is known; _claude_reader.py reads them. Must not know how steps are recorded.
"""

from __future__ import annotations

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.claude_code.lines import BOOKKEEPING, TITLES
from tallystick.agents.claude_code.reader import ClaudeReader
from tallystick.agents.claude_code.tree import AGENT, META
from tallystick.agents.kit.reading import dict_of, text_of
from tallystick.agents.recognition import count_members, objects
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Json

NAME = AGENT
SHAPE = Shape.LINES
GLOBAL_IDS = True
COMPANIONS: tuple[str, ...] = (META,)

_HEAD_LINES = 20
_MEMBERS = ("type", "sessionId", "uuid", "parentUuid", "isSidechain", "message.content", "leafUuid", "messageId")


def locate() -> tuple[str, ...]:
    """Where Claude Code keeps transcripts; sub-agents' are in folders below their session's."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """How much the first line that says whose it is has of a transcript's line."""
    for line in objects(head)[:_HEAD_LINES]:
        verdict = _is_ours(line)
        if verdict is not None:
            if verdict:
                return count_members(line, also=_MEMBERS)
            return 0
    return 0


def _is_ours(line: dict[str, Json]) -> bool | None:
    """Whether a line is of a transcript, None if it could be of another agent's too."""
    kind = text_of(line.get("type"))
    if kind in ("user", "assistant") or (kind is None and "isSidechain" in line):
        # Qwen Code writes the same lines with another model's messages in them.
        return ("isSidechain" in line or "sessionId" in line) and "content" in dict_of(line.get("message"))
    named_by = {"summary": "leafUuid", "file-history-snapshot": "messageId", "attachment": "attachment"}.get(kind or "")
    if named_by is not None:
        return named_by in line
    if (kind in BOOKKEEPING or kind in TITLES) and "sessionId" in line:
        return True
    return None


def reader(file: SourceFile) -> Reader:
    """A reader of one transcript."""
    return ClaudeReader(file)
