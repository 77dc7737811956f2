"""The words of the headless agent's session log: types of events, statuses, phases, verdicts.

Owns these closed sets. A log may hold others, from a later version of the agent: readers keep what they do not know, so
values are plain strings and these sets are for writers. Source: specs/headless_agent.md 1.1, 1.3 and 5.
"""

from __future__ import annotations

import enum


class EventType(enum.StrEnum):
    """What an event is: 23 types, and three older names of the security checks."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    GOAL_START = "goal_start"
    GOAL_END = "goal_end"
    WORKFLOW_START = "workflow_start"
    WORKFLOW_END = "workflow_end"
    PHASE_COMMIT = "phase_commit"
    PHASE_EXECUTE = "phase_execute"
    PHASE_RECONCILE = "phase_reconcile"
    PHASE_SUPERVISE = "phase_supervise"
    CHECKPOINT = "checkpoint"
    SECURITY_BLOCK = "security_block"
    SECURITY_STATIC = "security_static"
    SECURITY_TRIAGE = "security_triage"
    SECURITY_SUPERVISOR = "security_supervisor"
    SECURITY_DECISION = "security_decision"
    BASH_SECURITY = "bash_security"
    SUBAGENT_START = "subagent_start"
    SUBAGENT_END = "subagent_end"
    WARNING = "warning"

    SECURITY_TIER1 = "security_static"
    """Deprecated: SECURITY_STATIC."""
    SECURITY_TIER2 = "security_triage"
    """Deprecated: SECURITY_TRIAGE."""
    SECURITY_TIER3 = "security_supervisor"
    """Deprecated: SECURITY_SUPERVISOR."""


class Status(enum.StrEnum):
    """How a session stands."""

    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


class RecordType(enum.StrEnum):
    """What a line of a file is: `_type`."""

    HEADER = "header"
    EVENT = "event"
    FOOTER = "footer"


class Phase(enum.StrEnum):
    """`meta.phase` of the four phase events."""

    COMMIT = "COMMIT"
    EXECUTE = "EXECUTE"
    RECONCILE = "RECONCILE"
    SUPERVISE = "SUPERVISE"


class Verdict(enum.StrEnum):
    """`meta.verdict`: of the supervisor of a phase, and of the one of security."""

    CONTINUE = "CONTINUE"
    REORIENT = "REORIENT"
    PAUSE = "PAUSE"
    ALLOW = "ALLOW"
    DENY = "DENY"
    MODIFY = "MODIFY"


class Action(enum.StrEnum):
    """`meta.action` of a decision."""

    ALLOW = "allow"
    DENY = "deny"
    MODIFY = "modify"


class Check(enum.StrEnum):
    """`meta.check`: which check was made before a call or of a command."""

    STATIC = "static"
    TRIAGE = "triage"
    SUPERVISOR = "supervisor"
    DETERMINISTIC = "deterministic"
    LLM = "llm"


class CheckpointKind(enum.StrEnum):
    """`meta.ckpt_type` of the agent's own checkpoints."""

    PRE = "pre"
    POST = "post"
    RECONCILE = "reconcile"
    SUPERVISE = "supervise"


class Trust(enum.StrEnum):
    """`meta.trust` of a block, the most trusted first."""

    TRUSTED = "trusted"
    VETTED = "vetted"
    UNTRUSTED = "untrusted"


class Confidence(enum.StrEnum):
    """`meta.confidence` of a commitment."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
