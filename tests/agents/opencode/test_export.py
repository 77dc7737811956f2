from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick.agents import SourceFile, adapters
from tallystick.agents.opencode import export
from tallystick.agents.opencode import transcript as opencode
from tallystick.capture.discover import best_matches, first_time
from tallystick.capture.sqlite_rows import read_rows
from tallystick.model.step import Event, Loss, Opening, SessionKind, Step

RECORDING = Path(__file__).parents[2] / "recordings/opencode/1.18.33/.local/share/opencode/opencode.db"

Document = dict[str, Any]


def documents() -> dict[str, Document]:
    """The sessions of the recorded database as `opencode export` writes them."""
    found: dict[str, Document] = {}
    messages: dict[str, Document] = {}
    for text, _ in read_rows(RECORDING, opencode.TABLES):
        value = json.loads(text)
        row = value["row"]
        if value["table"] == "session":
            info = {"id": row["id"], "projectID": row["project_id"], "directory": row["directory"]}
            info |= {"title": row["title"], "version": row["version"], "time": {"created": row["time_created"]}}
            info |= {"parentID": row["parent_id"], "agent": row["agent"]} | opened(row, "permission", "model")
            found[row["id"]] = {"info": info, "messages": []}
        elif value["table"] == "message":
            info = {**json.loads(row["data"]), "id": row["id"], "sessionID": row["session_id"]}
            messages[row["id"]] = {"info": info, "parts": []}
            found[row["session_id"]]["messages"].append(messages[row["id"]])
        elif value["table"] == "part":
            part = {**json.loads(row["data"]), "id": row["id"], "messageID": row["message_id"]}
            messages[row["message_id"]]["parts"].append(part)
    return found


def opened(row: Mapping[str, Any], *columns: str) -> Document:
    return {column: json.loads(row[column]) for column in columns if row.get(column)}


def read(document: Document, name: str = "export.json") -> list[Event]:
    reader = export.reader(SourceFile(name))
    return [*reader.feed(json.dumps(document, indent=2).encode(), 0), *reader.finish()]


def from_database() -> list[Event]:
    reader = opencode.reader(SourceFile("opencode.db"))
    fed = [event for text, ordinal in read_rows(RECORDING, opencode.TABLES) for event in reader.feed(text, ordinal)]
    return [*fed, *reader.finish()]


def said(events: list[Event]) -> list[tuple[Any, ...]]:
    steps = (event for event in events if isinstance(event, Step))
    return [(step.session, step.type, step.source_id, step.meta, step.values, step.after) for step in steps]


def test_an_export_gives_the_steps_that_the_database_gives() -> None:
    exported = [line for document in documents().values() for line in said(read(document))]
    assert exported
    assert sorted(map(str, exported)) == sorted(map(str, said(from_database())))


def test_a_sub_agents_export_names_its_parent() -> None:
    kinds = {}
    for document in documents().values():
        opening = next(event for event in read(document) if isinstance(event, Opening))
        kinds[opening.session] = (opening.kind, opening.parent and opening.parent.session, opening.agent)
    main, child = documents()
    assert kinds[main] == (SessionKind.ROOT, None, "opencode")
    assert kinds[child] == (SessionKind.CHILD, main, "opencode")


def test_an_export_is_known_by_what_it_holds_whatever_its_name() -> None:
    document = next(iter(documents().values()))
    for text in (json.dumps(document), json.dumps(document, indent=2)):
        head = text.encode()[:60_000]
        assert best_matches("/x/full.jsonl", head, adapters()) == ["opencode-export"]
        assert first_time(head).startswith("2026-11-21T22:45:27")
    assert export.recognises("/x.json", b'{"info": {"id": "x"}, "messages": []}') == 0


def test_ids_that_stand_for_many_are_none() -> None:
    document = next(iter(documents().values()))
    calls = sum(isinstance(event, Step) and event.type == "tool_call" for event in read(document))
    document["info"]["id"] = "REDACTED"
    for message in document["messages"]:
        message["info"] |= {"id": "REDACTED", "sessionID": "REDACTED"}
        for part in message["parts"]:
            part |= {"id": "REDACTED", "messageID": "REDACTED"}
            if "callID" in part:
                part["callID"] = "REDACTED"
    steps = [event for event in read(document, "/h/ses_a.jsonl") if isinstance(event, Step)]
    assert {step.session for step in steps} == {"ses_a"}
    assert len({step.source_id for step in steps}) == len(steps)
    assert sum(step.type == "tool_call" for step in steps) == calls > 1


def test_what_is_not_an_export_is_reported() -> None:
    reader = export.reader(SourceFile("x.json"))
    assert [event.kind for event in reader.feed(b"[]", 0) if isinstance(event, Loss)] == ["unknown_document"]
    assert [event.kind for event in reader.feed(b"{", 0) if isinstance(event, Loss)] == ["bad_line"]
