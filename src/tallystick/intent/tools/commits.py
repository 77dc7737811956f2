"""Commits that a command says it made.

Owns the lines by which git tells of new commits. Must not know repositories: an abbreviated hash stays abbreviated. Source:
git-commit(1); git-cherry-pick(1) and git-merge(1) print the same line.
"""

from __future__ import annotations

import re

_MOST = 100
_MOST_CHARACTERS = 1024 * 1024
_SUMMARY = re.compile(r"^\[[^\]\n]{1,250} ([0-9a-f]{7,64})\] ", re.MULTILINE)


def commits_in(output: str) -> tuple[str, ...]:
    """The hashes in `[BRANCH HASH] subject` and `[BRANCH (root-commit) HASH] subject`, as git abbreviates them, each once.

    Of a text over 1 MiB the first and the last half are read.
    """
    if len(output) > _MOST_CHARACTERS:
        output = output[: _MOST_CHARACTERS // 2] + "\n" + output[-_MOST_CHARACTERS // 2 :]
    found = dict.fromkeys(match[1] for match in _SUMMARY.finditer(output))
    return tuple(found)[:_MOST]
