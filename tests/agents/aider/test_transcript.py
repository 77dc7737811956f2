from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents import SourceFile
from tallystick.agents.aider import transcript as aider
from tallystick.agents.aider.transcript import Block, Kind, blocks_of
from tallystick.model.step import Event, Input, Loss, Opening, Step
from tests.agents.conftest import ReadEvents
from tests.support.shown import shown

RECORDING = next((Path(__file__).parents[2] / "recordings" / "aider").glob("*/project/.aider.chat.history.md"))
CHAT = (
    "\n# aider chat started at 2026-11-22 03:21:20\n\n> Aider v0.86.2  \n> Main model: x/m-1 with diff edit format  \n"
)


def fed(text: str | bytes, path: str = "/home/dev/project/.aider.chat.history.md") -> list[Event]:
    reader = aider.reader(SourceFile(path))
    return [*reader.feed(text if isinstance(text, bytes) else text.encode(), 0), *reader.finish()]


def steps(events: Sequence[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def noted(*lines: str) -> list[Step]:
    """The steps of notes after a prompt, those of the opening left out."""
    return steps(fed(CHAT + "\n#### Hi  \n" + "".join(f"> {line}  \n" for line in lines)))[2:]


def test_the_recording_gives_these_events(read_events: ReadEvents) -> None:
    events = read_events(aider, RECORDING)
    assert Counter(step.type for step in steps(events)) == {
        "user": 8,
        "model_call": 6,
        "assistant": 6,
        "file_effect": 7,
        "permission": 5,
        "process": 1,
        "system": 9,
    }
    assert [event for event in events if isinstance(event, Loss)] == []
    openings = [event for event in events if isinstance(event, Opening)]
    assert [opening.session for opening in openings] == [
        "project/2026-11-22T03:21:20",
        "project/2026-11-22T03:21:26",
    ]
    assert openings[0].ts == "2026-11-22 03:21:20"
    assert openings[0].meta == {"agent_version": "0.86.2", "model": "openai/fake-model", "edit_format": "diff"}
    assert read_events(aider, RECORDING) == events


def test_the_recording_shows_what_was_edited_committed_undone_and_run(read_events: ReadEvents) -> None:
    found = steps(read_events(aider, RECORDING))
    effects = [(dict(step.meta), dict(step.values)) for step in found if step.type == "file_effect"]
    fixed = {"content.text": "fix: close the bracket"}
    assert [meta for meta, _ in effects] == [
        {"action": "edit"},
        {"scope": "commit", "commit": "5cd5add"},
        {"action": "edit"},
        {"scope": "commit", "commit": "193ed75"},
        {"scope": "undo", "commit": "193ed75"},
        {"action": "edit"},
        {"scope": "commit", "commit": "a14846a"},
    ]
    assert effects[0][1] == {"content.path": "stock.py"}
    assert effects[3][1] == effects[4][1] == fixed
    [process] = [step for step in found if step.type == "process"]
    assert shown(process.values["content.args"])["command"].startswith("python3 -c ")


def test_an_answer_keeps_its_indentation_and_its_own_marks(read_events: ReadEvents) -> None:
    said = [
        shown(step.values["content.text"]) for step in steps(read_events(aider, RECORDING)) if step.type == "assistant"
    ]
    assert "    indented, and kept so" in said[1]
    assert said[2] == "It counts every shelf.\n\n> a quotation\n\n#### A heading\n\n# A title"


def test_what_a_person_typed_is_a_request_and_what_a_command_repeats_is_not(read_events: ReadEvents) -> None:
    found = [step for step in steps(read_events(aider, RECORDING)) if step.type == "user"]
    assert [(step.values["content.text"], dict(step.meta), step.opens_request) for step in found] == [
        ("The stock does not add up.", {}, True),
        ("/run python3 test_stock.py", {"command": "run"}, True),
        ("/ask Why was it wrong?", {"command": "ask"}, True),
        ("Why was it wrong?", {"origin": "command"}, False),
        ("Take the last line out.", {}, True),
        ("/undo", {"command": "undo"}, True),
        ("/exit", {"command": "exit"}, True),
        ("Write a note\nin two lines", {}, True),
    ]


def test_usage_stands_on_the_call_before_its_answer() -> None:
    events = steps(fed(CHAT + "\n#### Hi  \n\nSo.\n\n> Tokens: 1.2k sent, 20 received.  \n\nOn.\n\n"))
    assert [(step.type, step.source_id) for step in events] == [
        ("system", "#0"),
        ("user", "#1"),
        ("model_call", "#2/usage"),
        ("assistant", "#2/1"),
        ("model_call", "#3/usage"),
        ("assistant", "#3/1"),
    ]
    assert events[2].meta == {"model": "x/m-1", "tokens": {"input": 1200, "output": 20}, "approximate": True}
    assert events[4].meta == {"model": "x/m-1"}
    assert {step.input for step in events if step.type == "model_call"} == {Input.HIDDEN}


def test_usage_with_a_cache_and_a_cost_is_counted_without_what_the_cache_gave() -> None:
    line = "Tokens: 900 sent, 200 cache write, 300 cache hit, 50 received.\nCost: $0.0012 message, $1.20 session."
    [call] = noted(line)
    tokens = {"input": 400, "output": 50, "cache_read": 300, "cache_write": 200}
    assert call.meta == {"model": "x/m-1", "tokens": tokens, "cost_microusd": 1200}


def test_a_question_is_a_permission_with_its_answer() -> None:
    asked = noted(
        "Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: d", "Edit? (Y)es/(N)o/(A)ll/(S)kip all [No]: a"
    )
    assert [(step.meta["decision"], step.values["content.text"]) for step in asked] == [
        ("deny", "Run shell command?"),
        ("allow", "Edit?"),
    ]


def test_a_model_that_is_changed_is_that_of_the_calls_after_it() -> None:
    text = (
        CHAT
        + "\n#### Hi  \n\nA\n\n\n#### /model m-2  \n> Main model: x/m-2 with whole edit format  \n\n#### Go  \n\nB\n\n"
    )
    assert [step.meta["model"] for step in steps(fed(text)) if step.type == "model_call"] == ["x/m-1", "x/m-2"]


def test_thinking_is_told_from_the_answer() -> None:
    tag = "thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b"
    found = steps(fed(CHAT + f"\n#### Hi  \n\n<{tag}>\nWhy?\n</{tag}>\n\nSo.\n\n"))[-2:]
    assert [(step.source_id, dict(step.values)) for step in found] == [
        ("#2/0", {"content.thinking": "Why?"}),
        ("#2/1", {"content.text": "So."}),
    ]


def test_two_chats_that_start_in_one_second_are_two_sessions() -> None:
    sessions = [event.session for event in fed(CHAT + CHAT) if isinstance(event, Opening)]
    assert sessions == ["project/2026-11-22T03:21:20", "project/2026-11-22T03:21:20.2"]


def test_a_history_whose_beginning_is_gone_is_read_too() -> None:
    events = fed("#### Hi  \n\nSo.\n")
    assert isinstance(events[0], Opening)
    assert [step.type for step in steps(events)] == ["user", "model_call", "assistant"]


def test_a_history_that_grows_keeps_what_it_said() -> None:
    data = RECORDING.read_text(encoding="utf-8")
    before = {(step.session, step.source_id, step.type) for step in steps(fed(data[: data.rindex("> Tokens")]))}
    after = {(step.session, step.source_id, step.type) for step in steps(fed(data))}
    assert before < after


def test_bytes_that_are_no_text_are_told() -> None:
    events = fed(CHAT.encode() + b"\n#### \xff  \n")
    assert [event.kind for event in events if isinstance(event, Loss)] == ["bad_text"]
    assert steps(events)[-1].values == {"content.text": "\ufffd"}


def test_a_history_is_known_by_its_name_or_by_its_beginning() -> None:
    assert aider.recognises("/x/.aider.chat.history.md", b"> cut")
    assert aider.recognises("/x/copy.md", CHAT.encode())
    assert not aider.recognises("/x/README.md", b"# A project\n")
    assert not aider.recognises("/x/.aider.chat.history.md", b"\n")


@given(st.data())
def test_a_damaged_history_never_raises(data: st.DataObject) -> None:
    lines = RECORDING.read_bytes().split(b"\n")
    place = data.draw(st.integers(0, len(lines) - 1))
    lines[place] = data.draw(
        st.binary(max_size=30) | st.sampled_from([b"", b"> ", b"#### ", b"> Tokens: 1.1.1k sent, 0 received.  "])
    )
    first = fed(b"\n".join(lines))
    assert first == fed(b"\n".join(lines))
    assert first


CHAT_blocks = "\n# aider chat started at 2026-11-22 03:21:20\n\n"
WORDS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1, max_size=12)
LINES = st.one_of(
    WORDS,
    st.sampled_from(
        ["", "  ", "> q", "> q  ", ">  ", "#### h", "#### h  ", CHAT_blocks.strip(), "> Tokens: 1 sent, 2 received."]
    ),
)


def blocks(text: str) -> list[tuple[Kind, str]]:
    return [(block.kind, block.text) for block in blocks_of(text)]


def typed(*lines: str) -> str:
    """As aider writes what was typed."""
    return "\n#### " + "  \n#### ".join(lines) + "  \n"


def answered(text: str) -> str:
    """As aider writes an answer."""
    return f"\n{text.strip()}\n\n"


def test_a_chat_is_told_apart_into_what_aider_wrote() -> None:
    text = (
        CHAT_blocks
        + "> Aider v0.86.2  \n"
        + typed("One", "two")
        + answered("Three.\n\n    four")
        + "> Tokens: 1 sent.  \n"
    )
    assert blocks(text) == [
        (Kind.CHAT, "2026-11-22 03:21:20"),
        (Kind.NOTE, "Aider v0.86.2"),
        (Kind.TYPED, "One\ntwo"),
        (Kind.ANSWER, "Three.\n\n    four"),
        (Kind.NOTE, "Tokens: 1 sent."),
    ]


def test_marks_that_a_model_writes_are_its_own_text() -> None:
    answer = "Look:\n\n> a quotation\n\n#### A heading\n\n# A title\n> more  \nend"
    assert blocks(CHAT_blocks + typed("Hi") + answered(answer) + "> Tokens: 1 sent.  \n")[2] == (Kind.ANSWER, answer)


def test_a_note_of_several_lines_is_one_note() -> None:
    error = "> # 1 block failed to match!\n\n## Where\n<<<<<<< SEARCH\nno\n>>>>>>> REPLACE\n\nIt must match  \n"
    found = blocks(
        CHAT_blocks + typed("Hi") + answered("So.") + "> The LLM did not conform.  \n" + error + answered("Again.")
    )
    assert found[3:] == [
        (Kind.NOTE, "The LLM did not conform."),
        (Kind.NOTE, "# 1 block failed to match!\n\n## Where\n<<<<<<< SEARCH\nno\n>>>>>>> REPLACE\n\nIt must match"),
        (Kind.ANSWER, "Again."),
    ]


def test_usage_of_two_lines_is_one_note() -> None:
    usage = "> Tokens: 1 sent, 2 cache write, 3 cache hit, 4 received.\nCost: $0.01 message, $0.01 session.  \n"
    assert blocks(answered("So.") + usage)[1] == (Kind.NOTE, usage[2:-3])


def test_a_command_line_with_a_line_end_is_one_note() -> None:
    assert blocks(CHAT_blocks + "> aider --message a\nb  \n" + typed("a", "b"))[1:] == [
        (Kind.NOTE, "aider --message a\nb"),
        (Kind.TYPED, "a\nb"),
    ]


def test_a_note_that_never_ended_stops_where_something_is_typed_or_a_chat_starts() -> None:
    assert [kind for kind, _ in blocks(CHAT_blocks + "> cut" + "\n" + typed("Hi"))] == [
        Kind.CHAT,
        Kind.NOTE,
        Kind.TYPED,
    ]
    assert [kind for kind, _ in blocks(CHAT_blocks + "> cut" + "\n" + CHAT_blocks)] == [Kind.CHAT, Kind.NOTE, Kind.CHAT]


def test_line_ends_of_windows_make_no_difference() -> None:
    text = CHAT_blocks + "> Note  \n" + typed("One", "two") + answered("Three.")
    assert blocks(text.replace("\n", "\r\n")) == blocks(text)


@given(st.lists(LINES, max_size=20))
def test_every_line_is_in_a_block(lines: list[str]) -> None:
    found = list(blocks_of("\n".join(lines)))
    said = "\n".join(block.text for block in found)
    for line in lines:
        words = line.removeprefix("####").removeprefix(">").removeprefix("# aider chat started at").strip()
        assert words in said


@given(
    st.lists(st.tuples(st.lists(WORDS, min_size=1, max_size=3), st.lists(WORDS, min_size=1, max_size=3)), max_size=4)
)
def test_what_aider_writes_is_read_back(turns: list[tuple[list[str], list[str]]]) -> None:
    text, expected = CHAT_blocks, [Block(Kind.CHAT, "2026-11-22 03:21:20")]
    for prompt, answer in turns:
        lines = [f"x{line}" for line in answer]
        text += typed(*prompt) + answered("\n\n".join(lines)) + "> Tokens: 1 sent, 2 received.  \n"
        expected.append(Block(Kind.TYPED, "\n".join(prompt)))
        expected.append(Block(Kind.ANSWER, "\n\n".join(lines)))
        expected.append(Block(Kind.NOTE, "Tokens: 1 sent, 2 received."))
    assert list(blocks_of(text)) == expected
