"""What half a surrogate pair does to the real hook and recorder: nothing. Policies and scrubbing read what the agent said."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.trust.verify import verify_store
from tallystick.workspace.index_live import index_sessions
from tests.scrubbing.labelled_set import filled
from tests.service.conftest import Deliver, pre_tool_use
from tests.service.faults import steps, wait_for
from tests.support import recorders
from tests.support.calls_of_agents import ASKING

TOKEN = filled("gh{}p_{alnum:36}", random.Random(6))


@pytest.mark.parametrize("agent", sorted(ASKING))
def test_a_denied_call_stays_denied_with_half_a_pair_beside_it(home: Home, deliver: Deliver, agent: str) -> None:
    recorders.start(home.folder)
    asking = ASKING[agent]
    for command in ("cat ~/.ssh/id_rsa", "cat ~/.ssh/id_rsa # \ud800"):
        payload = asking.made(asking.tool, {"command": command}, "/home/dev/project")
        done = deliver(json.dumps(payload).encode(), asking.event, agent=agent)
        assert (done.returncode, bool(done.stdout or done.stderr)) in ((0, True), (2, True)), command
        assert b"deny" in done.stdout or b"cancel" in done.stdout or done.returncode == 2


def test_a_secret_beside_half_a_pair_is_nowhere_in_the_store(home: Home, deliver: Deliver) -> None:
    recorders.start(home.folder)
    deliver(pre_tool_use(1, command=f"echo {TOKEN} \ud800", **{"\udc00": f"password={TOKEN}"}))
    wait_for(lambda: [step.type for step in steps(home)].count("tool_call") == 1)
    [call] = [step for step in steps(home) if step.type == "tool_call"]
    said = call.values["content.args"]
    assert isinstance(said, dict)
    assert said["command"] == "echo ‹secret:github-token› \ud800"
    assert verify_store(home).exit_code == 0
    assert index_sessions(home, [call.session]) > 0
    written = b"".join(path.read_bytes() for path in Path(home.folder).rglob("*") if path.is_file())
    for spelled in (TOKEN.encode(), TOKEN.encode("utf-16-be").hex().encode(), TOKEN.encode().hex().encode()):
        assert spelled not in written
