"""Hermes: a plugin that records what it does, and refuses what policy refuses.

Owns the registration and what is said of each hook. Hermes finds it by the entry point `tallystick` in its own environment,
or, where Tallystick is installed elsewhere, by the folder that `tally install hermes` makes. It imports the standard library
only.
An exception in a hook would be swallowed and the call would run, so nothing here raises.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections import OrderedDict
from contextlib import closing
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

AGENT = "hermes"
_OBSERVED = {
    "post_tool_call": (
        "tool_name",
        "args",
        "result",
        "tool_call_id",
        "turn_id",
        "status",
        "error_message",
        "duration_ms",
    ),
    "on_session_start": ("model", "platform"),
    "on_session_finalize": ("reason", "platform"),
    "pre_llm_call": ("user_message", "is_first_turn", "turn_id", "model", "platform"),
    "subagent_start": (
        "parent_session_id",
        "parent_turn_id",
        "child_session_id",
        "child_subagent_id",
        "child_role",
        "child_goal",
    ),
    "subagent_stop": ("parent_session_id", "child_session_id", "child_status", "child_summary", "duration_ms"),
    "post_approval_response": (
        "command",
        "description",
        "surface",
        "choice",
        "decided_by",
        "tool_call_id",
        "session_key",
    ),
}
"""The hooks that are only reported, and the members of each that are kept: the conversation's history is not."""


_MARKERS = ("_branched_from", "_delegate_from")
_MOST_SESSIONS = 1000
_PATIENCE_SECONDS = 0.25
_seen: OrderedDict[object, None] = OrderedDict()
"""Sessions whose rows were reported."""


def _load_deliver() -> ModuleType:
    """`tallystick.plugins.deliver`, by its place: this interpreter may not have the package."""
    spec = spec_from_file_location("tallystick_deliver", Path(__file__).resolve().with_name("deliver.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_deliver = _load_deliver()


def use(python: str, home: str | None) -> None:
    """Say where Tallystick and its store are."""
    _deliver.use(python=python, home=home)


def register(context: Any) -> None:
    """Register all hooks with Hermes' plugin context."""
    context.register_hook("pre_tool_call", pre_tool_call)
    for name, members in _OBSERVED.items():
        context.register_hook(name, _observer(name, members))


def pre_tool_call(**named: Any) -> dict[str, str] | None:
    """Have the call decided: a directive that blocks it or has a human asked, or nothing."""
    kept = ("tool_name", "args", "tool_call_id", "turn_id")
    asks_nobody = _asks_nobody()
    verdict = _deliver.verdict(AGENT, {**_say("pre_tool_call", kept, named), "asks_nobody": asks_nobody})
    if verdict is None:
        return None
    if verdict[0] == "deny" or asks_nobody:
        return {"action": "block", "message": verdict[1]}
    # Without a key of its own, `always` to one question would be `always` to every call of the tool.
    return {"action": "approve", "message": verdict[1], "rule_key": _rule_key(named)}


def _rule_key(named: dict[str, Any]) -> str:
    call = _deliver.written({name: named.get(name) for name in ("tool_name", "args")})
    return f"tallystick:{hashlib.sha256(call).hexdigest()[:16]}"


def _asks_nobody() -> bool:
    """Whether Hermes would take `approve` for a yes: with --yolo, and where a schedule started it."""
    if os.environ.get("HERMES_CRON_SESSION"):
        return True
    try:
        from tools.approval import is_approval_bypass_active

        return bool(is_approval_bypass_active())
    except Exception:  # another version: what its environment says
        return bool(os.environ.get("HERMES_YOLO_MODE"))


def _observer(name: str, members: tuple[str, ...]) -> Any:
    def observe(**named: Any) -> None:
        _deliver.deliver(AGENT, _say(name, members, named))

    return observe


def _say(hook: str, members: tuple[str, ...], named: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"hook": hook, "at": time.time_ns(), "cwd": _folder(), "database": _database()}
    said["session"] = named.get("session_id") or named.get("parent_session_id")
    said |= _origin(said["session"], said["database"])
    return said | {name: named[name] for name in members if named.get(name) is not None}


def _origin(session: object, database: str | None) -> dict[str, Any]:
    """With the first hook of a session: its row and its parent's, as far as they say how it began.

    After a compaction Hermes goes on under another id, and no hook says so.
    """
    if not isinstance(session, str) or database is None or session in _seen:
        return {}
    _seen[session] = None
    while len(_seen) > _MOST_SESSIONS:
        _seen.popitem(last=False)
    try:
        address = f"{Path(database).absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE_SECONDS)) as store:
            store.row_factory = sqlite3.Row
            row = _row(store, session)
            parent = _row(store, row.get("parent_session_id"))
    except Exception:  # whatever is wrong with it, the hook is reported
        return {}
    if row and parent:
        return {"row": row, "parent_row": parent}
    return {}


def _row(store: sqlite3.Connection, session: Any) -> dict[str, Any]:
    found = None
    if session:
        found = store.execute("SELECT * FROM sessions WHERE id = ?", (session,)).fetchone()
    if found is None:
        return {}
    columns = ("id", "source", "parent_session_id", "started_at", "ended_at", "end_reason")
    row = {name: found[name] for name in columns if name in found.keys()}  # noqa: SIM118 - a Row's `in` looks at values
    config = json.loads(found["model_config"] or "{}") if "model_config" in found.keys() else {}  # noqa: SIM118
    marked = {name: config[name] for name in _MARKERS if isinstance(config, dict) and config.get(name)}
    if marked:
        return {**row, "model_config": json.dumps(marked)}
    return row


def _folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:
        return None


def _database() -> str | None:
    try:
        from hermes_constants import get_hermes_home

        return str(Path(get_hermes_home()) / "state.db")
    except Exception:  # another version keeps it elsewhere: the hooks are reported all the same
        return None
