"""The words with which a person runs one of our commands as root.

Owns what `sudo` changes: it looks for programs in the system's folders alone, and `~` is root's home folder. Must not run
anything.
"""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from tallystick.journal.home import Home

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where sudo looks: `secure_path`, as sudoers(5) has it on most systems."""


def as_root(words: str, home: Home, *, program: str | None = None) -> str:
    """A command of ours for a store, such as `signer init`, as its owner types it to run it as root.

    Args:
        program: what was started; None: this process's own.
    """
    return (
        f"sudo {_program(sys.argv[0] if program is None else program)} {words} --home {_quoted(home.folder.absolute())}"
    )


def _program(started: str) -> str:
    path = Path(started)
    if path.name != "tally" or shutil.which("tally", path=_SYSTEM_PATH) is not None:
        return "tally"
    return _quoted(path.absolute())


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def home_of_sudoer(environment: Mapping[str, str]) -> Home | None:
    """The store of who called sudo, if this process is root by it and that user has one."""
    uid = environment.get("SUDO_UID", "")
    if os.geteuid() != 0 or not uid.isdecimal() or environment.get("TALLY_HOME"):
        return None
    try:
        home = Home(Path(pwd.getpwuid(int(uid)).pw_dir) / ".tally")
    except (KeyError, OverflowError):
        return None
    if home.folder.is_dir():
        return home
    return None
