from __future__ import annotations

import pytest

from tallystick.agents.hooks import HookCommand
from tallystick.agents.hooks.hook_identity import calls_by_http, is_our_url, is_ours
from tests.support.cases import each, each_case

_NEW = HookCommand(python="/opt/new/python", hook="/opt/new tree/tallystick/hook.py")
_OLD = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py", home="/data/tally")


@each(
    "command",
    [
        _NEW.shell("agent"),
        _OLD.shell("agent", "Stop"),
        "python3 -I -S /x/tallystick/hook.py agent",
        "FOO=1 exec '/a b/python' -I -S '/it''s/tallystick/hook.py' agent",
    ],
)
def test_our_command_is_known_wherever_it_was_installed(command: str) -> None:
    assert is_ours(command)


@each_case("command")
def test_a_command_of_the_user_is_not_taken_for_ours(command: str) -> None:
    assert not is_ours(command)


@each("port", [1, 8787, 65535])
def test_an_address_of_a_recorder_is_known_on_any_port(port: int) -> None:
    url = f"http://127.0.0.1:{port}/hook/claude-code"
    assert is_our_url(url)
    assert calls_by_http(f'{{"hooks": {{"Stop": [{{"url": "{url}"}}]}}}}'.encode())


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://127.0.0.1:8787/hooks/claude-code",
        "http://127.0.0.1:8787/hook/",
        "http://127.0.0.1:8787/hook/claude-code/more",
        "http://example.com:8787/hook/claude-code",
        "https://example.com/?to=http://127.0.0.1:8787/hook/claude-code",
    ],
)
def test_an_address_of_the_user_is_not_taken_for_ours(url: str) -> None:
    assert not is_our_url(url)
