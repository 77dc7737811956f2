"""Reading a file of the headless agent's session log, in either of its forms, whatever state it is in.

Owns the way from bytes to records: the lines that are whole, the tail that is not. What records mean together is
sessions/session_reading.py's. Source: specs/headless_agent.md 2.2 to 2.5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from tallystick.agents.headless import transcript as headless
from tallystick.errors import FormatError, NotFoundError, SourceError
from tallystick.exports.headless import line
from tallystick.journal.lines import LineFile
from tallystick.model.step import Json
from tallystick.sessions.session_log import Event, event_from
from tallystick.sessions.session_reading import Assembly, ReadLog

LONGEST_LINE = 64 << 20
"""Bytes. A longer line is told of and not read."""
LARGEST_DOCUMENT = 512 << 20
_SNIFFED_BYTES = 256
_HEADER = ("id", "workflow_name", "inputs", "created_at")
"""Members of a document that a header has; the others are a footer's."""


def detect_format(path: str | Path) -> Literal["jsonl", "json"]:
    """Which form of the log a file has, by the agent's own rules: its name decides, else its first 256 bytes.

    Raises:
        FormatError: the name says nothing and the file is empty. SourceError: it has to be opened and cannot be.
    """
    name = str(path)
    if name.endswith((".jsonl", ".json")):
        return headless.detect_format(name, b"")
    try:
        with Path(path).open("rb") as file:
            return headless.detect_format(name, file.read(_SNIFFED_BYTES))
    except OSError as error:
        raise _unreadable(Path(path), error) from error


def read_log(path: str | Path) -> ReadLog:
    """What a file holds: header, events in order, the footer that counts, and what was wrong with it.

    Raises: NotFoundError: there is no such file. SourceError: it cannot be read. FormatError: an older document that is
    not a JSON object, or one without a name and empty.
    """
    path = Path(path)
    try:
        if detect_format(path) == "json":
            return _read_document(path)
        return _read_lines(path)
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> NotFoundError | SourceError:
    if isinstance(error, FileNotFoundError):
        return NotFoundError(f"{path} does not exist")
    return SourceError(f"cannot read {path}: {error.strerror or error}")


def record_in(text: bytes) -> dict[str, Json] | None:
    """The object that a line holds; None if it holds none. Bytes that are not UTF-8 are read as the agent's reader does."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        try:
            value = json.loads(text.decode("utf-8", "replace"))  # lone surrogates, for example
        except (ValueError, RecursionError):
            return None
    if isinstance(value, dict):
        return value
    return None


def read_back(members: Mapping[str, Json]) -> Event | None:
    """An event as it will be read from what is written: numbers are numbers, what JSON cannot hold is text."""
    return event_from(record_in(line(members)) or {})


def _read_lines(path: Path) -> ReadLog:
    assembly = Assembly()
    lines = LineFile(path, limit=LONGEST_LINE)
    offset = 0
    for text in lines:
        _take_line(assembly, text, offset)
        offset = lines.end
    if lines.torn:
        _take_tail(assembly, path, lines.end, lines.torn)
    return assembly.finish()


def _take_line(assembly: Assembly, text: bytes, offset: int) -> None:
    if not text.strip():
        return
    record = None
    if len(text) <= LONGEST_LINE:
        record = record_in(text)
    if record is None:
        too_long = ""
        if len(text) > LONGEST_LINE:
            too_long = f", longer than {LONGEST_LINE >> 20} MB"
        assembly.note("bad_line", f"no JSON object{too_long}", offset)
    else:
        assembly.take(record, offset)


def _take_tail(assembly: Assembly, path: Path, offset: int, size: int) -> None:
    """What follows the last end of line: a whole record that only lacks its own, else half of one."""
    record = record_in(read_tail(path, offset, size))
    if record is None:
        assembly.note("torn_tail", f"the last {size} bytes are half a line", offset)
    else:
        assembly.take(record, offset)


def read_tail(path: Path, offset: int, size: int) -> bytes:
    """The bytes from an offset on, as far as a line may reach."""
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(min(size, LONGEST_LINE + 1))


def _read_document(path: Path) -> ReadLog:
    size = path.stat().st_size
    if size > LARGEST_DOCUMENT:
        raise SourceError(f"{path} has {size >> 20} MB; the limit is {LARGEST_DOCUMENT >> 20} MB")
    document = record_in(path.read_bytes())
    if document is None:
        raise FormatError(f"{path} is not a JSON object", hint="an older session file is one JSON document")
    assembly = Assembly()
    assembly.take({**{key: value for key, value in document.items() if key.lower() in _HEADER}, "_type": "header"}, 0)
    events = next((value for key, value in document.items() if key.lower() == "events"), None)
    for number, event in enumerate(events if isinstance(events, list) else ()):
        if isinstance(event, dict):
            assembly.take({**event, "_type": "event"}, number)
        else:
            assembly.note("unknown_record", f"events[{number}] is not an object", 0)
    footer = {key: value for key, value in document.items() if key.lower() not in (*_HEADER, "events")}
    assembly.take({**footer, "_type": "footer"}, 0)
    return assembly.finish()
