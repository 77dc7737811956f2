"""Agents: what each one's files say, as steps. One file an agent, pure functions over bytes.

Owns the list of agents and the two Protocols every one of them satisfies. Nothing here opens a file: `capture` finds and
reads them, `ingest.import_` records what the readers yield. Identity rules: docs/format.md 13.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Protocol, cast

import msgspec

from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event

__all__ = ["blind_spots", "definition", "git_ai", "headless", "hooks", "kit", "protocols", "recognition", "settings"]


class Shape(enum.StrEnum):
    """How a file of the agent is handed to its reader."""

    LINES = "lines"
    """One call of `feed` for each line, without its line end; memory does not grow with the file."""
    DOCUMENT = "document"
    """One call of `feed` with the whole file."""
    SQLITE = "sqlite"
    """One call of `feed` for each row, as the JSON text `{"table": name, "row": {column: value}}`: the tables of
    `tables()`, in that order, each in its own order. Bytes columns come as `{"base64": text}`."""


class SourceFile(msgspec.Struct, frozen=True):
    """What a reader may know of its file: its path as text (never opened), and the files beside it that it asked for."""

    path: str
    companions: Mapping[str, bytes] = {}
    """By the pattern that `COMPANIONS` names; only those that exist. A name in place of the `*` of one that ends in it asks
    for that file, which is read then."""


class Reader(Protocol):
    """Turns the lines of one file into events, in order. Keeps state between calls; never raises for bad input."""

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events that `data`, which begins at byte `offset` (a row's ordinal for SQLite), lets us know."""
        ...

    def finish(self) -> Iterator[Event]:
        """The events held back until the end of the file is known."""
        ...


class Adapter(Protocol):
    """One agent's history files."""

    NAME: str
    """The agent's name everywhere: `claude-code`, `gptme`…"""
    SHAPE: Shape
    GLOBAL_IDS: bool
    """Whether a `source_id` names the same event in every session of the agent (docs/format.md 13.2)."""
    COMPANIONS: tuple[str, ...]
    """Files beside a source that its reader wants, with `{stem}` for the source's name without its last ending; `*` at the
    end stands for any name in that folder."""

    def locate(self) -> tuple[str, ...]:
        """Globs below the home folder that match this agent's history files."""
        ...

    def recognises(self, path: str, head: bytes) -> int:
        """How surely a file with this path and these first bytes (up to 64 KiB) is one of this agent's.

        0: it is not. Else how many of the members that make out the agent's format were seen, and `IN_ITS_PLACE` more for
        a name or folder that only this agent uses: the adapter that says most is given the file (recognition.py).
        """
        ...

    def reader(self, file: SourceFile) -> Reader:
        """A reader for one file."""
        ...


NAMES: tuple[str, ...] = tuple(
    f"{name.replace('-', '_')}.{reader}" for name, facts in AGENTS.items() for reader in facts.readers
)
"""The modules of this package that are adapters: those that the catalogue names as readers."""


def adapters() -> dict[str, Adapter]:
    """Our adapters by name. Those of other packages are `ingest.adapters`' to find."""
    found: dict[str, Adapter] = {}
    for module in NAMES:
        adapter = cast("Adapter", import_module(f"tallystick.agents.{module}"))
        found[adapter.NAME] = adapter
    return found
