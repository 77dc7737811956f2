"""A process of our own that is started beside the front, without a terminal and outliving none of its work.

Owns how one is started. Must not know what it does, nor when it ends.
"""

from __future__ import annotations

import subprocess
import sys
from typing import IO

from tallystick.journal.home import Home


def start_helper(home: Home, module: str, stdin: int | IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a module of this package for a store. Raises OSError."""
    words = [sys.executable, "-I", "-m", f"tallystick.service.{module}", str(home.folder.absolute())]
    null = subprocess.DEVNULL
    return subprocess.Popen(words, stdin=stdin, stdout=null, stderr=null, cwd="/", start_new_session=True, bufsize=0)
