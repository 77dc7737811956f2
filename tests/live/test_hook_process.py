"""The process of a hook: which one it is, and what counts of its environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tallystick.live.delivery import Delivery
from tallystick.live.hook_process import at_home, environment_of_hook, home_in
from tallystick.model.decision import Call

CALL = Call(agent="codex", session="s", tool="shell")


def delivery(id: str = "-", peer: int | None = None, *, spooled: bool = False) -> Delivery:
    return Delivery(agent="codex", data=b"", id=id, received="2026-11-20T10:00:00Z", peer=peer, spooled=spooled)


@pytest.fixture
def hook() -> Iterator[int]:
    """A process with another home folder than this one, which waits."""
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", "print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"HOME": "/srv/agent"},
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.communicate(b"\n")


@pytest.mark.parametrize("id", ["", "-", "h17.3", "x.y", "99999999999.1", "²."])
def test_who_is_no_process_has_no_environment(id: str) -> None:
    assert environment_of_hook(delivery(id)) is None


def test_a_call_has_the_home_of_the_process_that_delivered_it(hook: int) -> None:
    assert at_home(CALL, delivery(f"{hook}.1")).home == "/srv/agent"
    assert at_home(CALL, delivery(f"{hook}.1", spooled=True)).home is None, "another process may have its number now"


def test_the_kernel_says_which_process_it_is(hook: int) -> None:
    """A hook in a container knows itself by a number that is another process's here."""
    assert at_home(CALL, delivery(f"{os.getpid()}.1", hook)).home == "/srv/agent"


@pytest.mark.parametrize(
    ("said", "found"),
    [("/srv/agent", "/srv/agent"), ("/srv/a\udcff", "/srv/a\ufffd"), ("relative", None), ("/a\0b", None), ("", None)],
)
def test_only_an_absolute_folder_is_a_home(said: str, found: str | None) -> None:
    assert home_in({"HOME": said}) == found
    assert home_in(None) is None
