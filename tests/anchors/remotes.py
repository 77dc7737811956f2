"""A remote that keeps anchors: a bare repository, guarded against rewriting or not."""

from __future__ import annotations

import subprocess
from pathlib import Path


def bare(path: Path, *, is_guarded: bool) -> Path:
    """A new bare repository at `path` that denies rewritten and deleted refs, or allows both."""
    subprocess.run(["git", "init", "--quiet", "--bare", str(path)], check=True)
    for name in ("receive.denyNonFastForwards", "receive.denyDeletes"):
        subprocess.run(["git", "-C", str(path), "config", name, str(is_guarded).lower()], check=True)
    return path
