"""Sessions and their journals, made up in memory, for the tests of this folder.

They have the shape that the projector is given: steps that follow from one another, and where their lines lie in a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256

import msgspec

from tallystick.errors import FormatError
from tallystick.graph.graph import Graph
from tallystick.graph.journals import Journal
from tallystick.model.moments import epoch_time
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tests.support.cases import cases

FIRST_MOMENT = 1_767_323_045  # 2026-01-02T03:04:05Z
TABLES = cases(__file__, "tables", tuple[str, ...])


def sid_of(name: str) -> str:
    """A session id that belongs to a name."""
    return sha256(name.encode()).hexdigest()[:32]


def time_at(seconds: float) -> str:
    """The time some seconds after the first moment of all tests, as the record writes it."""
    text = epoch_time(FIRST_MOMENT + seconds)
    assert text is not None
    return text


class Line(msgspec.Struct, frozen=True):
    """A step and where its line lies."""

    step: Recorded
    offset: int
    end: int


class Session:
    """A session that grows step by step."""

    def __init__(self, name: str = "one", *, agent: str = "demo", sid: str | None = None, start: float = 0) -> None:
        self.name = name
        self.sid = sid if sid is not None else sid_of(name)
        self.agent = agent
        self.lines: list[Line] = []
        self._start = start

    def begin(self, kind: str = "root", *, parents: tuple[str, ...] = (), **meta: Json) -> Recorded:
        """Its `session_start`, heard of live."""
        members = {"source": "hook", "agent": self.agent, "kind": kind, "source_session": self.name, **meta}
        return self.add("session_start", members, parents=parents)

    def add(
        self,
        kind: str,
        meta: Mapping[str, Json] | None = None,
        *,
        parents: tuple[str, ...] = (),
        cwd: str | None = None,
        **content: Json,
    ) -> Recorded:
        """One more step. `content` are its `content` fields; a member of `meta` that is None is left out."""
        n = len(self.lines)
        moment = time_at(self._start + n)
        members: dict[str, Json] = {"type": kind, "ts": moment, "recorded": moment, "source": "transcript"}
        members |= meta or {}
        step = Recorded(
            session=self.sid,
            n=n,
            hash=sha256(f"{self.sid}/{n}".encode()).hexdigest(),
            prev=self.lines[-1].step.hash if self.lines else "0" * 64,
            parents=parents,
            meta={name: value for name, value in members.items() if value is not None},
            values={f"content.{name}": value for name, value in content.items()}
            | ({} if cwd is None else {"personal.cwd": cwd}),
        )
        begin = self.lines[-1].end if self.lines else 0
        self.lines.append(Line(step, begin, begin + 100 + len(repr(step))))
        return step

    def prompt(self, text: str, **meta: Json) -> Recorded:
        """A prompt that a human gave."""
        return self.add("user", meta, text=text)

    def journal(self, *, steps: int | None = None, inode: int = 1) -> Journal:
        """The journal of its first `steps` steps, as a file that can be read from any line on, and from no other byte."""
        lines = self.lines[:steps]

        def read(start: int) -> Iterator[Line]:
            if start not in {0, *(line.end for line in lines)} and start < lines[-1].end:
                raise FormatError(f"no line of ours begins at byte {start}")
            return iter([line for line in lines if line.offset >= start])

        return Journal(session=self.sid, inode=inode, size_bytes=lines[-1].end if lines else 0, read=read)


def erased(session: Session, n: int, name: str) -> Session:
    """The same session after the erasure of one value: its file is another, its entries are the same."""
    copy = Session(session.name, agent=session.agent, sid=session.sid)
    shorter = 0
    for line in session.lines:
        step, begin = line.step, line.offset - shorter
        if step.n == n:
            values = {key: value for key, value in step.values.items() if key != name}
            step = msgspec.structs.replace(step, values=values, withheld=(name,))
            shorter += 7
        copy.lines.append(Line(step, begin, line.end - shorter))
    return copy


def everything(graph: Graph) -> dict[str, list[tuple[object, ...]]]:
    """All rows of all tables, and where each word stands in the search index."""
    found = {table: sorted(graph.rows(f"SELECT * FROM {table}"), key=repr) for table in TABLES}
    graph.change("CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab (main, search, instance)")
    found["search"] = sorted(graph.rows("SELECT * FROM words"))
    graph.change("DROP TABLE temp.words")
    return found
