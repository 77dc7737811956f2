from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tallystick.anchors.git import GitAnchor, default_ref
from tallystick.anchors.kept import AnchorError
from tallystick.seal.keys import SigningKey
from tallystick.seal.merkle import merkle_root
from tallystick.seal.note import sign_note

STORE = "ab" * 16
KEY = SigningKey(b"\x01" * 32)
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}


def note(size: int, seed: int = 0) -> bytes:
    leaves = [(seed * 1_000_003 + n).to_bytes(32, "big") for n in range(size)]
    return sign_note(STORE, size, merkle_root(leaves), [KEY])


def bare(path: Path, *, guarded: bool) -> Path:
    subprocess.run(["git", "init", "--quiet", "--bare", str(path)], check=True, env=ENVIRONMENT)
    for name in ("receive.denyNonFastForwards", "receive.denyDeletes"):
        subprocess.run(["git", "-C", str(path), "config", name, str(guarded).lower()], check=True, env=ENVIRONMENT)
    return path


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return bare(tmp_path / "remote.git", guarded=True)


def anchor(folder: Path, remote: Path | str) -> GitAnchor:
    return GitAnchor(folder, str(remote), default_ref(STORE), ENVIRONMENT)


def test_heads_are_kept_in_order_with_their_commits(tmp_path: Path, remote: Path) -> None:
    place = anchor(tmp_path / "own", remote)
    assert place.heads() == []
    kept = [place.put(note(size)) for size in (1, 4, 9)]
    assert place.heads() == kept
    assert anchor(tmp_path / "another", remote).heads() == kept


def test_two_who_put_heads_there_do_not_take_away_each_others(tmp_path: Path, remote: Path) -> None:
    one, other = anchor(tmp_path / "one", remote), anchor(tmp_path / "other", remote)
    one.put(note(1))
    other.put(note(2))
    one.put(note(3))
    assert [kept.note for kept in other.heads()] == [note(1), note(2), note(3)]


def test_a_server_that_guards_refs_is_told_from_one_that_does_not(tmp_path: Path, remote: Path) -> None:
    assert anchor(tmp_path / "own", remote).guarded().keeps is True
    found = anchor(tmp_path / "own2", bare(tmp_path / "open.git", guarded=False)).guarded()
    assert found.keeps is False
    assert "rewriting and deleting" in found.says
    assert anchor(tmp_path / "own", remote).guarded().keeps is True  # also the second time


def test_what_is_no_head_of_ours_is_passed_over(tmp_path: Path, remote: Path) -> None:
    place = anchor(tmp_path / "own", remote)
    place.put(note(1))
    git = ["git", "-C", str(remote)]
    tree = subprocess.run([*git, "mktree"], input=b"", check=True, capture_output=True, env=ENVIRONMENT).stdout.strip()
    who = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"), "x")
    words = [*git, "commit-tree", tree.decode(), "-p", default_ref(STORE), "-m", "not ours"]
    commit = subprocess.run(words, check=True, capture_output=True, env={**ENVIRONMENT, **who}).stdout.strip()
    subprocess.run([*git, "update-ref", default_ref(STORE), commit.decode()], check=True, env=ENVIRONMENT)
    assert [kept.note for kept in place.heads()] == [note(1)]
    place.put(note(2))
    assert [kept.note for kept in place.heads()] == [note(1), note(2)]


@pytest.mark.parametrize(
    "remote", ["ext::sh -c touch% /tmp/x", "--upload-pack=touch /tmp/x", "/nonexistent/repository"]
)
def test_what_is_no_repository_is_refused_or_cannot_be_reached(tmp_path: Path, remote: str) -> None:
    with pytest.raises(AnchorError):
        anchor(tmp_path / "own", remote).put(note(1))


@pytest.mark.parametrize("ref", ["", "main", "refs/../x", "refs/a b", "refs/a.lock", "refs//a", "-d"])
def test_what_is_no_ref_is_refused(tmp_path: Path, remote: Path, ref: str) -> None:
    with pytest.raises(AnchorError, match="no name of a ref"):
        GitAnchor(tmp_path / "own", str(remote), ref, ENVIRONMENT)


def test_hooks_of_a_template_do_not_run(tmp_path: Path, remote: Path) -> None:
    template = tmp_path / "template" / "hooks"
    template.mkdir(parents=True)
    hook = template / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    environment = {**ENVIRONMENT, "GIT_TEMPLATE_DIR": str(template.parent)}
    GitAnchor(tmp_path / "own", str(remote), default_ref(STORE), environment).put(note(1))
    assert not (tmp_path / "ran").exists()
