"""A lineage graph made by hand, row by row, for tests that ask about it.

The rows are those that the projector makes of such calls; nothing here knows how it finds them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

from tallystick.graph.graph import Graph
from tallystick.lineage.walk import NodeId, NodeKind
from tallystick.model.step import Json

FIRST_MS = 1_767_323_045_000  # 2026-01-02T03:04:05Z
ROOM = 100_000


def sid_of(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:32]


class Weave:
    """Rows of a graph. Each step is one second later than the one before, whatever its session."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sessions = 0
        self.seconds = 0
        self.artifacts = 0
        self.newest: dict[str, int] = {}
        self._blanks: dict[str, dict[str, object]] = {}

    def insert(self, table: str, row: Mapping[str, object]) -> None:
        """A row; columns that must have a value and are not named have 0, or no text."""
        row = {**self._blank(table), **row}
        places = ", ".join("?" * len(row))
        self.graph.change(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", tuple(row.values()))

    def _blank(self, table: str) -> dict[str, object]:
        if table not in self._blanks:
            columns = self.graph.rows(f"PRAGMA table_info({table})")
            self._blanks[table] = {
                name: "" if kind == "TEXT" else 0
                for _, name, kind, needed, default, key in columns
                if needed and default is None and not key
            }
        return self._blanks[table]

    def now_ms(self) -> int:
        self.seconds += 1
        return FIRST_MS + self.seconds * 1000

    def session(
        self,
        name: str,
        *,
        agent: str = "demo",
        kind: str = "root",
        parent: tuple[Strand, int] | None = None,
        claimed: tuple[str, str | None] | None = None,
    ) -> Strand:
        """A new session, after the step `parent`, or after the one that the agent's own ids `claimed` name."""
        self.sessions += 1
        strand = Strand(self, name, self.sessions * ROOM, agent)
        row: dict[str, object] = {
            "session_id": strand.sid,
            "agent_id": agent,
            "source_session": name,
            "kind": kind,
            "status": "active",
        }
        row |= {"first_event_at": self.now_ms(), "first_id": strand.first_id, "title": None}
        self.insert("sessions", row)
        strand.add("session_start")
        if parent is not None or claimed is not None:
            strand.edge(0, kind, parent=parent, claimed=claimed)
        return strand

    def version(self, uri: str, *, kind: str = "file", made_by: int | None = None, digest: str = "") -> int:
        """The next version of a thing; of one that nobody made, the one found."""
        self.artifacts += 1
        before = self.newest.get(uri)
        number = 0 if made_by is None else 1
        if before is not None:
            row = self.graph.row("SELECT version FROM artifacts WHERE artifact_id = ?", (before,))
            assert row is not None
            number = row[0] + 1
        when = FIRST_MS + self.seconds * 1000
        columns = {"artifact_id": self.artifacts, "kind": kind, "uri": uri, "digest": digest, "created_at": when}
        columns |= {"updated_at": when, "version": number, "thing": _thing(kind, uri), "made_by": made_by}
        self.insert("artifacts", columns)
        self.newest[uri] = self.artifacts
        return self.artifacts

    def relate(
        self,
        src: tuple[str, int],
        relation: str,
        dst: tuple[str, int],
        *,
        confidence: float = 0.9,
        **evidence: Json,
    ) -> None:
        """One edge."""
        values = (*src, *dst, relation, confidence, json.dumps(evidence), FIRST_MS + self.seconds * 1000)
        self.graph.change(
            "INSERT INTO relations (src_kind, src_id, dst_kind, dst_id, relation_type, confidence, evidence, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            values,
        )

    def flow(self, source: int, target: int, *, confidence: float = 0.5, via: str = "model") -> None:
        """What one version holds went into another one."""
        self.relate(("artifact", source), "derived_from", ("artifact", target), confidence=confidence, via=via)


class Strand:
    """A session that grows step by step."""

    def __init__(self, weave: Weave, name: str, first_id: int, agent: str) -> None:
        self.weave = weave
        self.name = name
        self.sid = sid_of(name)
        self.first_id = first_id
        self.agent = agent
        self.size = 0
        self.request: int | None = None

    @property
    def node(self) -> NodeId:
        return NodeId(NodeKind.SESSION, self.first_id)

    def step(self, n: int) -> NodeId:
        return NodeId(NodeKind.STEP, self.first_id + n)

    def prompt_node(self, n: int) -> NodeId:
        return NodeId(NodeKind.REQUEST, self.first_id + n)

    def hash(self, n: int) -> str:
        return sha256(f"{self.sid}/{n}".encode()).hexdigest()

    def ref(self, n: int) -> str:
        return f"{self.sid[:8]}:{n}"

    def add(self, kind: str, **columns: object) -> int:
        """One more step: its number."""
        n, self.size = self.size, self.size + 1
        at_ms = self.weave.now_ms()
        row: dict[str, object] = {"id": self.first_id + n, "session_id": self.sid, "n": n, "hash": self.hash(n)}
        row |= {"type": kind, "agent_id": self.agent, "at_us": at_ms * 1000, "request": self.request, "offset": 0}
        self.weave.insert("steps", row | columns)
        self.weave.graph.change("UPDATE sessions SET size = ? WHERE session_id = ?", (self.size, self.sid))
        return n

    def prompt(self, text: str) -> int:
        """What a human asks."""
        n = self.size
        self.request = n
        self.add("user")
        at_ms = FIRST_MS + self.weave.seconds * 1000
        row: dict[str, object] = {"request_id": self.first_id + n, "session_id": self.sid, "original_user_prompt": text}
        row |= {"created_at": at_ms, "total_tokens": 0, "n": n, "hash": self.hash(n), "last_at": at_ms}
        self.weave.insert("requests", row)
        return n

    def call(self, tool: str = "Bash", *, corr: str | None = None, **asked: Json) -> int:
        """A call of a tool."""
        corr = corr or f"{self.name}-{self.size}"
        n = self.add("tool_call", tool=tool, corr=corr)
        self.event(n, "PreToolUse", corr, tool=tool, asked=asked)
        return n

    def event(self, n: int, kind: str, corr: str | None, *, tool: str | None = None, asked: Json = None) -> None:
        row: dict[str, object] = {"event_id": self.first_id + n, "request_id": self.request_id, "source": self.agent}
        row |= {"ts": FIRST_MS + self.weave.seconds * 1000, "type": kind, "cwd": "/w", "tool_name": tool}
        row |= {"tool_input": json.dumps(asked), "tool_use_id": corr, "step_id": self.first_id + n}
        self.weave.insert("agent_events", row)

    @property
    def request_id(self) -> int:
        return self.first_id + (self.request or 0)

    def effect(self, operation: str, path: str, *, source: str = "watch") -> int:
        """A change that was observed."""
        n = self.add("file_effect", source=source)
        row: dict[str, object] = {"event_id": self.first_id + n, "request_id": self.request_id, "source": "watch"}
        row |= {"ts": FIRST_MS + self.weave.seconds * 1000, "type": operation, "cwd": "/w"}
        self.weave.insert("system_events", row | {"args": json.dumps({"path": path})})
        return n

    def edge(
        self,
        n: int,
        kind: str,
        *,
        parent: tuple[Strand, int] | None = None,
        claimed: tuple[str, str | None] | None = None,
    ) -> None:
        """What step `n` follows from in another session."""
        row: dict[str, object] = {"session_id": self.sid, "n": n, "position": 0, "kind": kind}
        if parent is not None:
            strand, step = parent
            row |= {"parent_session": strand.sid, "parent_step": strand.hash(step)}
        if claimed is not None:
            row |= {"claimed_session": claimed[0], "claimed_step": claimed[1]}
        self.weave.insert("session_edges", row)

    # What a step does to things --------------------------------------------------------------------------------------

    def reads(self, n: int, uri: str, *, kind: str = "file", actor: str = "agent_event") -> int:
        """The step reads a thing, as it was last left or else found: the version."""
        version = self.weave.newest.get(uri) or self.weave.version(uri, kind=kind)
        self._consume(n, version, actor)
        return version

    def _consume(self, n: int, version: int, actor: str) -> None:
        source = ("artifact", version)
        self.weave.relate(source, "consumed_by", (actor, self.first_id + n), operation="read")
        row = self.weave.graph.row(
            "SELECT 1 FROM relations WHERE src_kind = 'artifact' AND src_id = ? AND dst_kind = 'request' AND dst_id = ?",
            (version, self.request_id),
        )
        if row is None:
            self.weave.relate(source, "consumed_by", ("request", self.request_id), operation="read")

    def writes(self, n: int, uri: str, *, kind: str = "file", actor: str = "agent_event") -> int:
        """The step writes a thing whole: the new version."""
        version = self.weave.version(uri, kind=kind, made_by=self.first_id + n)
        self._do(n, "produced", version, actor)
        return version

    def changes(self, n: int, uri: str, *, actor: str = "agent_event") -> int:
        """The step changes a thing in part: the new version."""
        before = self.weave.newest.get(uri)
        if before is not None:
            self._consume(n, before, actor)
        version = self.weave.version(uri, made_by=self.first_id + n)
        self._do(n, "modified", version, actor)
        return version

    def deletes(self, n: int, uri: str) -> int:
        """The step removes a thing: the version that is gone."""
        version = self.weave.newest[uri]
        at_ms = FIRST_MS + self.weave.seconds * 1000
        self.weave.graph.change("UPDATE artifacts SET deleted_at = ? WHERE artifact_id = ?", (at_ms, version))
        self._do(n, "deleted", version, "agent_event")
        return version

    def _do(self, n: int, relation: str, version: int, actor: str) -> None:
        node = ("artifact", version)
        self.weave.relate((actor, self.first_id + n), relation, node, operation=relation)
        if actor == "agent_event":
            self.weave.relate(("request", self.request_id), relation, node, operation=relation)


def _thing(kind: str, uri: str) -> int:
    return int.from_bytes(sha256(f"{kind} {uri}".encode()).digest()[:7], "big")
