"""A recorder of its own for each test: a real process, ended by its pid."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from tallystick.capture import recorder
from tallystick.journal.home import Home
from tests.support import hooks

Deliver = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A store's folder; whatever recorder a test leaves there is ended."""
    store = Home(tmp_path / "store")
    yield store
    recorder.stop(store.folder)


@pytest.fixture
def deliver(home: Home) -> Deliver:
    """Run the hook as an agent does, with a payload on stdin."""

    def run(
        payload: dict[str, Any] | bytes,
        *words: str,
        agent: str = "claude-code",
        limits: Mapping[str, float] = MappingProxyType({}),
        **environment: str,
    ) -> Any:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return subprocess.run(
            [sys.executable, "-I", "-S", str(hooks.hook(**limits)), "--home", str(home.folder), agent, *words],
            input=data,
            capture_output=True,
            env={"PATH": os.environ["PATH"], "HOME": str(home.folder.parent), **environment},
            timeout=120,
            check=False,
        )

    return run


def pre_tool_use(number: int = 0, tool: str = "Bash", **args: Any) -> dict[str, Any]:
    """What Claude Code 2.1.330 says before a call."""
    return {
        "session_id": "61cacf39-0bfe-4715-9688-4dec476ed256",
        "cwd": "/home/dev/project",
        "prompt_id": "ab3c1631-6c7d-4df2-bc4e-76d5987248b1",
        "permission_mode": "acceptEdits",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": args or {"command": f"echo {number}"},
        "tool_use_id": f"toolu_{number:04}",
    }
