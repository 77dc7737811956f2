"""Scripts of programs that obey line by line: vim, ed, gdb, tcl, gnuplot, Windows' `cmd`."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code.languages import read_code
from tallystick.intent.code.lines import unix_drives, unix_folders
from tests.support.cases import each, each_case


@each_case("text, said")
def test_a_command_is_said_in_the_words_of_a_shell(text: str, said: str) -> None:
    codes = [code.text.plain.strip() for code in read_code("batch", text).codes]
    assert codes == ([said] if said else []) or codes[0].startswith(said)


def test_drives_and_folders_have_one_name() -> None:
    assert unix_drives("C:\\x D:/y https://z a:b") == "/mnt/c\\x /mnt/d/y https://z a:b"
    assert unix_folders("%APPDATA%\\x %NAME%") == "$HOME/AppData/Roaming\\x ${NAME}"


@given(st.text(max_size=200))
def test_no_text_is_too_odd(text: str) -> None:
    read_code("batch", text)


@each_case("language, text, expected")
def test_what_a_text_does_is_found(language: str, text: str, expected: list[str]) -> None:
    read = read_code(language, text, home="/h")
    found = [f"{action.operation} {action.target.plain}" for action in read.actions]
    found += [f"{code.language}: {code.text.plain}" for code in read.codes]
    assert list(dict.fromkeys(found)) == expected


@each("language", ["ed", "gdb", "gnuplot", "tcl", "vim"])
def test_it_is_never_all(language: str) -> None:
    assert read_code(language, "x").is_unknown
    assert not read_code(language, " ").is_unknown


@given(st.sampled_from(["ed", "gdb", "gnuplot", "tcl", "vim"]), st.text(max_size=300))
def test_any_text_is_read(language: str, text: str) -> None:
    read = read_code(language, text)
    assert all(action.target.text for action in read.actions)


def test_an_encoded_command_is_decoded() -> None:
    text = base64.b64encode("Get-Content ~/.netrc".encode("utf-16-le")).decode()
    assert [code.text.plain for code in read_code("powershell-encoded", text).codes] == ["Get-Content ~/.netrc"]
    assert not read_code("powershell-encoded", "=").codes
