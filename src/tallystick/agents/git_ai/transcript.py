"""git-ai's notes: which lines of a commit an agent wrote, and in older ones the conversation that led to them.

Owns the note's form (a list of lines, `---`, a JSON document) and its messages as steps. A note repeats the whole
conversation up to its commit, so steps are named by their place in it: the notes of several commits are one session that has
grown. What it says of lines is not read here: others would have to be believed. Source: specs of git-ai, authorship/3.0.0.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallystick.agents import Reader, Shape, SourceFile
from tallystick.agents.kit.conversation import Conversation
from tallystick.agents.kit.losses import unknown
from tallystick.agents.kit.reading import BadJson, dict_of, events_of_object, list_of, loads, text_of
from tallystick.agents.recognition import count_members, first_object
from tallystick.model.step import Event, Json, Loss

NAME = "git-ai"
SHAPE = Shape.DOCUMENT
GLOBAL_IDS = False
COMPANIONS: tuple[str, ...] = ()

_PART = b"---\n"
_SCHEMA = "authorship/"


def locate() -> tuple[str, ...]:
    """No globs: notes are in the objects of a repository."""
    return ()


def recognises(path: str, head: bytes) -> int:
    """Whether a text is a note, by the document after its list of lines."""
    first = first_object(_document(head))
    if not (text_of(first.get("schema_version")) or "").startswith(_SCHEMA):
        return 0
    return count_members(first, "schema_version", also=("base_commit_sha", "prompts"))


def _document(note: bytes) -> bytes:
    """The JSON of a note: what stands after the first line that is `---`."""
    if note.startswith(_PART):
        return note[len(_PART) :]
    before, mark, after = note.partition(b"\n" + _PART)
    return after if mark else before


def conversations(note: bytes) -> dict[str, int]:
    """By session, how many messages of its conversation a note has; none if it names lines only."""
    try:
        document = dict_of(loads(_document(note)).value)
    except BadJson:
        return {}
    prompts = ((key, dict_of(said)) for key, said in dict_of(document.get("prompts")).items())
    found = {_session(key, prompt): len(list_of(prompt.get("messages"))) for key, prompt in prompts}
    return {session: count for session, count in found.items() if count}


def _session(key: str, prompt: dict[str, Json]) -> str:
    agent = dict_of(prompt.get("agent_id"))
    return f"{text_of(agent.get('tool')) or 'agent'}/{text_of(agent.get('id')) or key}"


def reader(file: SourceFile) -> Reader:
    """A reader for one note."""
    return _Note()


class _Note:
    """Reads one note."""

    def feed(self, data: bytes, offset: int) -> Iterator[Event]:
        """The conversations of the note."""
        otherwise = Loss(kind="unknown_document", detail="not an object", fault=True)
        return events_of_object(_document(data), offset, self._sessions, otherwise)

    def finish(self) -> Iterator[Event]:
        """Nothing is held back."""
        yield from ()

    def _sessions(self, document: dict[str, Json]) -> Iterator[Event]:
        if not dict_of(document.get("prompts")):
            yield Loss(kind="lines_only")
        for key, said in dict_of(document.get("prompts")).items():
            prompt = dict_of(said)
            agent = dict_of(prompt.get("agent_id"))
            messages = list_of(prompt.get("messages"))
            if not messages:
                yield Loss(kind="lines_only", detail=key)
                continue
            talk = Conversation(NAME, _session(key, prompt))
            meta = {"agent_role": text_of(agent.get("tool")), "model": text_of(agent.get("model"))}
            first = text_of(dict_of(messages[0]).get("timestamp"))
            yield talk.opening(meta, {"personal.author": text_of(prompt.get("human_author"))}, ts=first)
            for number, message in enumerate(map(dict_of, messages)):
                yield _step(talk, message, f"#{number}")


def _step(talk: Conversation, message: dict[str, Json], source_id: str) -> Event:
    kind, at = message.get("type"), talk.at(source_id, text_of(message.get("timestamp")))
    if kind in ("user", "assistant"):
        return talk.said(at, kind, message.get("text"))
    if kind in ("thinking", "plan"):
        return talk.thought(at, message.get("text"))
    if kind == "tool_use":
        return talk.call(at, message.get("name"), message.get("input"))
    return unknown(text_of(kind), source_id)
