"""`/provenance` in a gptme conversation, and `gptme provenance` on the command line.

Owns nothing but the way to `gptme-provenance`, which Tallystick installs: gptme runs it for `gptme provenance`.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from typing import Any


def register() -> None:
    """Register the command in gptme."""
    from gptme.commands import register_command

    register_command("provenance", provenance)


def provenance(context: Any) -> Iterator[Any]:
    """Run `gptme-provenance` with the words after the command, in the user's terminal."""
    program = shutil.which("gptme-provenance")
    if program is None:
        print("gptme-provenance is not on the PATH: `pip install tallystick` in this environment brings it")  # noqa: T201
    else:
        subprocess.run([program, *context.args], check=False)
    yield from ()
