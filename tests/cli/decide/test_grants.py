"""`tally policy grants`, `release` and `restore`: a person at a terminal grants, and no one else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from tallystick.journal.read import read_session
from tallystick.model.decision import Effect
from tests.support.working import Work

WORDS = (sys.executable, "-I", "-m", "tallystick")


def in_terminal(work: Work, *words: str, answer: bytes = b"y\n") -> str:
    """Run a command at a terminal, where a person types an answer."""
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    environment = {**os.environ, "HOME": str(work.user), "TERM": "dumb"}
    done = subprocess.run(
        [*WORDS, "--home", str(work.home.folder), *words],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment,
        cwd=work.project,
        timeout=120,
        check=False,
    )
    os.close(theirs)
    os.close(ours)
    return f"{done.returncode} {done.stdout.decode()}"


def test_a_person_at_a_terminal_grants_what_could_not_be_asked(tmp_path: Path) -> None:
    with Work(tmp_path) as work:
        work.write("data/x.txt", "mine\n")
        work.call("Bash", {"command": "rm -rf data"}, result=None)
        piped = subprocess.run(
            [*WORDS, "--home", str(work.home.folder), "policy", "grants", "add", "1"],
            input=b"y\n",
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert piped.returncode != 0
        assert work.run("rm -rf data").effect is Effect.ASK
        (name,) = decisions(work)
        assert in_terminal(work, "policy", "grants", "add", name, answer=b"n\n")[0] != "0"
        assert in_terminal(work, "policy", "grants", "add", name).startswith("0 granted until")
        assert work.run("rm -rf data").effect is Effect.ALLOW
        assert "in force" in in_terminal(work, "policy", "grants", "list")


def decisions(work: Work) -> list[str]:
    """The names of the decisions on record."""
    return [
        f"{sid}:{step.n}"
        for sid, _ in work.home.sessions()
        for step in read_session(work.home, sid)
        if step.type == "decision"
    ]
