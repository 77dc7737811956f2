"""The three verifiers as processes that stay, each bounded in time and memory, and what they say held against each other.

Owns starting, asking and ending them. Must not know what was done to a store.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MEGABYTES = 300
SECONDS = 10
"""Of processor time a store."""
PATIENCE_SECONDS = 60
"""How long one is waited for that takes no processor time: it waits for something that does not come."""

Report = dict[str, Any]


def commands(node: str | None = None) -> dict[str, list[str]]:
    """How each verifier is started; without the third where Node is not installed."""
    found = {
        name: [sys.executable, "-m", "tools.fuzz_stores.serving", name, str(MEGABYTES)] for name in ("ours", "alone")
    }
    program = node or shutil.which("node")
    if program is not None:
        found["node"] = [program, "--max-old-space-size=200", str(ROOT / "tools" / "verify.mjs"), "--batch"]
    return found


@dataclass(frozen=True)
class Answer:
    """What one verifier made of one store. `fault` says what is wrong with itself: it crashed, or took too much."""

    report: Report | None
    fault: str | None = None
    seconds: float = 0
    megabytes: int = 0


class Worker:
    """One verifier, in a process that is started again after a fault."""

    def __init__(self, name: str, command: list[str]) -> None:
        self.name = name
        self._command = command
        self._process: subprocess.Popen[bytes] | None = None
        self._before = 0.0

    def ask(self, request: Report) -> None:
        """Send a request; `answer` then waits for what is said."""
        process = self._running()
        assert process.stdin is not None
        self._before = _processor_seconds(process.pid)
        _forget_peak(process.pid)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()

    def answer(self) -> Answer:
        """The answer to the last request."""
        process = self._running()
        assert process.stdout is not None
        line = self._line(process)
        if line is None:
            seconds = _processor_seconds(process.pid) - self._before
            self.end()
            return Answer(None, f"took {seconds:.1f} s" if seconds > SECONDS else "waits for ever")
        if not line:
            error = self._last_words()
            self.end()
            return Answer(None, f"crashed: {error}")
        seconds, peak = _processor_seconds(process.pid) - self._before, _peak_megabytes(process.pid)
        faults = [
            *([f"took {seconds:.1f} s"] if seconds > SECONDS else []),
            *([f"took {peak} MB"] if peak > MEGABYTES else []),
        ]
        if faults:
            self.end()
        return Answer(json.loads(line), ", ".join(faults) or None, seconds, peak)

    def _line(self, process: subprocess.Popen[bytes]) -> bytes | None:
        """A line of what the process says; empty at its end, None if it took too long. A busy machine is no fault of it."""
        assert process.stdout is not None
        source, parts = process.stdout.fileno(), list[bytes]()
        used, until = _processor_seconds(process.pid), time.monotonic() + PATIENCE_SECONDS
        while not (parts and parts[-1].endswith(b"\n")):
            if select.select([source], [], [], 1)[0]:
                parts.append(os.read(source, 1 << 16))
                if not parts[-1]:
                    return b""
                continue
            now = _processor_seconds(process.pid)
            if now - self._before > 2 * SECONDS or time.monotonic() > until:
                return None
            if now > used:
                used, until = now, time.monotonic() + PATIENCE_SECONDS
        return b"".join(parts)

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(self._command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT)
        return self._process

    def _last_words(self) -> str:
        assert self._process is not None
        try:
            _, error = self._process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return "and did not end"
        return error.decode(errors="replace")[-2_000:]


# What a process took, where the system says it: else nothing is found too much.


def _processor_seconds(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _peak_megabytes(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM:")), 0)


def _forget_peak(process: int) -> None:
    with contextlib.suppress(OSError):
        Path(f"/proc/{process}/clear_refs").write_text("5", "ascii")


class Verifiers:
    """All of them, asked side by side."""

    def __init__(self) -> None:
        self._workers = [Worker(name, command) for name, command in commands().items()]

    def __enter__(self) -> Verifiers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()

    @property
    def names(self) -> list[str]:
        """Who is asked."""
        return [worker.name for worker in self._workers]

    def ask(self, request: Report) -> dict[str, Answer]:
        """What each says."""
        for worker in self._workers:
            worker.ask(request)
        answers = {worker.name: worker.answer() for worker in self._workers}
        if _is_more_than_files(answers):
            self._workers[0].ask({**request, "files_alone": True})
            answers["ours"] = self._workers[0].answer()
        return answers


def _is_more_than_files(answers: dict[str, Answer]) -> bool:
    """Whether `tally verify` may differ because it knows more than files: it says 2, of what others remember."""
    ours, other = answers["ours"].report, answers["alone"].report
    return ours is not None and other is not None and ours["exit"] == 2 and comparable(ours) != comparable(other)


def comparable(report: Report) -> Report:
    """The part of a report on which verifiers must agree (docs/format.md 20.1); of one that could not run, its code."""
    if report["exit"] == 1:
        return {"exit": 1}
    kept = {name: value for name, value in report.items() if name not in ("why_not_higher", "remarks", "why")}
    kept["defects"] = [_place(defect) for defect in report["defects"]]
    kept["first_bad"] = _place(report["first_bad"])
    return kept


def _place(defect: Report | None) -> Report | None:
    return defect and {name: defect[name] for name in ("session", "n", "rule")}


def disagreement(answers: dict[str, Answer]) -> str | None:
    """What is wrong with these answers; None if nothing is."""
    faults = [f"{name} {answer.fault}" for name, answer in answers.items() if answer.fault is not None]
    if faults:
        return "; ".join(faults)
    said = {name: comparable(answer.report) for name, answer in answers.items() if answer.report is not None}
    first = said["alone"]
    for name, report in said.items():
        if report != first:
            members = [member for member in {**first, **report} if first.get(member) != report.get(member)]
            shown = "; ".join(f"{member} {first.get(member)} / {report.get(member)}" for member in members[:4])
            return f"alone and {name} differ: {shown}"
    return None
