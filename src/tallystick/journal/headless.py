"""The session-log file store: sessions of the headless agent's format, one file each, written so that nothing is lost.

Owns a folder of such files: which file has a session, what is written when, and that what is in a file already is never
written again. Lines, locks and reading are headless_file.py's.
Source: specs/headless_agent.md 2, without what it says of lost errors, torn files, second writers and hangs (2.3 to 2.7).
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import msgspec

from tallystick.errors import JournalError, NotFoundError, UsageError
from tallystick.journal.durable import sync_folder
from tallystick.journal.headless_file import LogFile, read_back, read_log
from tallystick.journal.headless_reader import FileReader
from tallystick.journal.home import FOLDER_MODE
from tallystick.journal.opening import open_to_read
from tallystick.model.step import Json
from tallystick.scrubbing.members import scrub_members
from tallystick.seal.go_json import sorted_keys
from tallystick.sessions.session_changes import changes
from tallystick.sessions.session_log import (
    Event,
    JSONLRecord,
    Log,
    event_record,
    footer_record,
    header_record,
    safe_members,
)
from tallystick.sessions.session_reading import ReadLog
from tallystick.sessions.session_words import EventType, Status

_log = logging.getLogger("tallystick")
_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}\Z")
_ENDS = (".jsonl", ".json")
_MOST_OPEN = 64
_MAPS = ("args", "inputs", "outputs", "state")
_TEXT_MAPS = ("inputs", "outputs")


class FileStore:
    """Sessions as files of a folder. Safe to use from several threads, and several processes may use one folder."""

    def __init__(self, folder: str | Path) -> None:
        """Use the files in `folder`; it is made if it is not there, for this user only.

        Raises:
            JournalError: it cannot be made.
        """
        self.folder = Path(folder)
        self._files: OrderedDict[str, LogFile] = OrderedDict()
        self._names: dict[str, str] = {}
        self._process, self._lock = os.getpid(), threading.RLock()
        try:
            self.folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        except OSError as error:
            raise JournalError(f"cannot make the folder {self.folder}: {error.strerror or error}") from error

    # Whole sessions -------------------------------------------------------------------------------------------------

    def load(self, session: str) -> Log:
        """The session as its file has it; what is wrong with the file is said in the log of the program (read_log tells it).

        A file that was renamed is still the session that its header names, unless another file has that name.

        Raises:
            NotFoundError: no file has it. FormatError, SourceError: what `read_log` raises.
        """
        return self._told(session, read_log(self._existing(session), opener=open_to_read))

    def sessions(self) -> list[str]:
        """The ids of the sessions in the folder, as the names of their files say them.

        Raises:
            JournalError: the folder cannot be read.
        """
        try:
            names = [path.stem for path in self.folder.iterdir() if path.suffix in _ENDS]
        except OSError as error:
            raise JournalError(f"cannot read the folder {self.folder}: {error.strerror or error}") from error
        return sorted({name for name in names if _ID.match(name)})

    def reader(self, session: str) -> FileReader:
        """What reads a session as it grows. Raises NotFoundError: no file has it."""
        self._existing(session)
        return FileReader(partial(self._existing, session), partial(self._told, session))

    def _told(self, session: str, found: ReadLog) -> Log:
        """The session in a file under the id that it has here; what is wrong with the file is said."""
        _warn(session, found)
        log = found.as_log(session)
        if log.id == session:
            return log
        if self._is_file(log.id):
            return msgspec.structs.replace(log, id=session)
        self._names[log.id] = session
        return log

    def _is_file(self, session: str) -> bool:
        """Whether a file is called like a session."""
        return bool(_ID.match(session)) and any((self.folder / f"{session}{end}").exists() for end in _ENDS)

    def save(self, log: Log) -> None:
        """Write what is not in the file yet: the header, events, and a footer that says how the session stands.

        An event without a number has the next one. One whose number a different event has in the file gets a new one.

        Raises:
            JournalError: it cannot be written.
        """
        self.create(log, footed=False)
        file = self._file(log.id)
        with file.locked():
            events = _numbered(log.events)
            if any(event.seq <= file.last_seq for event in events):
                there = self._there(log.id)
            else:
                there = {}
            for event in events:
                members = scrub_members(safe_members(event))
                if not _is_among(there.get(event.seq, []), members):
                    self._append(file, members, event.seq if event.seq > file.last_seq else file.last_seq + 1)
            self._write_state(file, log)
            file.sync()

    def _there(self, session: str) -> dict[int, list[Event]]:
        found: dict[int, list[Event]] = {}
        for event in read_log(self._path(session)).events:
            found.setdefault(event.seq, []).append(event)
        return found

    # One thing after the other --------------------------------------------------------------------------------------

    def create(self, log: Log, *, footed: bool = True) -> None:
        """Begin a session's file with its header and, as the agent does, a footer; nothing if it has one.

        Raises: JournalError: it cannot be written. UsageError: its id is not a name of a file.
        """
        file = LogFile(self._path(log.id))
        if not file.make():
            return
        with file.locked():
            file.append(_spelled(header_record(log)))
            if footed:
                file.append(_spelled(footer_record(log)))
            file.sync()
        file.release()
        sync_folder(self.folder)

    def append(self, session: str, members: Mapping[str, Json]) -> int:
        """Write an event with the next number, which is returned. It survives the process; `sync` makes it survive more.

        Raises:
            JournalError: it cannot be written: nothing of it was. FormatError: it is too large.
        """
        file = self._file(session)
        with file.locked():
            self._append(file, members, file.last_seq + 1)
            return file.last_seq

    def _append(self, file: LogFile, members: Mapping[str, Json], seq: int) -> None:
        clean = scrub_members({**members, "seq": seq})
        file.append(_spelled(event_record(clean)))

    def note_gap(self, session: str, *, events: int, reason: str, timestamp: str) -> None:
        """Say in the file that events could not be written."""
        text = f"{events} events were not recorded: {reason}"
        self.append(session, safe_members(Event(type=EventType.WARNING, timestamp=timestamp, content=text)))

    def update(self, log: Log, *, since: Log | None = None) -> None:
        """Write how a session stands, durably: what differs from `since`, else all of it.

        Raises:
            JournalError: it cannot be written.
        """
        file = self._file(log.id)
        with file.locked():
            if since is not None:
                kept = msgspec.structs.replace(_standing(file), id=log.id, updated_at=log.updated_at)
                log = changes(since, log).apply(kept)
            self._write_state(file, log)
            file.sync()

    def _write_state(self, file: LogFile, log: Log) -> None:
        header = _spelled(header_record(log))
        if log.inputs and (file.header is None or dict(file.header.inputs) != header["inputs"]):
            file.append(header)
        file.append(_spelled(footer_record(log)))

    def sync(self, session: str, *, updated_at: str) -> None:
        """Make what was written durable, and repeat the last footer behind it, so that the file is whole to any reader.

        Raises:
            JournalError: it cannot be made durable.
        """
        file = self._file(session)
        with file.locked():
            if not file.is_footed:
                state = msgspec.structs.replace(_standing(file), updated_at=updated_at)
                file.append(_spelled(footer_record(state)))
            file.sync()

    def settle(self) -> None:
        """Make everything durable that was written to the files that are open here. What fails, `sync` raises."""
        with self._opening:
            files = list(self._files.values())
        for file in files:
            file.settle()

    def release(self, session: str) -> None:
        """Close a session's file; it is opened again when needed."""
        with self._opening:
            file = self._files.pop(session, None)
        if file is not None:
            file.release()

    def last_seq(self, session: str) -> int:
        """The highest number of a session's events so far."""
        file = self._file(session)
        with file.locked():
            return file.last_seq

    def clean(self, members: Mapping[str, Json]) -> Mapping[str, Json]:
        """An event as it is written: with markers in the places of secrets."""
        return scrub_members(members)

    def close(self) -> None:
        """Close the files; they are opened again when needed."""
        with self._opening:
            for file in self._files.values():
                file.release()
            self._files.clear()

    # Files ----------------------------------------------------------------------------------------------------------

    @property
    def _opening(self) -> threading.RLock:
        """Held while files are opened and closed: in a forked child a new one, since no one there may let go of the old."""
        if self._process != os.getpid():
            self._process, self._lock = os.getpid(), threading.RLock()
        return self._lock

    def _path(self, session: str) -> Path:
        if self._is_file(session):
            name = session
        else:
            name = self._names.get(session, session)
        if not _ID.match(name):
            raise UsageError(
                f"{session[:80]!r} cannot be the id of a session file",
                hint="letters, digits, `.`, `_` and `-`",
            )
        return self.folder / f"{name}.jsonl"

    def _existing(self, session: str) -> Path:
        path = self._path(session)
        older = path.with_suffix(".json")
        if path.exists() or not older.exists():
            if not path.exists():
                raise NotFoundError(f"no session {session} in {self.folder}")
            return path
        return older

    def _file(self, session: str) -> LogFile:
        """The file of a session, to append to. An older document is written again as lines, and stays as it is."""
        with self._opening:
            file = self._files.pop(session, None)
            if file is None:
                path = self._existing(session)
                if path.suffix == ".json":
                    self.save(self.load(session))
                file = LogFile(self._path(session))
            self._files[session] = file
            if len(self._files) > _MOST_OPEN:
                self._files.popitem(last=False)[1].release()
            return file


def _spelled(record: dict[str, Json]) -> dict[str, Json]:
    """A record whose maps are as the agent's writer has them: keys sorted, and text alone where its reader takes no other."""
    found = {key: sorted_keys(value) if key in _MAPS else value for key, value in record.items()}
    found |= {key: _texts(found[key]) for key in _TEXT_MAPS if key in found}
    meta = found.get("meta")
    inputs = None
    if isinstance(meta, dict):
        inputs = meta.get("subagent_inputs")
    if not isinstance(meta, dict) or not isinstance(inputs, dict) or not inputs:
        return found
    return {**found, "meta": {**meta, "subagent_inputs": _texts(sorted_keys(inputs))}}


def _texts(values: dict[str, Json]) -> dict[str, Json]:
    return {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for key, value in values.items()
    }


def _is_among(events: list[Event], members: Mapping[str, Json]) -> bool:
    """Whether one of the events is what would be read if these members were written."""
    return bool(events) and read_back(_spelled(event_record(members))) in events


def _numbered(events: Iterable[Event]) -> list[Event]:
    """The events, each with a number: the one after the event before it where it has none."""
    numbered: list[Event] = []
    for event in events:
        before = 0
        if numbered:
            before = numbered[-1].seq
        if event.seq > 0:
            numbered.append(event)
        else:
            numbered.append(msgspec.structs.replace(event, seq=before + 1))
    return numbered


def _standing(file: LogFile) -> Log:
    """How a session stands, as the last header and the last footer of its file say it."""
    header, footer = file.header or JSONLRecord(record_type="header"), file.footer
    log = Log(workflow_name=header.workflow_name, inputs=header.inputs, created_at=header.created_at)
    if footer is None:
        return msgspec.structs.replace(log, status=Status.RUNNING)
    names = ("status", "result", "error", "outputs", "state")
    return msgspec.structs.replace(log, **{name: getattr(footer, name) for name in names})


def _warn(session: str, found: ReadLog) -> None:
    """Say in the log of the program what is wrong with a session's file."""
    if found.problems:
        first, count = found.problems[0], len(found.problems)
        problems = "a problem"
        if count != 1:
            problems = f"{count} problems"
        _log.warning("session %s: %s; byte %d: %s", session, problems, first.offset, first.detail)
