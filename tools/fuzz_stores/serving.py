"""A verifier as a process that answers requests, one JSON object a line: `python -m tools.fuzz_stores.serving ours|alone MB`.

Owns asking a verifier of this project as its program would, and the limit of memory. Must not know what is fuzzed.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def ours() -> Answer:
    """`tally verify`, without its command line."""
    from tallystick.errors import TallystickError
    from tallystick.journal.home import Home
    from tallystick.model.verdict import Require, Verdict, report
    from tallystick.seal.redact import Redaction
    from tallystick.trust.verify import Demand, StoreEvidence, verify_file, verify_store
    from tallystick.trust.verify_named import Part, verdict_on_no_files, verify

    elsewhere = tempfile.mkdtemp()  # where no store is: evidence of what is found is kept in one's own only

    def judge(asked: dict[str, Any]) -> Verdict:
        path, require = Path(asked["path"]), asked.get("require")
        wanted = Require(require) if require else None
        if asked.get("redaction"):
            return verify_file(path, redaction=Redaction(asked["redaction"]), require=wanted or Require.A1)
        if path.is_file():
            return verify_file(path, require=wanted or Require.A1)
        remembered = _read(asked.get("remembered"))
        if asked.get("files_alone"):  # nothing that anyone else knows of the store
            evidence = StoreEvidence(pinned=asked.get("pinned"), remembered=remembered)
            demand = Demand(require=wanted or Require.A2)
            unread = verdict_on_no_files(Home(path), Part.RECORD)
            return unread or verify_store(Home(path), evidence=evidence, demand=demand)
        return verify(path, home=elsewhere, require=wanted, pinned=asked.get("pinned"), remembered=remembered)

    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        try:
            return report(judge(asked))
        except (TallystickError, OSError) as error:
            return {"exit": 1, "why": str(error)}

    return answer


def alone() -> Answer:
    """The one-file verifier."""
    from tallystick.seal.standalone import verify

    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        options = {name: asked.get(name) for name in ("pinned", "require", "redaction")}
        return verify(asked["path"], remembered=_read(asked.get("remembered")), **options)

    return answer


def _read(path: str | None) -> bytes | None:
    if path is None:
        return None
    with open(path, "rb") as file:  # noqa: PTH123 as the programs do
        return file.read((1 << 20) + 1)


def limit_memory(megabytes: int) -> None:
    """Have what is allocated from here on fail beyond so many MB, where the system can do that."""
    status = Path("/proc/self/statm")
    if status.exists():
        used = int(status.read_text("ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
        most = used + (megabytes << 20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def serve(answer: Answer) -> None:
    """Answer each line of standard input."""
    for line in sys.stdin.buffer:
        found = answer(json.loads(line))
        sys.stdout.buffer.write(json.dumps(found).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    which = {"ours": ours, "alone": alone}[sys.argv[1]]()
    limit_memory(int(sys.argv[2]))
    serve(which)
