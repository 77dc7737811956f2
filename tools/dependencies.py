"""What is installed with the program: the lock, what docs/dependencies.toml says of each package, and what is installed here.

Owns reading the three, and the tables of docs/dependencies.md. Must not judge whether a dependency is a good one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import msgspec

_TREE = Path(__file__).parent.parent
_PINNED = re.compile(r"([A-Za-z0-9._-]+)==([^ ]+)")
_COMPILED = (".so", ".dylib", ".pyd")


class Package(msgspec.Struct, frozen=True, rename={"needed_for": "for", "instead": "else", "licence_in": "from"}):
    """What we say of a package."""

    licence: str
    """As an SPDX expression."""
    maintainer: str
    licence_in: str = "metadata"
    """Where the package says so: in its `metadata`, or only in a licence `file`."""
    native: str = ""
    """The language of what is compiled."""
    by: str = ""
    """The package that needs this one; empty: the program does."""
    needed_for: str = ""
    instead: str = ""
    """What would do in its place."""
    only: str = ""


class Told(msgspec.Struct, frozen=True):
    """docs/dependencies.toml."""

    installed_megabytes: float
    packages: dict[str, Package]


class Installed(msgspec.Struct, frozen=True):
    """What is here of a package."""

    licences: tuple[str, ...]
    """What its metadata says, in each of the ways in which they can."""
    is_compiled: bool
    size: int
    """Bytes, without what Python compiles."""


def told() -> Told:
    """What the project says of its dependencies."""
    return msgspec.convert(tomllib.loads((_TREE / "docs" / "dependencies.toml").read_text("utf-8")), Told)


def locked() -> dict[str, str]:
    """The version of each package in the lock; of one that has several, the last."""
    text = (_TREE / "requirements" / "run.lock").read_text("utf-8")
    return {found[1]: found[2] for line in text.splitlines() if (found := _PINNED.match(line))}


def installed(name: str) -> Installed | None:
    """What is installed here under a name, if anything is."""
    try:
        found = distribution(name)
    except PackageNotFoundError:
        return None
    said: Any = found.metadata
    licences = (said.get("License-Expression"), said.get("License"), *(said.get_all("Classifier") or ()))
    paths = [Path(str(found.locate_file(file))) for file in found.files or () if "__pycache__" not in file.parts]
    return Installed(
        licences=tuple(one for one in licences if one and (one is not licences[0] or "::" not in one)),
        is_compiled=any(path.suffix in _COMPILED for path in paths),
        size=sum(path.stat().st_size for path in paths if path.is_file()),
    )


def program_size() -> int:
    """Bytes of the program itself, without what Python compiles."""
    files = (_TREE / "src" / "tallystick").rglob("*")
    return sum(path.stat().st_size for path in files if path.is_file() and "__pycache__" not in path.parts)


def own_table() -> Iterator[str]:
    """The packages that the program itself imports."""
    versions, packages = locked(), told().packages
    yield "| package | for | licence | compiled | maintained by | in its place |"
    yield "|---|---|---|---|---|---|"
    for name, one in packages.items():
        if not one.by:
            yield (
                f"| `{name}` {versions[name]} | {one.needed_for} | {_licence(one)} | {one.native or '-'} "
                f"| {one.maintainer} | {one.instead} |"
            )


def others_table() -> Iterator[str]:
    """The packages that those bring along."""
    versions, packages = locked(), told().packages
    yield "| package | needed by | licence | compiled | maintained by |"
    yield "|---|---|---|---|---|"
    for name, one in packages.items():
        if one.by:
            by = f"`{one.by}`{f', {one.only} only' if one.only else ''}"
            yield f"| `{name}` {versions[name]} | {by} | {_licence(one)} | {one.native or '-'} | {one.maintainer} |"


def _licence(one: Package) -> str:
    if one.licence_in == "file":
        return f"{one.licence} (in its licence file; its metadata names none)"
    return one.licence
