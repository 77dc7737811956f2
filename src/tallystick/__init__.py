"""Tallystick: a sealed, verifiable record of what AI agents did.

The names below are the public face; docs/api.md shows them at work. They are loaded when first used, so that `import
tallystick` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.ask.dag import context_hash, input_hash, output_hash, walk_dag
    from tallystick.capture.hermes_store import HermesStore
    from tallystick.plugins.anthropic import record_anthropic
    from tallystick.plugins.openai import record_openai
    from tallystick.recording.decorators import model_call, request, subagent, tool_call
    from tallystick.recording.recorder import Recorder
    from tallystick.recording.run_config.declared import LangoInputs, RunsUnder
    from tallystick.recording.session import Session, current_session
    from tallystick.review.follow import follow
    from tallystick.sessions.fingerprint import Hook, fingerprint
    from tallystick.sessions.hermes_provenance import build_session_provenance, session_provenance_meta
    from tallystick.trust.verify_named import verify, verify_session

__all__ = [
    "HermesStore",
    "Hook",
    "LangoInputs",
    "Recorder",
    "RunsUnder",
    "Session",
    "build_session_provenance",
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
    "LangoInputs": "tallystick.recording.run_config.declared",
    "Recorder": "tallystick.recording.recorder",
    "RunsUnder": "tallystick.recording.run_config.declared",
    "Session": "tallystick.recording.session",
    "context_hash": "tallystick.ask.dag",
    "current_session": "tallystick.recording.session",
    "fingerprint": "tallystick.sessions.fingerprint",
    "follow": "tallystick.review.follow",
    "input_hash": "tallystick.ask.dag",
    "model_call": "tallystick.recording.decorators",
    "output_hash": "tallystick.ask.dag",
    "record_anthropic": "tallystick.plugins.anthropic",
    "record_openai": "tallystick.plugins.openai",
    "request": "tallystick.recording.decorators",
    "build_session_provenance": "tallystick.sessions.hermes_provenance",
    "session_provenance_meta": "tallystick.sessions.hermes_provenance",
    "subagent": "tallystick.recording.decorators",
    "tool_call": "tallystick.recording.decorators",
    "verify": "tallystick.trust.verify_named",
    "verify_session": "tallystick.trust.verify_named",
    "walk_dag": "tallystick.ask.dag",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tallystick' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
