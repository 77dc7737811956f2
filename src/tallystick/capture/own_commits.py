"""Whether what a file holds now is what the user committed last.

Owns that look at a repository, within bounds: it may be hostile. Nothing of it is run. Must not know why someone asks, nor
which commits agents made. Source: the reference of libgit2.
"""

from __future__ import annotations

import posixpath

import msgspec

from tallystick.capture.tracking import repository_of

_MOST_COMMITS = 500


class LastCommit(msgspec.Struct, frozen=True):
    """The commit that gave a file what it holds. `is_own`: its author is the user of this repository, by its settings."""

    digest: str
    is_own: bool


def last_commit(path: str, data: bytes) -> LastCommit | None:
    """The newest commit on this branch that made a file what it is now; None: no such commit is known."""
    root = repository_of(posixpath.dirname(path))
    if root is None:
        return None
    import pygit2

    name = posixpath.relpath(path, root)
    wanted = str(pygit2.hash(data))
    try:
        repository = pygit2.Repository(root)
        if repository.head_is_unborn:
            return None
        commit = repository.head.peel(pygit2.Commit)
        if _blob(commit, name) != wanted:
            return None
        for _ in range(_MOST_COMMITS):
            before = next((parent for parent in commit.parents if _blob(parent, name) == wanted), None)
            if before is None:
                return LastCommit(str(commit.id), commit.author.email == _user(repository))
            commit = before
    except (pygit2.GitError, OSError, ValueError, KeyError):
        pass
    return None


def _blob(commit: object, name: str) -> str | None:
    tree = getattr(commit, "tree", None)
    try:
        return None if tree is None else str(tree[name].id)
    except KeyError:
        return None


def _user(repository: object) -> str | None:
    config = getattr(repository, "config", {})
    if "user.email" in config:
        return str(config["user.email"])
    return None
