"""What each agent is known not to tell, by which way: so that a difference between two accounts is named, not hidden.

Owns the list. Each was observed with the version that the agent's page names. Must not know what was recorded.
"""

from __future__ import annotations

import msgspec

from tallystick.model.step import Source

CALL = frozenset(("tool_call", "tool_result"))
RESULT = frozenset(("tool_result",))
PROMPT = frozenset(("user",))
EVERYTHING = CALL | PROMPT


class BlindSpot(msgspec.Struct, frozen=True, kw_only=True):
    """Events of some types that one source does not tell, and when."""

    source: Source
    types: frozenset[str]
    when: str
    """A sentence for a person, without a full stop."""
    tools: frozenset[str] = frozenset()
    """Only for these tools; empty: for all."""


def _unseen(types: frozenset[str], when: str, *, tools: tuple[str, ...] = ()) -> BlindSpot:
    return BlindSpot(source=Source.HOOK, types=types, when=when, tools=frozenset(tools))


def _unwritten(types: frozenset[str], when: str) -> BlindSpot:
    return BlindSpot(source=Source.TRANSCRIPT, types=types, when=when)


BLIND_SPOTS: dict[str, tuple[BlindSpot, ...]] = {
    "claude-code": (
        _unseen(EVERYTHING, "with hooks over HTTP nothing is told while no recorder listens"),
        _unseen(RESULT, "a call that the user rejected or interrupted has no hook after it"),
        _unseen(CALL, "a call that fails the check of its input has no hook of its own"),
        _unseen(EVERYTHING, "after SIGINT or SIGTERM only the end of the session is told, after SIGKILL nothing"),
        _unwritten(PROMPT, "a finished background agent is told to hooks as a prompt"),
        _unwritten(RESULT, "the result of an interrupted call may be missing from the transcript"),
    ),
    "codex": (
        _unseen(RESULT, "a call that was denied or could not start has no hook after it"),
        _unseen(EVERYTHING, "after SIGTERM nothing is told"),
        _unseen(
            CALL, "in code mode hooks see the calls inside a script, under ids of their own", tools=("exec", "wait")
        ),
        _unwritten(CALL, "in code mode the transcript has the script, not the calls inside it"),
    ),
    "gemini": (
        _unseen(CALL, "in ACP mode (under an editor) no hook is called for tools"),
        _unseen(CALL, "what a sub-agent does is told to hooks under its parent's session"),
        _unwritten(
            CALL, "hooks tell a sub-agent's calls as its parent's; the transcript has them in the sub-agent's session"
        ),
        _unseen(CALL, "hooks give no call ids: calls are paired by tool, arguments and order"),
    ),
    "qwen": (
        _unseen(EVERYTHING, "with hooks over HTTP nothing is told while no recorder listens"),
        _unwritten(PROMPT, "an empty prompt after a batch of tools is a continuation, not the user"),
        _unseen(CALL, "without an end of session in headless mode, the last events may come late or never"),
    ),
    "copilot": (
        _unseen(CALL, "of two equal calls in the same millisecond, one is taken for the other told twice"),
        _unwritten(PROMPT, "a forced continuation is told to hooks as a prompt"),
        _unseen(CALL, "hooks give no call ids: calls are paired by tool, arguments and order"),
        _unwritten(CALL, "the name of a tool may differ between a hook and the log"),
    ),
    "opencode": (
        _unwritten(RESULT, "a call that the user then rejected has a beginning and no end"),
        _unseen(RESULT, "a call that the user then rejected has a beginning and no end"),
    ),
    "cline": (_unseen(PROMPT, "the prompt that a run begins with has no hook of its own"),),
    "cursor": (_unwritten(RESULT, "its transcripts hold no results of tools"),),
    "gptme": (
        _unseen(PROMPT, "a prompt has no hook: its words are in the log"),
        _unseen(RESULT, "a tool that raises an error has no hook after it"),
    ),
    "aider": (_unseen(EVERYTHING, "it has no hooks: only its history file is read"),),
    "mini-swe-agent": (_unseen(EVERYTHING, "it has no hooks: only its trajectory is seen"),),
}
"""By agent."""


def explaining(agent: str, source: str, kind: str, tool: str | None) -> tuple[BlindSpot, ...]:
    """What can explain that `source` does not tell an event of this type and tool."""
    return tuple(
        spot
        for spot in BLIND_SPOTS.get(agent, ())
        if spot.source == source and kind in spot.types and (not spot.tools or tool in spot.tools)
    )
