"""gptme's hooks, delivered to the recorder; and refusals, which only `tool.confirm` can make.

Owns the registration, what is said of each hook, and the memory between `tool.execute.pre`, where a call is decided, and
`tool.confirm`, where it can be refused. gptme calls `register` again in every thread that it starts: the state is the
process's. Other plugins may remove our hooks, so that every turn and every call checks that they are still there: without
`tool.confirm` nothing could be refused. Facts: docs/agents/gptme.md.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from gptme.hooks import ConfirmationResult, HookType, register_hook
from gptme.logmanager import LogManager

AGENT = "gptme"
_PREFIX = "tallystick."
_FIRST = 100_000
_MOST_REFUSALS = 1000
_FOLDER = "plugins/gptme/tallystick_gptme"
_refused: dict[int, tuple[Any, str]] = {}
_asked: list[bool] = []


def _load_deliver() -> ModuleType:
    """`tallystick.plugins.deliver`, by its place: this interpreter may not have the package."""
    spec = spec_from_file_location("tallystick_deliver", Path(__file__).resolve().parents[3] / "deliver.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_deliver = _load_deliver()


def _store_of_settings() -> str | None:
    """The store that `plugin.tallystick` names in the settings that `tally install` wrote to: the user's, or a project's."""
    from gptme.config import get_config

    config = get_config()
    for settings in (config.user, config.project):
        paths = getattr(getattr(settings, "plugins", None), "paths", ())
        home = getattr(settings, "plugin", {}).get("tallystick", {}).get("home")
        if isinstance(home, str) and any(str(path).rstrip("/").endswith(_FOLDER) for path in paths):
            return home
    return None


def _use_store() -> None:
    """Asked once: what the agent runs may write settings that are read again."""
    if not _asked:
        _asked.append(True)
        with contextlib.suppress(Exception):  # settings of another form name none
            _deliver.use(home=_store_of_settings())


def register() -> None:
    """Register all hooks in the current context. Twice is as once: gptme replaces a hook of the same name."""
    _use_store()
    for kind, hook in _HOOKS.items():
        register_hook(f"{_PREFIX}{kind.value}", kind, hook, priority=_FIRST)


def missing() -> list[str]:
    """Which of our hooks the current context has not: other plugins may remove, or switch off, what they like."""
    from gptme.hooks import get_hooks

    present = {hook.name for hook in get_hooks() if hook.enabled}
    return [kind.value for kind in _HOOKS if f"{_PREFIX}{kind.value}" not in present]


def _say(hook: str, logdir: Path | None, workspace: Any = None, **more: Any) -> dict[str, Any]:
    """What is delivered: the hook's name, the conversation, and what is known besides."""
    said: dict[str, Any] = {"hook": hook, "at": time.time_ns(), **more}
    if logdir is None:
        manager = LogManager.get_current_log()
        logdir = None
        if manager is not None:
            logdir = Path(manager.logdir)
    if logdir is not None:
        said |= {"session": logdir.name, "transcript": str(logdir / "conversation.jsonl")}
    if workspace is not None:
        said["workspace"] = str(workspace)
    return said


def _tool(use: Any) -> dict[str, Any]:
    """A call in all three shapes that gptme has, or two different calls would look the same."""
    return {
        "tool": use.tool,
        "args": use.args,
        "content": use.content,
        "kwargs": use.kwargs,
        "call_id": use.call_id,
        "format": getattr(use, "_format", None),
    }


def _session_start(logdir: Any = None, workspace: Any = None, **_: Any) -> Iterator[Any]:
    _deliver.deliver(AGENT, _say("session.start", Path(logdir) if logdir else None, workspace))
    yield from ()


def _session_end(logdir: Any = None, **_: Any) -> Iterator[Any]:
    _deliver.deliver(AGENT, _say("session.end", Path(logdir) if logdir else None))
    yield from ()


def _register_missing() -> None:
    gone = missing()
    if gone:
        register()
        _deliver.deliver(AGENT, _say("hooks.missing", None, missing=gone))


def _turn(**_: Any) -> Iterator[Any]:
    _register_missing()
    yield from ()


def _pre(data: Any, **_: Any) -> Iterator[Any]:
    use = data.tool_use
    _register_missing()
    verdict = _deliver.verdict(AGENT, _say("tool.execute.pre", None, data.workspace, **_tool(use)))
    if verdict is not None:
        while len(_refused) >= _MOST_REFUSALS:
            _refused.pop(next(iter(_refused)))
        _refused[id(use)] = (use, verdict[1])  # the call is kept, so that its id stays its own
    yield from ()


def _confirm(tool_use: Any, preview: Any = None, workspace: Any = None, **_: Any) -> Any:
    # An equal call of another thread counts too: gptme may have made the call again for the question.
    found = _refused.get(id(tool_use)) or next((item for item in list(_refused.values()) if item[0] == tool_use), None)
    if found is None:
        return None
    return ConfirmationResult.skip(found[1])


def _post(data: Any, **_: Any) -> Iterator[Any]:
    use = data.tool_use
    found = _refused.pop(id(use), None)
    output = [message.content for message in data.result_msgs or []]
    said = _say("tool.execute.post", None, data.workspace, **_tool(use), output=output, refused=found is not None)
    _deliver.deliver(AGENT, said)
    yield from ()


_HOOKS = {
    HookType.SESSION_START: _session_start,
    HookType.SESSION_END: _session_end,
    HookType.TURN_PRE: _turn,
    HookType.TOOL_EXECUTE_PRE: _pre,
    HookType.TOOL_CONFIRM: _confirm,
    HookType.TOOL_EXECUTE_POST: _post,
}
