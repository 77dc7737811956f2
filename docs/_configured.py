"""What stands in docs/configuration.md and docs/commands/drift.md: two sessions of one agent, watched while they lasted.

Owns what their files say and when they change. The store's key is made up, so that fingerprints are the same everywhere.
"""

from __future__ import annotations

import json
from pathlib import Path

from generate import anew, count_up, home

from tallystick.cli.ask import drift
from tallystick.journal.home import Home
from tallystick.live.configuration import AgentUser, LiveConfiguration, Sighting
from tallystick.live.watched_places import Look
from tallystick.model.step import Opening, Source, Step
from tallystick.recording.checkpoints.auto import git_of
from tallystick.recording.run_config.gathered import gather
from tallystick.recording.session_writer import SessionWriter
from tallystick.sessions.fingerprint import section_key

_AGENT = "claude-code"
_KEY = bytes(range(32))
INSTRUCTIONS = section_key(_KEY, "instructions").hex()
"""What `tally drift --disclose instructions` prints."""
_SETTINGS = {
    "permissions": {"allow": ["Read", "Bash(make:*)"]},
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "python3 ~/guard.py"}]}]},
}


def two_sessions() -> None:
    """Record `monday`, which sees its instructions and its mode change, and `tuesday`, which has a server more."""
    anew()
    count_up()
    drift.ROOT = home() / "none"  # the administrator's files of this machine are not looked at
    project = home() / "project"
    (project / ".git").mkdir(parents=True, exist_ok=True)
    _write(home() / ".claude" / "settings.json", json.dumps(_SETTINGS))
    _write(project / "CLAUDE.md", "Run the tests before you say that you are done.\n")
    store = Home(home() / ".tally")
    store.make_folder(store.configuration_key.parent)
    store.configuration_key.write_text(_KEY.hex())
    with SessionWriter(store) as session_writer:
        monday = _begin(session_writer, "monday", project)
        _prompt(session_writer, monday, "monday", "default")
        _write(project / "CLAUDE.md", "Run the tests before you say that you are done. Never push.\n")
        monday.settle()
        _prompt(session_writer, monday, "monday", "acceptEdits")
        session_writer.add(_AGENT, Step(session="monday", type="session_end", source=Source.HOOK))
        _write(project / ".mcp.json", json.dumps({"mcpServers": {"docs": {"command": "docs-server"}}}))
        tuesday = _begin(session_writer, "tuesday", project)
        _prompt(session_writer, tuesday, "tuesday", "default")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)


def _begin(session_writer: SessionWriter, name: str, project: Path) -> LiveConfiguration:
    live = LiveConfiguration(
        session_writer,
        AgentUser(home(), {}),
        monotonic=lambda: 0.0,
        look=Look(lambda agent, where: gather(agent, where, root=home() / "none"), git_of),
    )
    values = {"personal.cwd": str(project)}
    meta = {"model": "claude-opus-5-5"}
    _tell(session_writer, live, name, Opening(session=name, agent=_AGENT, source=Source.HOOK, meta=meta, values=values))
    return live


def _prompt(session_writer: SessionWriter, live: LiveConfiguration, name: str, mode: str) -> None:
    step = Step(session=name, type="user", source=Source.HOOK, source_id=mode, meta={"permission_mode": mode})
    _tell(session_writer, live, name, step)


def _tell(session_writer: SessionWriter, live: LiveConfiguration, name: str, event: Opening | Step) -> None:
    size = live.size(_AGENT, name)
    session_writer.take(_AGENT, [event])
    live.saw(Sighting(_AGENT, name, size, None, lambda: {"CODEX_HOME": "/x"}), [event])
    live.settle()
