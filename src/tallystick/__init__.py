"""Tallystick: a sealed, verifiable record of what AI agents did.

The names below are the public face; docs/api.md shows them at work. They are loaded when first used, so that `import
tallystick` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.operations.dag import context_hash, input_hash, output_hash, walk_dag
    from tallystick.operations.follow import follow
    from tallystick.operations.recorder import Recorder
    from tallystick.operations.verify_named import verify, verify_session

__all__ = ["Recorder", "context_hash", "follow", "input_hash", "output_hash", "verify", "verify_session", "walk_dag"]

_HOMES = {
    "Recorder": "tallystick.operations.recorder",
    "context_hash": "tallystick.operations.dag",
    "follow": "tallystick.operations.follow",
    "input_hash": "tallystick.operations.dag",
    "output_hash": "tallystick.operations.dag",
    "verify": "tallystick.operations.verify_named",
    "verify_session": "tallystick.operations.verify_named",
    "walk_dag": "tallystick.operations.dag",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tallystick' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
