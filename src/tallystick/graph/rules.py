"""Which rules the rows of the index follow, and the states of sessions: a digest over everything that each depends on.

Owns finding that: the modules that making them reaches, the data files beside them, the versions of the grammars and of
Python. Opens files of this package only, and runs while a wheel is built, so it needs only the standard library. Must not
know what a rule says.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, TypeAlias

PACKAGE = Path(__file__).parents[1]
_FOLDER = Path(__file__).parent.name


class Subject(NamedTuple):
    """Something that is made of journals, and follows rules."""

    roots: tuple[str, ...]
    """The modules from which everything is reached that makes it."""
    stored: str
    """The file below the package that keeps the digest."""


ROWS = Subject(("tallystick.workspace.indexing",), f"{_FOLDER}/rules.json")
"""The rows of the index."""
STATES = Subject(("tallystick.guard.decide",), f"{_FOLDER}/state_rules.json")
"""The states of sessions, by which their calls are judged."""
GRAMMARS = ("tree_sitter", "tree_sitter_bash")
"""Packages that read what agents write; another version may read it in another way."""

_DATA = (".sql", ".toml")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([\w.]+))", re.MULTILINE
)
_ONLY_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+[^\n]*\n|\n)+", re.MULTILINE)
_NOT_A_NAME = re.compile(r"#[^\n]*|\bas\s+\w+")
_DIGITS = 16

Stamp: TypeAlias = list[int]
"""Size, time of change and time of the last write to the inode: what says, without reading it, that a file is the same."""


@cache
def current(subject: Subject = ROWS) -> str:
    """The digest of the rules of this program, the same as long as the process runs."""
    seen = hashlib.sha256(_of_files(PACKAGE, subject).encode())
    seen.update(repr((sys.version_info[:2], [_version(name) for name in GRAMMARS])).encode())
    return seen.hexdigest()[:_DIGITS]


def _version(package: str) -> str:
    """The version of an installed package by the name of its folder of metadata: importlib.metadata takes 20 ms to load."""
    found = find_spec(package)
    if found is None or found.origin is None:
        return ""
    beside = os.listdir(os.path.dirname(os.path.dirname(found.origin)))  # noqa: PTH208, PTH120 at each start, see above
    return " ".join(sorted(name for name in beside if name.startswith(f"{package}-") and name.endswith(".dist-info")))


def _of_files(package: Path, subject: Subject) -> str:
    """The digest of the files, from where it was stored if none of them has changed; else it is made, and stored."""
    digest = stored(package, subject)
    if digest is None:
        digest, stamps = computed(package, subject)
        with suppress(OSError):  # a read-only installation: it is computed at each start
            store(digest, stamps, package, subject)
    return digest


def stored(package: Path, subject: Subject = ROWS) -> str | None:
    """The digest that is stored in a package; None if it is missing or of other files.

    A build stores it without stamps: the files of an installed package do not change.
    """
    try:
        found = json.loads((package / subject.stored).read_bytes())
        digest, stamps = str(found["digest"]), found["stamps"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if stamps is None:
        return digest
    folders = {name.rpartition("/")[0] for name in stamps}
    data = {name for name in stamps if name.endswith(_DATA)}
    try:
        is_same = all(_stamp(f"{package}/{name}") == stamp for name, stamp in stamps.items())
        if is_same and data == set(_data_of(package, folders)):
            return digest
        return None
    except OSError:
        return None


def computed(package: Path, subject: Subject = ROWS) -> tuple[str, dict[str, Stamp]]:
    """The digest of the names and contents of all files that something depends on, and the stamp of each.

    Raises:
        OSError: a file cannot be read.
    """
    modules = _modules(package)
    names = {modules[module] for module in reached(package, subject)}
    names.update(_data_of(package, {name.rpartition("/")[0] for name in names}))
    hashed = hashlib.sha256()
    stamps: dict[str, Stamp] = {}
    for name in sorted(names):
        stamps[name] = _stamp(f"{package}/{name}")  # before it is read: a later change then shows
        content = (package / name).read_bytes()
        hashed.update(f"{len(name)} {name} {len(content)}\n".encode())
        hashed.update(content)
    return hashed.hexdigest(), stamps


def reached(package: Path, subject: Subject = ROWS) -> set[str]:
    """The modules of a package that the roots import, and those that these import, wherever in their text it stands."""
    modules = _modules(package)
    pending, found = [root for root in subject.roots if root in modules], set[str]()
    while pending:
        module = pending.pop()
        if module in modules and module not in found:
            found.add(module)
            pending.append(module.rpartition(".")[0])  # importing a module runs the package that it is in
            pending += imports((package / modules[module]).read_text("utf-8"))
    return found


def imports(text: str) -> Iterator[str]:
    """What a text may import when it runs: of `from a import b` both `a` and `a.b`, which may be no module."""
    for source, names, whole in _IMPORT.findall(_ONLY_TYPES.sub("", text)):
        yield source or whole
        yield from (f"{source}.{name}" for name in re.findall(r"\w+", _NOT_A_NAME.sub("", names)))


def store(digest: str, stamps: dict[str, Stamp] | None, package: Path, subject: Subject = ROWS) -> None:
    """Keep a digest in a package, whole or not at all: other processes may read or write it meanwhile.

    Raises:
        OSError: the folder cannot be written to.
    """
    import tempfile

    place = package / subject.stored
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"digest": digest, "stamps": stamps}, file)
        temporary.chmod(0o644)  # mkstemp's 0600 would hide it from the other users of an installation
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _modules(package: Path) -> dict[str, str]:
    """Every module of a package: its name and its file, below the package."""
    found: dict[str, str] = {}
    for parent, _, files in os.walk(package):
        folder = Path(parent).relative_to(package).as_posix()
        prefix = ""
        if folder != ".":
            prefix = f"{folder}/"
        for file in files:
            if file.endswith(".py"):
                name = f"{package.name}/{prefix}{file}".removesuffix(".py").removesuffix("/__init__")
                found[name.replace("/", ".")] = prefix + file
    return found


def _data_of(package: Path, folders: set[str]) -> Iterator[str]:
    """The data files in the folders of some modules, and in folders below them that are not packages."""
    pending = [folder for folder in folders if folder]
    while pending:
        folder = pending.pop()
        for entry in os.scandir(f"{package}/{folder}"):
            name = f"{folder}/{entry.name}"
            if name.endswith(_DATA):
                yield name
            elif "." not in name and entry.name != "__pycache__" and entry.is_dir():
                is_package = os.path.exists(f"{entry.path}/__init__.py")  # noqa: PTH110
                if is_package:
                    pending += ()
                else:
                    pending += (name,)


def _stamp(path: str) -> Stamp:
    status = os.stat(path)  # noqa: PTH116 of 250 files at each start
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]
