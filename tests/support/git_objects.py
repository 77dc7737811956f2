"""Repositories that tests make object by object: nothing is checked out, and no program runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import pygit2

Files: TypeAlias = Mapping[str, bytes]
_WHO = pygit2.Signature("dev", "dev@example.com", 1_795_300_000, 0)


def empty_repository(folder: Path) -> pygit2.Repository:
    """A bare repository."""
    return pygit2.init_repository(str(folder), bare=True)


def tree_of(repository: pygit2.Repository, files: Files) -> pygit2.Oid:
    """The tree of some files, by their paths."""
    builder = repository.TreeBuilder()
    below: dict[str, dict[str, bytes]] = {}
    for path, data in files.items():
        first, slash, rest = path.partition("/")
        if slash:
            below.setdefault(first, {})[rest] = data
        else:
            builder.insert(first, repository.create_blob(data), pygit2.enums.FileMode.BLOB)
    for name, inner in below.items():
        builder.insert(name, tree_of(repository, inner), pygit2.enums.FileMode.TREE)
    return builder.write()


def commit(repository: pygit2.Repository, reference: str, files: Files) -> pygit2.Oid:
    """A commit of nothing but these files, to which a reference then points."""
    made = repository.create_commit(None, _WHO, _WHO, "files", tree_of(repository, files), [])
    repository.references.create(reference, made, force=True)
    return made
