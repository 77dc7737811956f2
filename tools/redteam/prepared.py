"""A process of root's that has loaded what the attacks use and forks a child for each: starting takes longer than they do.

A child gives up root's rights before it runs anything, and has the user, the environment and the folder that it is told.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

_LOADED = ("anchor_attacks", "attacks", "signer_attacks")
_SECONDS = 60


class Prepared:
    """The process, for whoever asks for attacks."""

    def __init__(self, interpreter: Path, library: Path) -> None:
        code = f"import sys; sys.path[:0] = [{str(library)!r}]; from tools.redteam.prepared import serve; serve()"
        self._process = subprocess.Popen(
            [str(interpreter), "-I", "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}, cwd="/"
        )

    def run(
        self, module: str, words: Sequence[str], *, user: int, environment: Mapping[str, str], folder: Path
    ) -> subprocess.CompletedProcess[str]:
        """Run a module as a program of a user; its exit code, and what it said."""
        asked = {"module": module, "words": words, "user": user, "environment": environment, "folder": str(folder)}
        sent, answers = self._process.stdin, self._process.stdout
        assert sent is not None
        assert answers is not None
        sent.write(json.dumps(asked).encode() + b"\n")
        sent.flush()
        code, said = json.loads(answers.readline())
        return subprocess.CompletedProcess(words, code, "", said)

    def close(self) -> None:
        """End it: it has nothing more to read."""
        self._process.communicate()


def serve() -> None:
    """Answer each line with the exit code of what it asks for and with what that said, until there is none."""
    for name in _LOADED:
        importlib.import_module(f"tools.redteam.{name}")
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _run(json.loads(line), writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            said = pipe.read().decode("utf-8", "replace")
        _, status = os.waitpid(child, 0)
        sys.stdout.write(json.dumps([os.waitstatus_to_exitcode(status), said]) + "\n")
        sys.stdout.flush()


def _run(asked: dict[str, Any], said: int) -> NoReturn:
    """What a child does."""
    code = 1
    try:
        signal.alarm(_SECONDS)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (said, 1), (said, 2)):
            os.dup2(source, target)
        os.closerange(3, 64)
        os.setgroups([])
        os.setgid(asked["user"])
        os.setuid(asked["user"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["folder"])
        sys.argv[:] = [asked["module"], *asked["words"]]
        runpy.run_module(asked["module"], run_name="__main__")
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
