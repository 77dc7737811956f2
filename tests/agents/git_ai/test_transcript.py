from __future__ import annotations

from pathlib import Path

from tallystick.agents import adapters
from tallystick.agents.git_ai import transcript as git_ai
from tallystick.agents.git_ai.transcript import conversations
from tallystick.agents.kit.laws import broken_laws
from tallystick.capture.discover import best_matches
from tallystick.model.step import Event, Loss, Opening, Step
from tests.agents.conftest import ReadEvents

MADE = Path(__file__).parent / "made/note"


def steps(events: list[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def test_it_keeps_to_the_laws_of_readers() -> None:
    assert broken_laws(git_ai, str(MADE), MADE.read_bytes()) == []


def test_a_note_is_known_by_its_document_with_a_list_of_lines_or_without(read_events: ReadEvents) -> None:
    whole = MADE.read_bytes()
    bare = whole.partition(b"---\n")[2]
    for head in (whole, bare, b"---\n" + bare):
        assert best_matches("/r/git-ai/8768c213", head[:60_000], adapters()) == ["git-ai"]
        assert conversations(head) == {"cursor/64e1552c": 5}
    assert git_ai.recognises("/r/note", b'{"schema_version": "other/1"}') == 0
    assert conversations(b"no note") == {}


def test_messages_are_steps_named_by_their_place(read_events: ReadEvents) -> None:
    events = read_events(git_ai, MADE)
    (opening,) = [event for event in events if isinstance(event, Opening)]
    assert (opening.session, opening.agent, opening.meta["model"]) == ("cursor/64e1552c", "git-ai", "gpt-5-codex")
    assert [(step.type, step.source_id) for step in steps(events)] == [
        ("user", "#0"),
        ("assistant", "#1"),
        ("tool_call", "#2"),
        ("assistant", "#3"),
    ]
    assert steps(events)[0].opens_request
    assert steps(events)[2].values["content.args"] == {"file_path": "/home/dev/words.txt"}


def test_what_has_no_conversation_is_counted(read_events: ReadEvents) -> None:
    assert sorted(event.kind for event in read_events(git_ai, MADE) if isinstance(event, Loss)) == [
        "lines_only",
        "unknown_zz",
    ]
