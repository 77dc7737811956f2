from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.codex import hooks_toml as codex_toml
from tallystick.agents.hooks import HookCommand
from tallystick.errors import FormatError
from tests.support.cases import each

_EVENTS = ("Stop", "SessionEnd")
_TIMEOUTS = {"Stop": 10, "SessionEnd": 3}
_OLD = HookCommand(python="/usr/bin/python3", hook="/usr/lib/tallystick/hook.py").shell("codex")
_NEW = HookCommand(python='/opt/"a" b/python', hook="/opt/é/tallystick/hook.py").shell("codex")
_PIECES = st.sampled_from(
    (
        'model = "x" # why\n',
        "[a]\nb = [1,\n  2,] \n",
        '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "theirs"\ntimeout = 5\n',
        '[hooks.state."x"]\ntrusted_hash = "sha256:0"\n',
        "\n\n# the end",
    )
)
_FILES = st.lists(_PIECES, unique=True).map(
    lambda pieces: "".join(sorted(pieces, key=lambda piece: (not piece.startswith("model"), piece.startswith("\n"))))
)


def _configured(content: bytes, command: str = _NEW) -> bytes:
    return codex_toml.configure(content, _EVENTS, command, timeouts=_TIMEOUTS)


@given(_FILES, st.sampled_from(("\n", "\r\n")))
def test_taking_ours_out_again_restores_the_file_to_the_byte(text: str, line_end: str) -> None:
    content = text.replace("\n", line_end).encode()
    configured = _configured(content)
    assert configured.startswith(content)
    assert codex_toml.remove(configured) == content
    assert _configured(configured) == configured
    assert _configured(_configured(content, _OLD)) == configured
    assert set(codex_toml.hooked(configured)) == set(_EVENTS)
    assert codex_toml.hooked(content) == ()
    before, after = tomllib.loads(text), tomllib.loads(configured.decode())
    theirs = before.pop("hooks", {}).get("Stop", [])
    stops = after.pop("hooks")["Stop"]
    assert (after, stops[:-1]) == (before, theirs)
    assert stops[-1] == {"hooks": [{"type": "command", "command": _NEW, "timeout": 10}]}


def test_what_was_added_behind_ours_stays() -> None:
    later = b'\n[hooks.state."x"]\ntrusted_hash = "sha256:0"\n'
    assert codex_toml.remove(_configured(b"a = 1\n") + later) == b"a = 1\n" + later


@each("content, has", [(b"", False), (b"[hooks.state.x]\na = 1\n", False), (b"[[hooks.Stop]]\n", True)])
def test_what_codex_notes_of_trust_is_no_hook(content: bytes, has: bool) -> None:
    assert codex_toml.has_hooks(content) is has


@each("content", [b"a = \n", b"\xff", b"hooks = {Stop = []}\n"])
def test_what_codex_would_not_read_is_refused_with_its_line(content: bytes) -> None:
    with pytest.raises(FormatError, match=r"line \d|cannot be added|that can be added"):
        _configured(content)
