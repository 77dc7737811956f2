"""The session-log interface of the headless agent, for Python programs: the public names, at one place.

    from tallystick.plugins.headless import Event, SessionManager

    with SessionManager() as manager:                      # sealed journals; FileManager(folder): files of its format
        session = manager.create("release-notes", {"version": "2.4.0"})
        session.add_event(Event(type="user", content="write the notes"))
        session.close()

Owns nothing but the list. docs/session-log.md shows the names at work.
"""

from __future__ import annotations

from tallystick.journal.headless import FileStore
from tallystick.journal.headless_file import detect_format, read_log
from tallystick.recording.session_journal import JournalStore
from tallystick.recording.session_log import FileManager, Session, SessionManager
from tallystick.recording.session_store import Store
from tallystick.recording.session_times import now_text
from tallystick.sessions.session_log import Event, EventMeta, JSONLRecord, Log, Message, TaintNode, ToolCall
from tallystick.sessions.session_reading import Problem, ReadLog
from tallystick.sessions.session_words import (
    Action,
    Check,
    CheckpointKind,
    Confidence,
    EventType,
    Phase,
    RecordType,
    Status,
    Trust,
    Verdict,
)

__all__ = [
    "Action",
    "Check",
    "CheckpointKind",
    "Confidence",
    "Event",
    "EventMeta",
    "EventType",
    "FileManager",
    "FileStore",
    "JSONLRecord",
    "JournalStore",
    "Log",
    "Message",
    "Phase",
    "Problem",
    "ReadLog",
    "RecordType",
    "Session",
    "SessionManager",
    "Status",
    "Store",
    "TaintNode",
    "ToolCall",
    "Trust",
    "Verdict",
    "detect_format",
    "now_text",
    "read_log",
]
