"""The members of the headless agent's events: their order, their kinds, and the fields of ours that hold them.

Owns these tables. Must not know how a step becomes an event.
"""

from __future__ import annotations

EVENT_MEMBERS = (
    "type",
    "timestamp",
    "corr_id",
    "parent",
    "agent",
    "agent_role",
    "goal",
    "step",
    "content",
    "tool",
    "args",
    "success",
    "error",
    "duration_ms",
    "meta",
)
"""In the order in which the agent writes them, after `seq`."""

META_KINDS: dict[str, type | tuple[type, ...]] = {
    "phase": str,
    "result": str,
    "commitment": str,
    "confidence": str,
    "triggers": list,
    "escalate": bool,
    "verdict": str,
    "correction": str,
    "guidance": str,
    "human": bool,
    "human_required": bool,
    "supervisor_type": str,
    "block_id": str,
    "related_blocks": list,
    "taint_lineage": list,
    "trust": str,
    "block_type": str,
    "source": str,
    "entropy": (int, float),
    "check": str,
    "pass": bool,
    "flags": list,
    "suspicious": bool,
    "action": str,
    "reason": str,
    "check_path": str,
    "skip_reason": str,
    "xml": str,
    "tier": int,
    "tiers": str,
    "tier_path": str,
    "ckpt_type": str,
    "ckpt_id": str,
    "subagent_name": str,
    "subagent_role": str,
    "subagent_model": str,
    "subagent_task": str,
    "subagent_inputs": dict,
    "subagent_output": str,
    "model": str,
    "latency_ms": int,
    "tokens_in": int,
    "tokens_out": int,
    "prompt": str,
    "response": str,
    "thinking": str,
}
"""Members of an event's `meta`, in the order in which the agent writes them."""

SPOKEN_FIELDS = {
    "ckpt_id": "ckpt_id",
    "commitment": "commitment",
    "correction": "correction",
    "guidance": "guidance",
    "prompt": "prompt",
    "reason": "reason",
    "response": "response",
    "source": "source",
    "subagent_inputs": "subagent_inputs",
    "subagent_output": "output",
    "subagent_task": "task",
    "taint_lineage": "taint_lineage",
    "thinking": "thinking",
    "xml": "xml",
}
"""Of those, the ones that hold text: the `content.*` field of each. The others are members of a step's `meta`."""

SUBAGENT_ONLY = frozenset(("subagent_output", "subagent_task"))
"""Of those, the ones whose field means something else in steps of other types: there they keep their own name."""

LINEAGE_MEMBERS = ("block_id", "trust", "source", "event_seq", "depth", "tainted_by")
"""Members of a node of `taint_lineage`, in order."""
