"""Tallystick: a sealed, verifiable record of what AI agents did.

The names below are the public face; docs/api.md shows them at work. They are loaded when first used, so that `import
tallystick` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.capture.hermes_store import HermesStore
    from tallystick.operations.dag import context_hash, input_hash, output_hash, walk_dag
    from tallystick.operations.follow import follow
    from tallystick.operations.instrument import model_call, request, subagent, tool_call
    from tallystick.operations.recorder import Recorder, Session
    from tallystick.operations.runs_under import LangoInputs, RunsUnder
    from tallystick.operations.strands import current_session
    from tallystick.operations.verify_named import verify, verify_session
    from tallystick.plugins.anthropic import record_anthropic
    from tallystick.plugins.openai import record_openai
    from tallystick.sessions.fingerprint import Hook, fingerprint
    from tallystick.sessions.hermes_provenance import session_provenance, session_provenance_meta

__all__ = [
    "HermesStore",
    "Hook",
    "LangoInputs",
    "Recorder",
    "RunsUnder",
    "Session",
    "context_hash",
    "current_session",
    "fingerprint",
    "follow",
    "input_hash",
    "model_call",
    "output_hash",
    "record_anthropic",
    "record_openai",
    "request",
    "session_provenance",
    "session_provenance_meta",
    "subagent",
    "tool_call",
    "verify",
    "verify_session",
    "walk_dag",
]

_HOMES = {
    "HermesStore": "tallystick.capture.hermes_store",
    "Hook": "tallystick.sessions.fingerprint",
    "LangoInputs": "tallystick.operations.runs_under",
    "Recorder": "tallystick.operations.recorder",
    "RunsUnder": "tallystick.operations.runs_under",
    "Session": "tallystick.operations.recorder",
    "context_hash": "tallystick.operations.dag",
    "current_session": "tallystick.operations.strands",
    "fingerprint": "tallystick.sessions.fingerprint",
    "follow": "tallystick.operations.follow",
    "input_hash": "tallystick.operations.dag",
    "model_call": "tallystick.operations.instrument",
    "output_hash": "tallystick.operations.dag",
    "record_anthropic": "tallystick.plugins.anthropic",
    "record_openai": "tallystick.plugins.openai",
    "request": "tallystick.operations.instrument",
    "session_provenance": "tallystick.sessions.hermes_provenance",
    "session_provenance_meta": "tallystick.sessions.hermes_provenance",
    "subagent": "tallystick.operations.instrument",
    "tool_call": "tallystick.operations.instrument",
    "verify": "tallystick.operations.verify_named",
    "verify_session": "tallystick.operations.verify_named",
    "walk_dag": "tallystick.operations.dag",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tallystick' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
