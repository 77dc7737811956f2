"""More attacks: on the way to the place off the machine, by the agent's user, and by root who has the signer's key."""

from __future__ import annotations

import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

from tools.redteam.attacks import attack, edit_and_sign, root_rewrites_with_the_signers_key
from tools.redteam.forging import Forged, Thief, Values, lines_of


def _redirect(thief: Thief) -> None:
    """Have git go to a repository of one's own, by settings where it might look for some, and put the new head there."""
    own, ref = thief.home.folder.with_name("own.git"), f"refs/heads/tallystick/{thief.store}"
    subprocess.run(["git", "init", "--quiet", "--bare", str(own)], check=True)
    said = f'[url "{own}"]\n\tinsteadOf = {os.environ["REDTEAM_REMOTE"]}\n'
    kept = sha256(f"git\0{os.environ['REDTEAM_REMOTE']}".encode()).hexdigest()[:16]
    for place in (".", ".git", "trust", f"trust/anchors/{kept}"):
        settings = thief.home.folder / place / "config"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(said)
    Path(os.environ["HOME"], ".gitconfig").write_text(said)
    who = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "x")

    def run(*words: str, data: bytes = b"") -> bytes:
        command = ["git", "-C", str(own), *words]
        return subprocess.run(command, input=data, check=True, capture_output=True, env={**os.environ, **who}).stdout

    blob = run("hash-object", "-w", "--stdin", data=thief.home.note.read_bytes()).strip()
    tree = run("mktree", data=b"100644 blob " + blob + b"\thead\n").decode().strip()
    run("update-ref", ref, run("commit-tree", tree, "-m", "x").decode().strip())


@attack
def redirect_the_anchor(thief: Thief) -> None:
    """Rewrite everything, and have git look for the anchor in a repository of one's own."""
    edit_and_sign(thief)
    _redirect(thief)


@attack
def root_redirects_the_anchor(thief: Thief) -> None:
    """As root: rewrite everything with the signer's key, and let the store's settings send git elsewhere."""
    root_rewrites_with_the_signers_key(thief)
    _redirect(thief)


@attack
def root_forgets_the_anchors(thief: Thief) -> None:
    """As root: rewrite everything with the signer's key, and leave the anchors out. Who verifies knows where they are."""

    def without(_: int, values: Values) -> Values | None:
        return None if values.get("meta", {}).get("type") == "anchor" else values

    shutil.rmtree(thief.home.folder / "trust", ignore_errors=True)
    Forged(thief.store, lines_of(thief.home.ledger), without).write(thief.home.ledger)
    root_rewrites_with_the_signers_key(thief)


BY_ROOT = ("root_forgets_the_anchors", "root_redirects_the_anchor")
