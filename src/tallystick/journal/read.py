"""Reading recorded steps back.

Owns turning lines into Recorded values, quickly and without verifying: what was tagged to be sealed is read as it was said.
Anyone who reports on integrity asks trust.verify.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import orjson

from tallystick.errors import FormatError, JournalError
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.opening import read_whole
from tallystick.model.raw import Raw
from tallystick.model.recorded import OddlyRecorded, Recorded
from tallystick.seal.limits import BLOB_BYTES
from tallystick.seal.line import BlobRef, Entry, hash_of
from tallystick.seal.tagged import ESCAPED_MARK, said


class _Line(msgspec.Struct, frozen=True):
    entry: Entry
    blobs: dict[str, BlobRef] = {}
    fields: dict[str, Any] = {}
    withheld: dict[str, str] = {}


_DECODER = msgspec.json.Decoder(_Line)


class Placed(msgspec.Struct, frozen=True):
    """A step and where its line lies in the file: bytes `offset` to `end`, its LF included."""

    step: Recorded
    offset: int
    end: int


def read_line(home: Home, text: bytes, *, load_blobs: bool = False, largest: int = BLOB_BYTES) -> Recorded:
    """One line as a step. Of blobs, if they are loaded at all, those up to `largest` bytes.

    Raises: FormatError: it is not a line of ours.
    """
    try:
        line = _DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"not a journal line: {error}") from error
    values: dict[str, Raw] = {name: value for name, value in line.fields.items() if name != "meta"}
    kind = Recorded
    if ESCAPED_MARK in text:
        kind, values = OddlyRecorded, {name: said(value) for name, value in values.items()}
    raw: dict[str, bytes] = {}
    unloaded: dict[str, int] = {}
    for name, ref in line.blobs.items():
        data = None
        if load_blobs and ref.size <= largest:
            data = _blob(home, ref)
        if data is None:
            unloaded[name] = ref.size
        elif ref.kind == "raw":
            raw[name] = data
        else:
            values[name] = orjson.loads(data)
            if ESCAPED_MARK in data:
                kind, values[name] = OddlyRecorded, said(values[name])
    meta = line.fields.get("meta", {})
    entry = line.entry
    return kind(
        session=entry.sid,
        n=entry.n,
        hash=hash_of(entry).hex(),
        prev=entry.prev,
        parents=entry.parents,
        meta=meta if isinstance(meta, dict) else {},
        values=values,
        raw=raw,
        unloaded=unloaded,
        withheld=tuple(sorted(line.withheld)),
    )


def _blob(home: Home, ref: BlobRef) -> bytes | None:
    try:
        return read_whole(home.blob(ref.commitment))
    except OSError:
        return None


def read_file(
    home: Home, path: Path, *, start: int = 0, load_blobs: bool = False, largest: int = BLOB_BYTES
) -> Iterator[Placed]:
    """The steps of a journal file from byte `start` on, which begins a line. Bytes after the last LF are not read.

    Raises:
        FormatError: a line is none of ours; the message says which.
        JournalError: the file cannot be read.
    """
    lines = LineFile(path, start=start)
    offset = start
    try:
        for text in lines:
            try:
                step = read_line(home, text, load_blobs=load_blobs, largest=largest)
            except FormatError as error:
                raise FormatError(f"{path} at byte {offset}: {error}", hint="run `tally verify`") from error
            yield Placed(step, offset, lines.end)
            offset = lines.end
    except OSError as error:
        raise JournalError(f"cannot read {path}: {error.strerror}") from error


def read_session(home: Home, sid: str, *, load_blobs: bool = False) -> Iterator[Recorded]:
    """The steps of a session, in order.

    Raises:
        JournalError: there is no such journal, or it cannot be read.
    """
    path = home.journal(sid)
    if path is None:
        raise JournalError(f"no journal of session {sid}", hint="`tally session list` lists the sessions")
    for placed in read_file(home, path, load_blobs=load_blobs):
        yield placed.step


def read_at(
    home: Home, path: Path, offset: int, *, load_blobs: bool = False, largest: int = BLOB_BYTES
) -> Recorded | None:
    """The step whose line begins at byte `offset`; None if no line of ours begins there."""
    try:
        text = next(iter(LineFile(path, start=offset)), None)
        if text is None:
            return None
        return read_line(home, text, load_blobs=load_blobs, largest=largest)
    except (FormatError, OSError):
        return None
