"""The compiled catalogue: all TOML files of the catalogue in one file of JSON, which is read in a tenth of the time.

Owns the form of that file and the digest that says which TOML files it was made from: the name and content of each. Runs
while a wheel is built, so it needs only the standard library. Must not know what an entry means.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

FOLDER = Path(__file__).parent
COMPILED = "compiled.json"
_ENDING = ".toml"


def sources(folder: Path = FOLDER) -> dict[str, bytes]:
    """The TOML files below a folder: name without the ending (`agents/codex`) to content, sorted."""
    found: dict[str, bytes] = {}
    pending = [(str(folder), "")]
    while pending:
        at, prefix = pending.pop()
        with os.scandir(at) as entries:
            for entry in entries:
                stem, dot, ending = entry.name.rpartition(".")
                if f"{dot}{ending}" == _ENDING:
                    with io.FileIO(entry.path) as file:
                        found[prefix + stem] = file.read()
                elif not dot and entry.name[0] != "_" and entry.is_dir():
                    pending.append((entry.path, f"{prefix}{entry.name}/"))
    return dict(sorted(found.items()))


def digest_of(files: Mapping[str, bytes]) -> str:
    """The SHA-256 of the names and contents of some files, in hexadecimal digits."""
    hashed = hashlib.sha256()
    for name, content in files.items():
        hashed.update(f"{len(name)} {name} {len(content)}\n".encode())
        hashed.update(content)
    return hashed.hexdigest()


def parsed(name: str, content: bytes) -> dict[str, object]:
    """The tables of one TOML file.

    Raises:
        ValueError: it is not TOML, or holds a date or time; the message names the file and the place.
    """
    import json  # not at a start that finds the compiled file current
    import tomllib

    try:
        tables = tomllib.loads(content.decode("utf-8"))
        json.dumps(tables, default=_refused, allow_nan=False)
    except ValueError as error:
        raise ValueError(f"catalog/{name}{_ENDING}: {error}") from error
    return tables


def _refused(value: object) -> NoReturn:
    raise ValueError(f"{type(value).__name__} {value} has no place in the catalogue: write it as text")


def compiled(files: Mapping[str, bytes]) -> bytes:
    """The compiled catalogue: its digest on the first line, then one object from the name of each file to its tables."""
    import json

    tables = {name: parsed(name, content) for name, content in files.items()}
    body = json.dumps(tables, ensure_ascii=False, separators=(",", ":"))
    return f"{digest_of(files)}\n{body}\n".encode()


def stored(folder: Path, digest: str) -> bytes | None:
    """The object in the compiled catalogue; None if it is missing, cut short or made from other files."""
    try:
        first, _, body = (folder / COMPILED).read_bytes().partition(b"\n")
    except OSError:
        return None
    return body if first == digest.encode() and body.endswith(b"}\n") else None


def store(content: bytes, folder: Path) -> None:
    """Put a compiled catalogue in its place, whole or not at all: other processes may read or write it meanwhile.

    Raises:
        OSError: the folder cannot be written to.
    """
    import tempfile

    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{COMPILED}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.chmod(0o644)  # mkstemp's 0600 would hide it from the other users of an installation
        temporary.replace(folder / COMPILED)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
