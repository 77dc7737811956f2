"""What stands in docs/agents on live capture, between cog's marks: read off the adapters of the hooks and off the runs.

Owns those tables. Where hook.py and the interpreter are is made up, so that a page is the same on every machine; everything
else is what `tally install` would write and the recorder would answer.
"""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

from tallystick.agents.blind_spots import BLIND_SPOTS
from tallystick.agents.hooks import (
    HookAdapter,
    HookCommand,
    Payload,
    Reply,
    SettingsFile,
    hook_adapter,
    hook_adapters,
    hooks_of,
)
from tallystick.model.decision import Call, Decision, Effect

_HOOK = HookCommand(
    python="/usr/bin/python3", hook="/usr/lib/python3/dist-packages/tallystick/hook.py", home="/home/dev/.tally"
)
_MATRIX = Path(__file__).parent / "agents" / "matrix.json"
_KINDS = {"shell": "shell", "edit": "edit", "mcp": "MCP", "subagent": "sub-agent"}
_REASON = "Why."
_PLACES = {"hook": "not told by hooks", "transcript": "not in the transcript"}
_WIDTH = 150

_BEFORE = {
    ".claude/settings.json": '{\n  "permissions": {"allow": ["Bash(make:*)"]},\n  "model": "opus"\n}\n',
    ".codex/hooks.json": "",
    ".codex/config.toml": 'model = "gpt-5.5"\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\n'
    'command = "say done"\n',
    ".gemini/settings.json": '{\n  // mine\n  "ui": {"theme": "GitHub"}\n}\n',
    ".qwen/settings.json": '{\n  "tools": {"approvalMode": "default"}\n}\n',
    ".copilot/settings.json": '{\n  "banner": "never"\n}\n',
    ".cursor/hooks.json": '{\n  "version": 1,\n  "hooks": {\n    "stop": [{"command": "./done.sh"}]\n  }\n}\n',
    ".config/gptme/config.toml": '# mine\n[prompt]\nabout_user = "I am a programmer."\n',
    ".hermes/config.yaml": "model:\n  default: some-model\nplugins:\n  enabled:\n    - weather\n",
}
"""Settings that somebody may have before us; agents that are not here have a file of ours alone."""


def _adapter(agent: str) -> HookAdapter:
    adapter = hook_adapter(agent)
    assert adapter is not None, agent
    return adapter


def _cell(text: str) -> str:
    """Text for a cell of a table."""
    return text.replace("|", "\\|")


# How one agent is connected -------------------------------------------------------------------------------------------


def connected(agent: str) -> str:
    """Files, events and answers of one agent's hooks, as a table."""
    adapter = _adapter(agent)
    told = "what our plugin is told of" if hooks_of(agent).plugin else "the answer to"
    rows = [
        ("the user's settings", _files(adapter, project=False)),
        ("a project's, with `--project`", _files(adapter, project=True) or "none"),
        (f"{len(adapter.EVENTS)} events", ", ".join(f"`{event}`" for event in adapter.EVENTS)),
        (f"{told} a call that is denied", _shown(_answer(adapter, Effect.DENY))),
        (f"{told} one that a human must allow", _asking(adapter)),
        ("no opinion", "nothing at all, exit code 0"),
    ]
    lines = ["| | |", "|---|---|"]
    return "\n".join([*lines, *(f"| {name} | {_cell(said)} |" for name, said in rows)])


def _files(adapter: HookAdapter, *, project: bool) -> str:
    files = adapter.settings(project=project)
    if len(files) > 3:  # a file an event
        folder = files[0].path.rpartition("/")[0]
        places = f"a file an event in `{_under(folder, project)}/`"
    else:
        places = ", ".join(f"`{_under(file.path, project)}`{' (ours alone)' if file.ours else ''}" for file in files)
    variables = dict.fromkeys(file.variable for file in files if file.variable)
    moved = f"; elsewhere if {' or '.join(f'`{name}`' for name in variables)} is set" if variables else ""
    return places + moved


def _under(path: str, project: bool) -> str:
    return path if project else f"~/{path}"


def _answer(adapter: HookAdapter, effect: Effect, *, never_asks: bool = False) -> Reply:
    call = Call(agent=adapter.NAME, session="s", tool="Bash", args={"command": "make"})
    payload = Payload(event="a call", session="s", asks=call, never_asks=never_asks)
    return adapter.reply(payload, Decision(effect=effect, rules=("a.rule",), reason=_REASON))


def _shown(reply: Reply) -> str:
    said = [f"`{reply.stdout.decode()}`"] if reply.stdout else []
    said += [f"`{reply.stderr.decode().strip()}` on stderr"] if reply.stderr else []
    return f"{', '.join(said)}, exit code {reply.exit_code}"


def _asking(adapter: HookAdapter) -> str:
    asked, refused = _answer(adapter, Effect.ASK), _answer(adapter, Effect.DENY)
    if not asks(adapter):
        reason = _reason(asked)
        return f"it cannot be made to ask: the same refusal, with the reason “{reason}”"
    never = _answer(adapter, Effect.ASK, never_asks=True)
    besides = "; the refusal above in a mode in which no one is asked" if _form(never) == _form(refused) else ""
    return _shown(asked) + besides


def asks(adapter: HookAdapter) -> bool:
    """Whether the agent is told to ask, where a human must allow a call; else it is told to refuse."""
    return _form(_answer(adapter, Effect.ASK)) != _form(_answer(adapter, Effect.DENY))


def _form(reply: Reply) -> tuple[Any, int]:
    """An answer without its words."""
    said = json.loads(reply.stdout) if reply.stdout else None
    return _blank(said), reply.exit_code


def _blank(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _blank(item) for name, item in value.items()}
    return "…" if isinstance(value, str) and _REASON in value else value


def _reason(reply: Reply) -> str:
    waiting = [json.loads(reply.stdout)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, str) and _REASON in value:
            return value
    raise ValueError(f"no reason is given: {reply.stdout!r}")


# What an installation changes -----------------------------------------------------------------------------------------


def change(agent: str, name: str | None = None, *, most: int = 16) -> str:
    """What installing does to a small settings file of the user, as the diff of `tally install --dry-run`.

    Args:
        name: which of the agent's files, if not the last. most: how many lines are shown.
    """
    adapter = _adapter(agent)
    files = adapter.settings(project=False)
    file = next((each for each in files if each.name == name), files[-1]) if name else files[-1]
    lines = _diff(adapter, file)
    left = [f"… {len(lines) - most} more lines"] if len(lines) > most + 1 else []
    command = f"$ tally install {agent} --dry-run"
    return "\n".join(["```console", command, *map(_short, lines[:most] if left else lines), *left, "```"])


def _diff(adapter: HookAdapter, file: SettingsFile) -> list[str]:
    before = _BEFORE.get(file.path, "").encode()
    after = adapter.configure(file, before, _HOOK)
    path = f"/home/dev/{file.path}"
    names = (path if before else "/dev/null", path)
    texts = (text.decode().splitlines() for text in (before, after))
    return list(difflib.unified_diff(*texts, *names, lineterm=""))


def _short(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


# What is not seen -----------------------------------------------------------------------------------------------------


def unseen(agent: str) -> str:
    """What the agent is known not to tell, as a list."""
    said: dict[str, list[str]] = {}
    for spot in BLIND_SPOTS.get(agent, ()):
        tools = f" (`{'`, `'.join(sorted(spot.tools))}`)" if spot.tools else ""
        places = said.setdefault(f"{spot.when}{tools}", [])
        places.append(_PLACES[spot.source.value])
    lines = [f"- {when} ({' and '.join(dict.fromkeys(places))})" for when, places in said.items()]
    return "\n".join(lines or ["- nothing is known so far"])


# What the runs showed -------------------------------------------------------------------------------------------------


def _runs() -> dict[str, dict[str, Any]]:
    runs: dict[str, dict[str, Any]] = json.loads(_MATRIX.read_text("utf-8"))["runs"]
    return runs


def runs(agent: str | None = None) -> str:
    """What the runs of `make test-agents` showed: of one agent, or of all."""
    head = ["agent", "version", *_KINDS.values(), "a human must allow it", "interrupted"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, run in _runs().items():
        if agent in (None, run["agent"]):
            cells = [_result(run["cells"][kind]) for kind in _KINDS]
            shown = [_named(name, run["agent"]), run["version"], *cells, _asked(run["ask"]), run["interrupted"] or "–"]
            lines.append(f"| {' | '.join(shown)} |")
    return "\n".join(lines)


def _named(name: str, agent: str) -> str:
    variant = {"codex-patch": ", `apply_patch`", "codex-code": ", code mode"}.get(name, "")
    return f"{agent}{variant}"


def _asked(ask: str | None) -> str:
    return "**ran**" if ask == "ran" else ask or "–"


def _result(cell: dict[str, Any]) -> str:
    if not cell["made"]:
        return "not offered"
    seen = {"live": "seen", "transcript": "read afterwards", None: "**not seen**"}[cell["seen"]]
    refused = {"blocked": "blocked", "ran": "**not blocked**", None: "cannot be blocked"}[cell["refusal"]]
    return f"{seen}, {refused}"


def index() -> str:
    """All agents with hooks: where our hook goes, and what becomes of a call that is denied or to be asked about."""
    lines = ["| agent | settings of the user | events | a human must allow it |", "|---|---|---|---|"]
    for adapter in hook_adapters().values():
        name, because = adapter.NAME, hooks_of(adapter.NAME).because
        asking = "asked" if asks(adapter) else "refused"
        if because:
            asking += f": {because}" if not asks(adapter) else f", {because}"
        lines.append(
            f"| [{name}]({name}.md#live) | {_files(adapter, project=False)} | {len(adapter.EVENTS)} | {asking} |"
        )
    return "\n".join(lines)
