"""From the catalogue's files to frozen, typed values.

Owns reading: the compiled file where it is current, otherwise the TOML files, from which it is then compiled again. Must
not know any schema: whoever reads a file brings the schema of its entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, overload

import msgspec

from tallystick.catalog import compiling
from tallystick.errors import FormatError

T = TypeVar("T")


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The base of every schema: its members are named, and an unknown member is an error.

    A schema is written `class Agent(Entry, frozen=True): ...`; mypy wants the word repeated. Its module does without `from
    __future__ import annotations`: types that are texts are compiled one by one at each start.
    """


class Catalogue:
    """The files of one folder, read once."""

    def __init__(self, folder: Path = compiling.FOLDER) -> None:
        """Read the compiled file if it was made from the TOML files as they are now; otherwise compile them.

        Raises:
            FormatError: a TOML file cannot be read; the message names it.
        """
        files = compiling.sources(folder)
        self.digest = compiling.digest_of(files)
        body = compiling.stored(folder, self.digest)
        if body is None:
            body = _rebuilt(folder, files)
        self._tables = msgspec.json.decode(body, type=dict[str, msgspec.Raw])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all files, sorted, without their ending: `agents/codex`."""
        return tuple(self._tables)

    def load(self, name: str, schema: Any) -> Any:
        """One file, as a schema has it.

        Raises:
            FormatError: the file does not exist, or a member is unknown, missing or of another type; the message names both.
        """
        table = self._tables.get(name)
        if table is None:
            raise FormatError(f"catalog/{name}.toml: no such file")
        try:
            return msgspec.json.decode(table, type=schema)
        except msgspec.ValidationError as error:
            raise FormatError(f"catalog/{name}.toml: {error}") from error

    def load_folder(self, folder: str, schema: Any) -> Mapping[str, Any]:
        """Every file of a folder, as a schema has it, by its name without folder and ending; sorted."""
        prefix = f"{folder}/"
        return MappingProxyType(
            {
                name.removeprefix(prefix): self.load(name, schema)
                for name in self._tables
                if name.startswith(prefix) and "/" not in name.removeprefix(prefix)
            }
        )


_ours: Catalogue | None = None


def _catalogue() -> Catalogue:
    """The package's own files. Two threads may both read them; they find the same."""
    global _ours
    if _ours is None:
        _ours = Catalogue()
    return _ours


@overload
def load(name: str, schema: type[T]) -> T: ...
@overload
def load(name: str, schema: Any) -> Any: ...
def load(name: str, schema: Any) -> Any:
    """One file of the catalogue (`"kinds/homes"`, without `.toml`) as a schema has it: a Struct, or `dict[str, Struct]`.

    Each call decodes: keep what it returns in a module's constant or behind a cache.

    Raises:
        FormatError: the file does not exist, or a member is unknown, missing or of another type; the message names both.
    """
    return _catalogue().load(name, schema)


def load_folder(folder: str, schema: type[T]) -> Mapping[str, T]:
    """Every file of a folder of the catalogue (`"agents"`) as a schema has it, by its name without `.toml`; sorted.

    Raises:
        FormatError: as for `load`.
    """
    return _catalogue().load_folder(folder, schema)


def names() -> tuple[str, ...]:
    """The names of all files of the catalogue, sorted, without their ending: `agents/codex`."""
    return _catalogue().names


def digest() -> str:
    """The SHA-256 of the whole catalogue, in hexadecimal digits: it changes with the content of any file."""
    return _catalogue().digest


def _rebuilt(folder: Path, files: Mapping[str, bytes]) -> bytes:
    try:
        content = compiling.compiled(files)
    except ValueError as error:
        raise FormatError(str(error)) from error
    with suppress(OSError):  # a read-only installation: it is compiled at each start
        compiling.store(content, folder)
    return content.partition(b"\n")[2]


def inverted(table: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """From what is listed to the name that it is listed under."""
    return {each: name for name, listed in table.items() for each in listed}
