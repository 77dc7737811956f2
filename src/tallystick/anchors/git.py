"""A git repository elsewhere as an anchor: one ref a store, whose commits each hold one head and follow from the one before.

Owns the ref, its commits, and trying whether the server refuses to have it rewritten. Only plumbing commands are used,
without hooks, prompts and templates, in a bare repository made for this once: what is in one tells git what to run and
where to go, and anyone who asks must not be told that by the store. Who the user is to the server is the user's git to
know. Sources: git-push(1), git-commit-tree(1), git-config(1), receive.*.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tallystick.anchors.kept import AnchorError, Guarded, Kept
from tallystick.errors import FormatError
from tallystick.seal.note import parse_note

_SECONDS = 60
_FILE = "head"
_MOST_COMMITS = 100_000
_MOST_HEAD = 64 << 10
"""Bytes of one file that can be a head: more than 64 signatures have."""
_MOST_HEADS = 64 << 20
"""Bytes of all of them: anyone who may push decides how much is there."""
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_REF = re.compile(r"refs/[A-Za-z0-9][A-Za-z0-9._/-]{0,200}\Z")
_WHO = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")


def default_ref(store_id: str) -> str:
    """The ref of a store's heads: `refs/heads/tallystick/<store id>`, for a server's own settings guard branches alone."""
    return f"refs/heads/tallystick/{store_id}"


class GitAnchor:
    """One ref of one repository elsewhere."""

    def __init__(self, remote: str, ref: str, environment: Mapping[str, str]) -> None:
        """Speak with `remote` about a ref.

        Args:
            remote: what `git push` takes: a URL, or a path. environment: of the user, for keys and helpers.

        Raises:
            AnchorError: the ref's name is none, or git cannot be run.
        """
        if not _REF.match(ref) or ".." in ref or "//" in ref or ref.endswith(("/", ".lock")):
            raise AnchorError(f"{ref[:120]!r} is not the name of a ref", hint="such as refs/heads/tallystick/store")
        if remote.startswith("-") or "::" in remote:
            raise AnchorError(f"{remote[:120]!r} is not a git repository", hint="a URL (https, ssh, file) or a path")
        self.remote, self.ref = remote, ref
        try:
            folder = tempfile.mkdtemp(prefix="tally-anchor-")
        except OSError as error:
            raise AnchorError(f"cannot make a folder for git: {error.strerror}", hint="is the disk full?") from error
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._environment = {
            **environment,
            **dict.fromkeys(_WHO, "tallystick"),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "true",
            "GIT_SSH_COMMAND": environment.get("GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=20"),
            "GIT_DIR": folder,
            "LC_ALL": "C",
        }
        self._git("init", "--quiet", "--bare", "--template=", folder)

    def put(self, note: bytes) -> Kept:
        """Add a head to what the ref holds, and have the server take it, without force.

        Raises: AnchorError: the server cannot be reached, or refuses: perhaps someone else moved the ref.
        """
        tip = self._fetch("--depth=1")
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
        is_shallow = Path(self._environment["GIT_DIR"], "shallow").exists()  # something was put there before
        tip = self._fetch(*(("--unshallow",) if is_shallow else ()))
        if tip is None:
            return []
        listed = self._git("rev-list", "--reverse", "--timestamp", f"--max-count={_MOST_COMMITS}", tip)
        times = {commit: _when(seconds) for seconds, commit in (line.split(b" ", 1) for line in listed.splitlines())}
        files = dict(zip(times, self._files(list(times)), strict=True))
        notes = self._notes(dict.fromkeys(file for file in files.values() if file is not None))
        return [
            Kept(note=notes[file], receipt=commit.decode(), at=times[commit])
            for commit, file in files.items()
            if file is not None and file in notes
        ]

    def refs(self) -> list[str]:
        """The refs of all stores that the repository has, named as usual. Raises AnchorError: it cannot be reached."""
        listed = self._git("ls-remote", self.remote, default_ref("*")).decode("utf-8", "replace")
        refs = [line.partition("\t")[2] for line in listed.splitlines()]
        return [
            ref for ref in refs if ref.startswith(default_ref("")) and not ref.endswith("-probe") and _REF.match(ref)
        ]

    def _files(self, commits: Sequence[bytes]) -> Iterator[bytes | None]:
        """The blob that each commit has as its head; None: it has none, or one that is too large to be a head."""
        asked = b"".join(b"%s:%s\n" % (commit, _FILE.encode()) for commit in commits)
        for line in self._git("cat-file", "--batch-check", data=asked).splitlines():
            name, _, kind = line.partition(b" ")
            kind, _, size = kind.partition(b" ")
            if kind == b"blob" and int(size) <= _MOST_HEAD:
                yield name
            else:
                yield None

    def _notes(self, files: Mapping[bytes, None]) -> dict[bytes, bytes]:
        """The heads among some blobs, each read once however many commits have it."""
        found, total = dict[bytes, bytes](), 0
        names = list(files)
        for first in range(0, len(names), 1_000):
            some = self._git(
                "cat-file", "--batch", data=b"".join(b"%s\n" % name for name in names[first : first + 1_000])
            )
            total += len(some)
            if total > _MOST_HEADS:
                raise AnchorError(
                    f"{self.remote} holds more than heads: {total} bytes", hint="who else may push there?"
                )
            at = 0
            while at < len(some):
                end = some.index(b"\n", at)
                name, _, size = some[at:end].split(b" ")
                note, at = some[end + 1 : end + 1 + int(size)], end + int(size) + 2
                if _is_head(note):
                    found[name] = note
        return found

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
            says=f"the server allows {' and '.join(allowed)}: anyone who may push can delete heads "
            "(receive.denyNonFastForwards and receive.denyDeletes guard refs/heads; a host has rules for "
            "branches)",
        )

    # git --------------------------------------------------------------------------------------------------------------

    def _tip(self, ref: str) -> str | None:
        for line in self._git("ls-remote", self.remote, ref).splitlines():
            commit, _, name = line.partition(b"\t")
            if name == ref.encode() and _COMMIT.match(commit):  # others that end so are listed, too
                return commit.decode()
        return None

    def _fetch(self, *how: str) -> str | None:
        """Take in what the ref holds; its newest commit, None if not found yet."""
        if self._tip(self.ref) is None:
            return None
        words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", *how)
        self._git(*words, self.remote, f"+{self.ref}:{self.ref}")
        return self._git("rev-parse", "--verify", f"{self.ref}^{{commit}}").decode().strip()

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
            raise AnchorError(f"cannot run git: {error.strerror}", hint="install git") from error
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip()[-500:]
            raise AnchorError(f"git {words[0]} with {self.remote}: {said or f'exit {done.returncode}'}")
        return done.stdout


def _when(seconds: bytes) -> str | None:
    """When a commit says that it was made; None: at no time that there is."""
    try:
        return f"{datetime.fromtimestamp(int(seconds), UTC):%Y-%m-%dT%H:%M:%S}.000000Z"
    except (ValueError, OverflowError, OSError):
        return None


def _is_head(data: bytes) -> bool:
    try:
        parse_note(data)
    except FormatError:
        return False
    return True
