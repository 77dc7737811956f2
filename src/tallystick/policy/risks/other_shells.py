"""Secrets that are read in the way of Windows: by cmdlets, by what `cmd /c` and PowerShell are given.

Owns the names of what reads, copies and packs files there. No reader of `shell` knows those languages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tallystick.catalog.programs import programs_with
from tallystick.policy.mentions import secrets_in
from tallystick.policy.reading import CallReading
from tallystick.policy.risks.programs import programs
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

RISKS: dict[str, str] = {"reads-secret": "It looks for secrets and reads what it finds."}
_MOST_CODE = 48 << 10
_SHELLS = programs_with("shell-of-windows")
_CMDLETS = frozenset(
    (
        "get-content", "gc", "select-string", "sls", "copy-item", "cpi", "move-item", "compress-archive", "import-csv",
        "import-clixml", "format-hex", "findstr", "xcopy", "robocopy", "certutil", "esentutl",
    )
)  # fmt: skip
_READING = re.compile(
    r"(?i)(?:^|[\s&|(\"'])(?:type|more|copy|xcopy|robocopy|move|findstr|certutil|get-content|gc|cat|select-string|sls"
    r"|copy-item|compress-archive)\s([^&|\n]{1,500})"
)


def risks(reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What a call does, of RISKS."""
    for text in _given(reading):
        for path in secrets_in(text, home=reading.home, folder=reading.folder):
            yield Risk("reads-secret", path[:200])


def _given(reading: CallReading) -> Iterator[str]:
    """What follows a name that reads files."""
    codes = [snippet.text for snippet in reading.snippets if snippet.language == "powershell"]
    for program in programs(reading):
        if program.name in _CMDLETS:
            yield from program.words
        elif program.name in _SHELLS:
            codes += reading.texts  # the words have lost their backslashes, for they were read by another shell
    for code in dict.fromkeys(codes):
        yield from (found[1] for found in _READING.finditer(code[:_MOST_CODE]))
