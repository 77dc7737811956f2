"""A git repository elsewhere as an anchor: one ref a store, whose commits each hold one head and follow from the one before.

Owns the ref, its commits, and trying whether the server refuses to have it rewritten. Only plumbing commands are used, in a
bare repository of our own, without hooks, prompts and templates; who the user is to the server is the user's git to know.
Sources: git-push(1), git-commit-tree(1), git-config(1), receive.*.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from tallystick.anchors.kept import AnchorError, Guarded, Kept
from tallystick.errors import FormatError
from tallystick.journal.home import FOLDER_MODE
from tallystick.seal.limits import NOTE_BYTES
from tallystick.seal.note import parse_note

_SECONDS = 60
_FILE = "head"
_MOST_COMMITS = 100_000
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_REF = re.compile(r"refs/[A-Za-z0-9][A-Za-z0-9._/-]{0,200}\Z")
_WHO = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")


def default_ref(store_id: str) -> str:
    """The ref of a store's heads: `refs/heads/tallystick/<store id>`, for a server's own settings guard branches alone."""
    return f"refs/heads/tallystick/{store_id}"


class GitAnchor:
    """One ref of one repository elsewhere."""

    def __init__(self, folder: Path, remote: str, ref: str, environment: Mapping[str, str]) -> None:
        """Use a repository of our own at `folder`, made if it is not there, to speak with `remote`.

        Args:
            remote: what `git push` takes: a URL, or a path. environment: of the user, for keys and helpers.

        Raises:
            AnchorError: the ref's name is none, or git cannot be run.
        """
        if not _REF.match(ref) or ".." in ref or "//" in ref or ref.endswith(("/", ".lock")):
            raise AnchorError(f"{ref[:120]!r} is no name of a ref", hint="such as refs/heads/tallystick/store")
        if remote.startswith("-") or "::" in remote:
            raise AnchorError(f"{remote[:120]!r} is no repository", hint="a URL (https, ssh, file) or a path")
        self.remote, self.ref = remote, ref
        self._folder = folder
        self._environment = {
            **environment,
            **dict.fromkeys(_WHO, "tallystick"),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",
            "GIT_SSH_COMMAND": environment.get("GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=20"),
            "GIT_DIR": str(folder),
            "LC_ALL": "C",
        }
        if not (folder / "HEAD").exists():
            folder.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
            self._git("init", "--quiet", "--bare", "--template=", str(folder))

    def put(self, note: bytes) -> Kept:
        """Add a head to what the ref holds, and have the server take it, without force.

        Raises:
            AnchorError: the server cannot be reached, or refuses: perhaps somebody else moved the ref.
        """
        tip = self._fetch()
        at = datetime.now(UTC).replace(microsecond=0)
        blob = self._git("hash-object", "-w", "--stdin", data=note).strip()
        tree = self._git("mktree", data=b"100644 blob " + blob + b"\t" + _FILE.encode() + b"\n").strip()
        size = parse_note(note).size
        date = {"GIT_AUTHOR_DATE": f"{at.timestamp():.0f} +0000", "GIT_COMMITTER_DATE": f"{at.timestamp():.0f} +0000"}
        words = ["commit-tree", tree.decode(), "-m", f"ledger of {size} entries"]
        commit = self._git(*words, *(("-p", tip) if tip is not None else ()), more=date).strip().decode()
        self._git("push", "--quiet", "--no-verify", self.remote, f"{commit}:{self.ref}")
        return Kept(note=note, receipt=commit, at=f"{at:%Y-%m-%dT%H:%M:%S}.000000Z")

    def heads(self) -> list[Kept]:
        """All heads that the ref holds, oldest first. What is no head of ours is passed over.

        Raises:
            AnchorError: the server cannot be reached.
        """
        tip = self._fetch()
        if tip is None:
            return []
        listed = self._git("rev-list", "--reverse", "--timestamp", f"--max-count={_MOST_COMMITS}", tip)
        found = []
        for line in listed.splitlines():
            seconds, _, commit = line.partition(b" ")
            note = self._file(commit.decode())
            if note is not None:
                at = datetime.fromtimestamp(int(seconds), UTC)
                found.append(Kept(note=note, receipt=commit.decode(), at=f"{at:%Y-%m-%dT%H:%M:%S}.000000Z"))
        return found

    def _file(self, commit: str) -> bytes | None:
        try:
            note = self._git("cat-file", "blob", f"{commit}:{_FILE}")
            parse_note(note[: NOTE_BYTES + 1])
        except (AnchorError, FormatError):
            return None
        return note

    def guarded(self) -> Guarded:
        """Try on a ref beside ours whether the server refuses to have one rewritten and deleted.

        Raises:
            AnchorError: the server cannot be reached.
        """
        beside = f"{self.ref}-probe"
        tree = self._git("mktree", data=b"").strip().decode()
        one, other = (self._git("commit-tree", tree, "-m", f"probe {n}").strip().decode() for n in (1, 2))
        if self._tip(beside) is None:
            self._git("push", "--quiet", "--no-verify", self.remote, f"{one}:{beside}")
        refused = {
            "rewriting": not self._may("push", "--quiet", "--no-verify", "--force", self.remote, f"{other}:{beside}"),
            "deleting": not self._may("push", "--quiet", "--no-verify", self.remote, f":{beside}"),
        }
        allowed = [what for what, is_refused in refused.items() if not is_refused]
        if not allowed:
            return Guarded(
                keeps=True, says="the server refuses to have a ref rewritten or deleted; its administrator can"
            )
        return Guarded(
            keeps=False,
            says=f"the server allows {' and '.join(allowed)}: whoever may push can take heads away"
            " (receive.denyNonFastForwards and receive.denyDeletes guard refs/heads; a host has rules for branches)",
        )

    # git --------------------------------------------------------------------------------------------------------------

    def _tip(self, ref: str) -> str | None:
        listed = self._git("ls-remote", self.remote, ref).split()
        return listed[0].decode() if listed and _COMMIT.match(listed[0]) else None

    def _fetch(self) -> str | None:
        """Take in what the ref holds; its newest commit, None if there is none yet."""
        tip = self._tip(self.ref)
        if tip is not None:
            self._git("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", self.remote, f"+{self.ref}:{self.ref}")
        return tip

    def _may(self, *words: str) -> bool:
        try:
            self._git(*words)
        except AnchorError:
            return False
        return True

    def _git(self, *words: str, data: bytes | None = None, more: Mapping[str, str] | None = None) -> bytes:
        settings = ("core.hooksPath=/dev/null", "protocol.ext.allow=never", "gc.auto=0", "commit.gpgSign=false")
        command = ["git", *(word for setting in settings for word in ("-c", setting)), *words]
        try:
            done = subprocess.run(
                command,
                input=data,
                stdin=subprocess.DEVNULL if data is None else None,
                capture_output=True,
                check=False,
                timeout=_SECONDS,
                env={**self._environment, **(more or {})},
                cwd=os.sep,
            )
        except subprocess.TimeoutExpired as error:
            raise AnchorError(f"{self.remote} did not answer within {_SECONDS} s") from error
        except OSError as error:
            raise AnchorError(f"git cannot be run: {error.strerror}", hint="install git") from error
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()[-500:]
            raise AnchorError(f"git {words[0]} with {self.remote}: {said or f'exit {done.returncode}'}")
        return done.stdout
