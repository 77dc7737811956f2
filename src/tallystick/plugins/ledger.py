"""The hash-chain ledger of agent steps as gptme's developers describe it, for Python programs.

    from tallystick.plugins.ledger import ProvenanceWriter, verify_session

    with ProvenanceWriter("1e23") as ledger:
        ledger.tool_call("shell", "ls", "README.md", duration_ms=312)
    assert verify_session(ledger.path).valid

Owns the writer: each record is a line of a plain ledger and a sealed step that holds the record's hashes. The step is made by
the code that imports ledgers, so a ledger that was written here brings nothing new when it is imported. Formulas are
exports.ledger's.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TypedDict, Unpack

from msgspec.structs import replace

from tallystick.agents import SourceFile
from tallystick.capture.ledger_files import LedgerFolder, append_line, ledger_lines
from tallystick.errors import SourceError
from tallystick.exports.ledger import (
    Chain,
    LedgerVerdict,
    content_hash,
    line_of,
    records_of,
    summary,
    verify_ledger,
    walk,
)
from tallystick.ingest.adapters import adapters
from tallystick.ingest.ledger_checks import LEDGER_AGENT, ledger_folder
from tallystick.journal.archive import system_clock
from tallystick.journal.home import Home
from tallystick.model.step import Event, Json, Opening, Source, Step
from tallystick.recording.recorder import Recorder

__all__ = ["LedgerVerdict", "ProvenanceWriter", "content_hash", "read_ledger", "verify_session", "walk_dag"]

_CLOSING = "session_end"


class Options(TypedDict, total=False):
    """What may be said of a record besides.

    `parent`: the self_hash of the record that it follows from; default the last one. `started_at`: RFC 3339 in UTC.
    """

    duration_ms: int
    started_at: str
    parent: str


class ProvenanceWriter:
    """Writes the ledger of one session, `<folder>/sessions/<session>.jsonl`, and seals each record as a step.

    Threads may share a writer. One that died is continued by a new one: what the ledger has and the store has not is sealed
    first; a torn last line is put aside. Leaving the block closes the ledger, except after an exception.

    Args:
        session: the session's name, also that of the file. folder: the folder of ledgers; default
            `~/.local/share/gptme/provenance`. home: the store; default TALLY_HOME, else ~/.tally.
        with_content: whether records have `input` and `output`, and not only their hashes; the sealed step has what its
            record has.

    Raises:
        SourceError: the ledger that is there does not hold, or is closed. JournalError: the store cannot be written.
    """

    def __init__(
        self,
        session: str,
        *,
        folder: Path | str | None = None,
        home: Path | str | None = None,
        with_content: bool = False,
    ) -> None:
        self.session = session
        self.path = LedgerFolder(Path(folder or ledger_folder(Path.home()))).path(session)
        self.last: str | None = None
        """The `self_hash` of the last record: the parent of the next one that names none."""
        self._with_content = with_content
        self._lock = threading.Lock()
        self._reader = adapters()[LEDGER_AGENT].reader(SourceFile(path=str(self.path)))
        self._offset = 0
        self._chain = Chain(session)
        self._is_closed = False
        self._recorder = Recorder(home)
        if self.path.exists():
            self._go_on()

    @property
    def home(self) -> Home:
        """The store that the steps are sealed in."""
        return self._recorder.home

    def __enter__(self) -> ProvenanceWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._recorder.close()

    def tool_call(self, tool: str, input: Json = "", output: Json = "", **more: Unpack[Options]) -> dict[str, Json]:
        """Write a call of a tool: what went in, what came out. `more` are the options of `write`."""
        return self.write("tool_call", tool, input, output, **more)

    def model_call(self, model: str, input: Json = "", output: Json = "", **more: Unpack[Options]) -> dict[str, Json]:
        """Write a call of a model."""
        return self.write("model_call", model, input, output, **more)

    def skill_invoke(self, skill: str, input: Json = "", output: Json = "", **more: Unpack[Options]) -> dict[str, Json]:
        """Write the use of a skill."""
        return self.write("skill_invoke", skill, input, output, **more)

    def write(
        self, step_type: str, name: str | None, input: Json = "", output: Json = "", **more: Unpack[Options]
    ) -> dict[str, Json]:
        """Write one record and seal it as a step; gives the record.

        The line is on disk before the step is sealed, so a writer that dies between them leaves a line that its successor,
        or an import, seals.

        Raises:
            SourceError: the ledger is closed, or cannot be written. JournalError: the step cannot be sealed.
        """
        with self._lock:
            if self._is_closed:
                raise SourceError(f"the ledger {self.path} is closed", hint="begin another session")
            started = more.get("started_at") or system_clock()
            record: dict[str, Json] = {
                "step_id": str(uuid.uuid4()),
                "session_id": self.session,
                "step_type": step_type,
                "tool_name": name,
                "started_at": f"{started[:19]}Z",
                "duration_ms": more.get("duration_ms", 0),
                "input_hash": content_hash(input),
                "output_hash": content_hash(output),
                "parent_step_hash": more.get("parent") or self.last,
            }
            if self._with_content:
                record |= {"input": input, "output": output}
            record = self._chain.add(record)
            line = line_of(record)
            append_line(self.path, line)
            self.last = str(record["self_hash"])
            self._seal(line)
            return record

    def close(self) -> None:
        """Write the closing record and close the store. A ledger without it counts as truncated."""
        if not self._is_closed:
            self.write(_CLOSING, None)
            self._is_closed = True
        self._recorder.close()

    def _go_on(self) -> None:
        """Continue a ledger that is there."""
        verdict = verify_ledger(ledger_lines(self.path))
        if not verdict.valid:
            raise SourceError(
                f"{self.path}: {summary(verdict)}", hint="it was changed: keep it, and begin another session"
            )
        if not verdict.truncated:
            raise SourceError(f"the ledger {self.path} is closed", hint="begin another session")
        if verdict.variant is not None and not verdict.variant.is_primary:
            raise SourceError(f"{self.path} was written by another formula", hint="begin another session")
        for record in read_ledger(self.path):
            self.last = str(record["self_hash"])
            self._chain = Chain(self.session, str(record["context_hash"]))
        for line in ledger_lines(self.path):
            if line.endswith(b"\n"):
                self._seal(line)

    def _seal(self, line: bytes) -> None:
        events = self._reader.feed(line.rstrip(b"\n"), self._offset)
        self._offset += len(line)
        self._recorder.session_writer.take(LEDGER_AGENT, (_live(event) for event in events))


def verify_session(path: Path | str) -> LedgerVerdict:
    """What the hashes of a plain ledger say: `valid`, `truncated`, `steps`, and the first record that does not hold.

    Raises:
        SourceError: the file cannot be read.
    """
    return verify_ledger(ledger_lines(Path(path)))


def read_ledger(path: Path | str) -> list[dict[str, Json]]:
    """The records of a ledger, whether its hashes hold or not."""
    return list(records_of(ledger_lines(Path(path))))


def walk_dag(records: Iterable[Mapping[str, Json]], start: str | None = None) -> Iterator[Mapping[str, Json]]:
    """The records that follow from the one with a step id, or a prefix of it; without one, all.

    Raises:
        NotFoundError, AmbiguousError: no record, or several, have that id.
    """
    if start is None:
        return iter(records)
    return walk(records, start)


def _live(event: Event) -> Event:
    """An event as this program saw it happen, and not an import."""
    if isinstance(event, (Opening, Step)):
        return replace(event, source=Source.SDK)
    return event
