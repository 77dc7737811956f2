"""Commits that a command says it made."""

import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.tools.commits import commits_in
from tests.support.cases import each_case


@each_case("output, expected")
def test_the_line_that_git_prints_names_the_commit(output: str, expected: tuple[str, ...]) -> None:
    assert commits_in(output) == expected


def test_what_git_itself_prints_is_understood(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    git("init", "-q", "-b", "trunk")
    for number in range(2):
        printed = git("commit", "--allow-empty", "-m", f"[x] number {number}")
        (short,) = commits_in(printed)
        assert git("rev-parse", "HEAD").startswith(short)


@given(st.text())
def test_no_text_is_too_much(text: str) -> None:
    assert all(7 <= len(found) <= 64 for found in commits_in(text))


def test_a_huge_output_is_read_at_both_ends() -> None:
    output = "[main 1111111] a\n" + "x" * 3_000_000 + "\n[main 2222222] b\n"
    assert commits_in(output) == ("1111111", "2222222")
    assert len(commits_in("".join(f"[main {number:07x}] x\n" for number in range(1000)))) == 100
