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


def push(remote: Path, ref: str, head: bytes, *, at: str = "1700000000 +0000") -> None:
    """What anybody who may push can put on a ref: something that is a head or not, of whatever time."""

    def run(*words: str, data: bytes = b"") -> bytes:
        command = ["git", "-C", str(remote), *words]
        return subprocess.run(command, input=data, check=True, capture_output=True).stdout.strip()

    tree = run("mktree", data=b"100644 blob " + run("hash-object", "-w", "--stdin", data=head) + b"\thead\n")
    who = b"x <x> " + at.encode()
    text = b"tree %s\nparent %s\nauthor %s\ncommitter %s\n\nx\n" % (tree, run("rev-parse", ref), who, who)
    made = run("hash-object", "-t", "commit", "-w", "--literally", "--stdin", data=text)
    run("update-ref", ref, made.decode())
