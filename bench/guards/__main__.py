"""Other guards on the same cases: `python -m bench.guards [--only A,B] [--times] [--every N] [--json FILE] [--kept FOLDER]`.

Each is a package of the index by pinned version (guards.toml), asked through the hook that it puts into Claude Code's
settings; this checkout is asked likewise, with a real recorder. The fifth set is put; `--every N` adds every Nth older case.
`--times` asks none of them the cases, but takes the time of an answer: 20 everyday calls, each put to all guards in turn.
`--json` reads and keeps the results, of all guards or of some (docs/guards.json); packages are kept below `--kept`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.guards.cases import answers, compared_cases, digest_of, times_in_turns
from bench.guards.figures import Comparison, Line, measured, stopped_elsewhere, table, timed, with_
from bench.guards.programs import guards
from tallystick.guard.policy_quality import Case, Wants, named

_EVERY = 0
_TIMED = 20
_KEPT = Path.home() / ".cache" / "tallystick-guards"


def _lines(cases: tuple[Case, ...]) -> tuple[Line, ...]:
    found: list[Line] = []
    for case in cases:
        last = len(case.calls) - 1 if case.judged is None else case.judged
        if case.wants is Wants.SILENCE:
            calls = enumerate(case.calls[: last + 1])
            found += (Line(f"{case.id} [{number}]", case.class_, False, named(call)) for number, call in calls)
        else:
            found.append(Line(case.id, case.class_, True, named(case.calls[last])))
    return tuple(found)


def _option(name: str, otherwise: str) -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else otherwise


def compared(only: list[str], *, every: int, kept: Path) -> Iterator[Comparison]:
    """Ask the guards of some names, or all: a comparison after each."""
    cases = compared_cases(every)
    for guard in guards():
        if not only or guard.name in only:
            found = measured(guard.name, guard.version, answers(guard, cases, kept))
            print(f"{guard.name}: asked", file=sys.stderr, flush=True)
            yield Comparison(digest_of(cases), every, _lines(cases), (found,))


def _timed(before: Comparison, *, every: int, kept: Path) -> Comparison:
    work = [case for case in compared_cases(every) if case.wants is Wants.SILENCE and len(case.calls) == 1]
    asked = [guard for guard in guards() if guard.name in {one.name for one in before.guards}]
    return timed(before, times_in_turns(asked, work[:: len(work) // _TIMED], kept))


def _write(path: Path, made: Comparison) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n")


def main() -> None:
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        return
    only = [name for name in _option("--only", "").split(",") if name]
    path = Path(_option("--json", os.devnull))
    before = msgspec.json.decode(path.read_bytes(), type=Comparison) if path.is_file() else None
    every, kept = int(_option("--every", str(_EVERY))), Path(_option("--kept", str(_KEPT)))
    if "--times" not in sys.argv:
        for made in compared(only, every=every, kept=kept):
            before = with_(before, made)
            _write(path, before)
    elif before is not None:
        before = _timed(before, every=every, kept=kept)
        _write(path, before)
    if before is None:
        return
    for line in table(before):
        print(line)
    for case, names in stopped_elsewhere(before):
        print(f"{case.id}: stopped by {', '.join(names)}")


if __name__ == "__main__":
    main()
