"""Gensee Crate's `gensee.db`: what that recorder kept of other agents' sessions, in one SQLite database (version 2).

A session is a row of `sessions`, its prompts are rows of `requests`, what was called rows of `agent_events`; what it
warned of is in `alerts`. Each session is one here, of the agent `gensee`: the same session by its agent's own files is
another account, and stands beside it. Alerts of that system are not alerts of ours: they are in no chain that we can
extend.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.columns import known, moment_ms, number, parsed, word
from tallystick.agents.kit.point import Point
from tallystick.agents.kit.reading import BadJson, bad_line, dict_of, loads, text_of
from tallystick.agents.kit.tables import Tables
from tallystick.agents.recognition import in_place
from tallystick.catalog.agents import AGENTS
from tallystick.model.step import Event, Json, Loss, Opening, Ref, Source

NAME = "gensee"
SHAPE = Shape.SQLITE
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()
TABLES: Tables = AGENTS[NAME].tables
_MAGIC = b"SQLite format 3\0"
_VERSION_AT, _APPLICATION_AT = 60, 68
_MARKS = (b"agent_events", b"original_user_prompt", b"alert_chain_head", b"session_token_usage")
_LEFT = re.compile(
    r"sqlite_.*|sessions|requests|agent_events|alerts|system_events|artifacts|relations|session_token_usage|transcript_token_state"
    r"|alert_chain_head|alert_retention_\w+|maintenance_state|dashboard_\w+|human_feedback|transaction_events|artifact_\w+"
)
"""The tables that version 2 has: those that are read, and those that follow from them or are not event of an agent."""
_KINDS = {
    "PreToolUse": "tool_call",
    "PostToolUse": "tool_result",
    "PostToolUseFailure": "tool_result",
    "PermissionRequest": "permission",
}
_EFFECTS = {"block": "deny", "ask": "ask", "warn": "warn", "allow": "allow"}
_NO_SESSION = "unknown"


def locate() -> tuple[str, ...]:
    """Globs below the home folder that match its database."""
    return AGENTS[NAME].histories["transcript"].patterns


def recognises(path: str, head: bytes) -> int:
    """Whether a file is such a database, in plain: by its tables. An index of ours has the same, and a mark of its own."""
    if not head.startswith(_MAGIC) or head[_APPLICATION_AT : _APPLICATION_AT + 4].strip(b"\0"):
        return 0
    seen = sum(mark in head for mark in _MARKS)
    if seen < len(_MARKS) - 1:
        seen = 0
    return in_place(path.endswith("/gensee.db")) + seen


def reader(file: SourceFile) -> Reader:
    """A reader for one database."""
    return _Reader()


class _Request(msgspec.Struct):
    """A prompt while what came of it is read."""

    id: str
    row: dict[str, Json]
    calls: dict[str, str] = {}
    """The agent's id of a call → the id of its step."""


class _Reader:
    def __init__(self) -> None:
        self._session: str | None = None
        self._request: _Request | None = None
        self._opened: set[str] = set()

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The events of one row."""
        try:
            value = dict_of(loads(data).value)
        except BadJson as error:
            yield bad_line(error, offset)
            return
        table, row = text_of(value.get("table")), dict_of(value.get("row"))
        if table == "sqlite_master":
            name = text_of(row.get("name")) or ""
            if row.get("type") == "table" and not _LEFT.fullmatch(name):
                yield Loss(kind="unknown_table", detail=name)
        elif table == "sessions":
            yield from self._take_session(row)
        elif table == "requests":
            yield from self._take_request(row)
        elif table == "agent_events":
            yield from self._take_event(row)
        elif table == "alerts":
            yield from self._take_alert(row)
        else:
            yield Loss(kind=table or "unknown_row")

    def finish(self) -> Iterator[Event]:
        """The answer to the last prompt."""
        yield from self._answer()

    # Rows ------------------------------------------------------------------------------------------------------------

    def _take_session(self, row: dict[str, Json]) -> Iterator[Event]:
        yield from self._answer()
        name = word(row.get("session_id"))
        if name is None:
            yield Loss(kind="bad_row", detail="a session without an id", fault=True)
            return
        yield from self._open(name, ts=moment_ms(row.get("first_event_at")), of=word(row.get("agent_id")))

    def _open(self, name: str, *, ts: str | None = None, of: str | None = None) -> Iterator[Event]:
        """The start of a session, and it is the one whose rows come next."""
        self._session = name
        if name in self._opened:
            return
        self._opened.add(name)
        meta = known({"recorded_agent": of})
        yield Opening(session=name, agent=NAME, source=Source.IMPORT, ts=ts, meta=meta)

    def _take_request(self, row: dict[str, Json]) -> Iterator[Event]:
        yield from self._answer()
        key = number(row.get("request_id"))
        yield from self._open(word(row.get("session_id")) or self._session or _NO_SESSION)
        self._request = _Request("r?", row)
        if key is not None:
            self._request.id = f"r{key:.0f}"
        prompt = word(row.get("original_user_prompt"))
        if prompt is not None:
            step = self._at(self._request.id, row.get("created_at")).step("user", {}, {"content.text": prompt})
            yield msgspec.structs.replace(step, opens_request=True)

    def _answer(self) -> Iterator[Event]:
        """What the agent said in the end, if that was kept."""
        request, self._request = self._request, None
        if request is None:
            return
        answer = word(request.row.get("final_response"))
        if answer is not None:
            meta = {"total_tokens": request.row.get("total_tokens")}
            at = self._at(f"{request.id}/answer", request.row.get("completed_at"))
            yield at.step("assistant", meta, {"content.text": answer})

    def _take_event(self, row: dict[str, Json]) -> Iterator[Event]:
        said, key = text_of(row.get("type")) or "", number(row.get("event_id"))
        kind = _KINDS.get(said)
        if said == "file_intent":
            yield Loss(kind="file_intent", detail=said)
            return
        if kind is None or key is None:
            yield Loss(kind="unknown_event", detail=said)
            return
        yield from self._open(self._session or _NO_SESSION)
        corr, name = word(row.get("tool_use_id")), f"e{key:.0f}"
        calls: dict[str, str] = {}
        if self._request is not None:
            calls = self._request.calls
        meta: dict[str, Json] = known({"tool": word(row.get("tool_name")), "corr": corr})
        values: dict[str, Json] = {}
        within = None
        if kind == "tool_result":
            output = _cell(row.get("tool_response"))
            stopped = isinstance(output, dict) and output.get("interrupted") is True
            meta["success"] = said == "PostToolUse" and not stopped
            values["content.output"] = output
            if corr in calls:
                within = Ref(calls[corr])
        else:
            values["content.args"] = _without_id(_cell(row.get("tool_input")))
            if kind == "tool_call" and corr is not None:
                calls[corr] = name
        values["personal.cwd"] = word(row.get("cwd"))
        yield msgspec.structs.replace(self._at(name, row.get("ts")).step(kind, meta, values), within=within)

    def _take_alert(self, row: dict[str, Json]) -> Iterator[Event]:
        key = number(row.get("alert_id"))
        if key is None:
            yield Loss(kind="bad_row", detail="an alert without an id", fault=True)
            return
        if row.get("request_id") is None:  # it comes after all that have one
            yield from self._answer()
            yield from self._open(_NO_SESSION)
        effect = _EFFECTS.get(text_of(row.get("action")) or "")
        meta = {
            "reason": "alert",
            "severity": word(row.get("severity")),
            "effect": effect,
            "rule": word(row.get("rule_id")),
        }
        values = {
            "content.text": word(row.get("message")),
            "content.path": word(row.get("path")),
            "content.evidence": _cell(row.get("evidence")),
            "content.chain": known({name: word(row.get(name)) for name in ("prev_hash", "entry_hash")}) or None,
        }
        yield from self._open(self._session or _NO_SESSION)
        yield self._at(f"a{key:.0f}", row.get("created_at")).step("warning", meta, values)

    def _at(self, source_id: str, ms: Json) -> Point:
        return Point(self._session or _NO_SESSION, source_id, moment_ms(ms), Source.IMPORT)


def _cell(value: Json) -> Json:
    """What a cell of JSON text says; text that is none, as it is."""
    found = parsed(value)
    if found is None:
        return word(value)
    return found


def _without_id(args: Json) -> Json:
    """The arguments without the call's id, which is in a column of its own."""
    if isinstance(args, dict):
        return {name: value for name, value in args.items() if name != "tool_use_id"}
    return args
