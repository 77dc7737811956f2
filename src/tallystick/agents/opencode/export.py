"""opencode: one session as `opencode export` writes it, a JSON document of its messages.

Owns that shape: what stands where in the document. The steps are those of the database (`transcript`), under the same
agent and with the same source ids, so a session that was read from both is recorded once.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.reading import dict_of, events_of_object, list_of, text_of
from tallystick.agents.opencode.transcript import Sessions
from tallystick.agents.recognition import count_members, first_object
from tallystick.model.step import Event, Json, Loss

NAME = "opencode-export"
SHAPE = Shape.DOCUMENT
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()

_ROW_OF_SESSION = {
    "parent_id": "parentID",
    "project_id": "projectID",
    "directory": "directory",
    "title": "title",
    "version": "version",
    "agent": "agent",
    "model": "model",
    "permission": "permission",
    "revert": "revert",
    "metadata": "metadata",
}
"""The columns that the database has for a session, and the members that an export has."""
_SESSION = "ses"
"""How its ids of sessions begin."""
_LINKS = ("id", "sessionID", "messageID")
"""Members that the database has as columns beside a message or a part."""


def locate() -> tuple[str, ...]:
    """No globs: an export is written to where the user says."""
    return ()


def recognises(path: str, head: bytes) -> int:
    """Whether a file is an export, by its first members."""
    first = first_object(head)
    needed = ("info.id", "info.time.created", "messages")
    return count_members(first, *needed, also=("info.projectID", "info.directory", "info.slug", "info.version"))


def reader(file: SourceFile) -> Reader:
    """A reader for one export."""
    return _Document(posixpath.basename(file.path).partition(".")[0])


class _Document:
    """Reads one document.

    What people publish went through programs that take secrets out, and those take long ids for secrets: then one word is
    the id of many messages. An id that was given already, or a session's that is not opencode's, is none: the place in the
    document, or the file's name, is used.
    """

    def __init__(self, stem: str) -> None:
        self._stem = stem
        self._sessions = Sessions()
        self._given: set[str] = set()

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """All events of the session."""
        otherwise = Loss(kind="unknown_document", detail="not an object", fault=True)
        return events_of_object(data, offset, self._document, otherwise)

    def finish(self) -> Iterator[Event]:
        """The last message and the end of the session."""
        yield from self._sessions.finish()

    def _document(self, document: dict[str, Json]) -> Iterator[Event]:
        info = dict_of(document.get("info"))
        session = text_of(info.get("id")) or ""
        if not session.startswith(_SESSION) and self._stem:
            session = self._stem
        row = {column: info.get(member) for column, member in _ROW_OF_SESSION.items()}
        row |= {"id": session, "time_created": _created(info), "share_url": dict_of(info.get("share")).get("url")}
        yield from self._sessions.session(row)
        for number, message in enumerate(map(dict_of, list_of(document.get("messages")))):
            yield from self._message(message, session, number)

    def _message(self, message: dict[str, Json], session: str, number: int) -> Iterator[Event]:
        said = dict_of(message.get("info"))
        created, own = _created(said), self._id(said.get("id"), f"#{number}")
        yield from self._sessions.message({"id": own, "session_id": session, "time_created": created}, _unlinked(said))
        for place, part in enumerate(map(dict_of, list_of(message.get("parts")))):
            began = dict_of(part.get("time")).get("start") or created
            row: dict[str, Json] = {"id": self._id(part.get("id"), f"#{number}/{place}"), "message_id": own}
            data = _unlinked(part)
            if "callID" in data:
                data["callID"] = self._id(data["callID"], "") or None
            yield from self._sessions.part(row | {"time_created": began}, data)

    def _id(self, said: Json, place: str) -> str:
        """The id of a message or a part, or its place if it has none of its own."""
        if isinstance(said, str) and said and said not in self._given:
            self._given.add(said)
            return said
        return place


def _created(said: dict[str, Json]) -> Json:
    return dict_of(said.get("time")).get("created")


def _unlinked(said: dict[str, Json]) -> dict[str, Json]:
    return {member: value for member, value in said.items() if member not in _LINKS}
