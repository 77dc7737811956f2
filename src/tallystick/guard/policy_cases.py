"""Declarative tests of policies: cases in TOML, judged on a machine that is laid out for them.

Owns putting a user's own policies, and candidates, on that machine. The form of a case, and how it is judged, is
`policy_quality`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from tallystick.guard.policies import policies_below, read_policy_file, user_folder
from tallystick.guard.policy_quality import Judged, judge, read_cases
from tallystick.journal.home import Home


class Tested(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided on the cases of some files."""

    judged: tuple[Judged, ...]

    @property
    def failed(self) -> tuple[Judged, ...]:
        """Those that did not get what they want."""
        return tuple(one for one in self.judged if not one.is_met)


def run_cases(home: Home, tables: Sequence[Path], candidates: Sequence[Path] = ()) -> Iterator[Judged]:
    """What the policies in force, or these candidates instead of the user's own, decide on each case.

    Raises:
        FormatError: a table cannot be read. PolicyError: a policy cannot be used.
    """
    cases = read_cases(tables)
    if candidates:
        own = [(path, read_policy_file(path)) for path in candidates]
    else:
        own = _own(home)
    files = {f".tally/policy/{number:02}-{path.name}": text for number, (path, text) in enumerate(own)}
    yield from judge(cases, files)


def _own(home: Home) -> list[tuple[Path, str]]:
    return [(Path(name), text) for name, text in policies_below(user_folder(home))]
