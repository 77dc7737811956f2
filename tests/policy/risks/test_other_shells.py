"""Secrets that are read in the way of Windows."""

import pytest

from tallystick.policy.risks.other_shells import RISKS, risks
from tests.policy.risks.readings import found

FOUND = (
    "Get-Content ~/.ssh/id_rsa",
    "gc .env",
    "Select-String KEY .env",
    "Copy-Item ~/.aws/credentials x",
    "findstr KEY .env",
    "certutil -encode .env x",
    "cmd.exe /c type %USERPROFILE%\\.ssh\\id_rsa",
    "cmd /c 'copy C:\\Users\\me\\.aws\\credentials x'",
    "powershell -Command 'Get-Content $env:USERPROFILE\\.ssh\\id_rsa'",
    "pwsh -c 'cat ~/.netrc'",
)
WORK = (
    "Get-Content README.md",
    "cmd /c dir",
    "powershell -Command 'Get-ChildItem'",
    "pwsh -c 'Get-Content package.json'",
    "gc .env.example",
    "echo Get-Content ~/.ssh/id_rsa",
    "cmd /c echo .env",
)


@pytest.mark.parametrize("command", FOUND)
def test_a_secret_is_read(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@pytest.mark.parametrize("command", WORK)
def test_other_files_and_talk_are_work(command: str) -> None:
    assert found(risks, command) == set()
