"""What commands of Windows' `cmd` do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code.batch import unix_drives, unix_folders
from tallystick.intent.code.languages import read_code

SAID = (
    ("rd /s /q build", "rm -r build"),
    ("RMDIR /S/Q build", "rm -r build"),
    ("rd build", "rmdir build"),
    ("del /f /s /q C:\\Users\\dev\\*.txt", "rm -r /mnt/c/Users/dev/*.txt"),
    ("del a.txt", "rm a.txt"),
    ("rd /s /q C:", "rm -r /mnt/c/"),
    ('del "a b.txt"', 'rm "a b.txt"'),
    ("type .\\a.txt", "cat ./a.txt"),
    ("copy a b & del a", "cp a b; rm a"),
    ("if exist dist rd /s dist", "rm -r dist"),
    ("if not exist dist mkdir dist", "mkdir -p dist"),
    ("del %USERPROFILE%\\x", "rm $HOME/x"),
    ("rd /s /q %TEMP%", "rm -r /tmp"),
    ("reg add HKCU\\Run /v x", "reg add HKCU\\\\Run /v x"),
    (".\\tool.exe /s", "./tool.exe /s"),
    ("@echo off", ""),
    ("rem del /s x", ""),
    ("set A=del x", ""),
    ("echo del ^& x > a.txt", "echo del"),
    ("npm test 2>nul", "npm test 2>/dev/null"),
)


@pytest.mark.parametrize(("text", "said"), SAID)
def test_a_command_is_said_in_the_words_of_a_shell(text: str, said: str) -> None:
    codes = [code.text.plain.strip() for code in read_code("batch", text).codes]
    assert codes == ([said] if said else []) or codes[0].startswith(said)


def test_drives_and_folders_have_one_name() -> None:
    assert unix_drives("C:\\x D:/y https://z a:b") == "/mnt/c\\x /mnt/d/y https://z a:b"
    assert unix_folders("%APPDATA%\\x %NAME%") == "$HOME/AppData/Roaming\\x ${NAME}"


@given(st.text(max_size=200))
def test_no_text_is_too_odd(text: str) -> None:
    read_code("batch", text)
