from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tallystick.capture import programs
from tallystick.capture.programs import codex_hooks, find_program, program_version

_SERVER = """#!{python} -IS
import json, sys
asked = [json.loads(sys.stdin.readline()) for _ in range(3)]
assert [each.get("method") for each in asked] == ["initialize", "initialized", "hooks/list"], asked
assert asked[2]["params"]["cwds"], asked
print(json.dumps({{"id": 1, "result": {{}}}}))
print("no json", flush=True)
print(json.dumps({{"method": "configWarning", "params": None}}))
hook = {{"command": "x", "trustStatus": "untrusted", "enabled": True}}
print(json.dumps({{"id": 2, "result": {{"data": [{{"cwd": "/", "hooks": [hook, "odd"]}}]}}}}), flush=True)
sys.stdin.read()
"""


def _program(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "program"
    path.write_text(text.replace("{python}", sys.executable).replace("{{", "{").replace("}}", "}"))
    path.chmod(0o700)
    return path


def test_the_first_program_on_the_path_is_found(tmp_path: Path) -> None:
    program = _program(tmp_path, "#!/bin/sh\n")
    environment = {"PATH": str(tmp_path)}
    assert find_program(("nobody", "program"), environment) == program
    assert find_program(("nobody",), environment) is None


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("echo 'codex-cli 0.169.0'", "0.169.0"),
        ("echo '2.1.330 (Claude Code)'", "2.1.330"),
        ("echo v1.2-beta.3+x >&2", "1.2-beta.3+x"),
        ("echo none; exit 3", None),
        ("cat", None),  # it must not wait for anybody to type
    ],
)
def test_a_program_tells_its_version(tmp_path: Path, said: str, version: str | None) -> None:
    assert program_version(_program(tmp_path, f"#!/bin/sh\n{said}\n"), {"PATH": "/usr/bin:/bin"}) == version


def test_a_program_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_SECONDS", 0.2)
    program = _program(tmp_path, "#!/bin/sh\nexec sleep 600\n")
    assert program_version(program, {"PATH": "/usr/bin:/bin"}) is None
    assert codex_hooks(program, {"PATH": "/usr/bin:/bin"}, tmp_path) is None


def test_codex_tells_its_handlers(tmp_path: Path) -> None:
    found = codex_hooks(_program(tmp_path, _SERVER), {}, tmp_path)
    assert found == [{"command": "x", "trustStatus": "untrusted", "enabled": True}]


def test_a_codex_that_says_nothing_is_not_believed_to_have_none(tmp_path: Path) -> None:
    assert codex_hooks(_program(tmp_path, "#!/bin/sh\nexit 1\n"), {}, tmp_path) is None
    assert codex_hooks(tmp_path / "nobody", {}, tmp_path) is None
