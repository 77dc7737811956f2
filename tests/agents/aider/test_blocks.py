from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.aider.blocks import Block, Kind, blocks_of

CHAT = "\n# aider chat started at 2026-11-22 03:21:20\n\n"
WORDS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1, max_size=12)
LINES = st.one_of(
    WORDS,
    st.sampled_from(
        ["", "  ", "> q", "> q  ", ">  ", "#### h", "#### h  ", CHAT.strip(), "> Tokens: 1 sent, 2 received."]
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
    text = CHAT + "> Aider v0.86.2  \n" + typed("One", "two") + answered("Three.\n\n    four") + "> Tokens: 1 sent.  \n"
    assert blocks(text) == [
        (Kind.CHAT, "2026-11-22 03:21:20"),
        (Kind.NOTE, "Aider v0.86.2"),
        (Kind.TYPED, "One\ntwo"),
        (Kind.ANSWER, "Three.\n\n    four"),
        (Kind.NOTE, "Tokens: 1 sent."),
    ]


def test_marks_that_a_model_writes_are_its_own_text() -> None:
    answer = "Look:\n\n> a quotation\n\n#### A heading\n\n# A title\n> more  \nend"
    assert blocks(CHAT + typed("Hi") + answered(answer) + "> Tokens: 1 sent.  \n")[2] == (Kind.ANSWER, answer)


def test_a_note_of_several_lines_is_one_note() -> None:
    error = "> # 1 block failed to match!\n\n## Where\n<<<<<<< SEARCH\nno\n>>>>>>> REPLACE\n\nIt must match  \n"
    found = blocks(CHAT + typed("Hi") + answered("So.") + "> The LLM did not conform.  \n" + error + answered("Again."))
    assert found[3:] == [
        (Kind.NOTE, "The LLM did not conform."),
        (Kind.NOTE, "# 1 block failed to match!\n\n## Where\n<<<<<<< SEARCH\nno\n>>>>>>> REPLACE\n\nIt must match"),
        (Kind.ANSWER, "Again."),
    ]


def test_usage_of_two_lines_is_one_note() -> None:
    usage = "> Tokens: 1 sent, 2 cache write, 3 cache hit, 4 received.\nCost: $0.01 message, $0.01 session.  \n"
    assert blocks(answered("So.") + usage)[1] == (Kind.NOTE, usage[2:-3])


def test_a_command_line_with_a_line_end_is_one_note() -> None:
    assert blocks(CHAT + "> aider --message a\nb  \n" + typed("a", "b"))[1:] == [
        (Kind.NOTE, "aider --message a\nb"),
        (Kind.TYPED, "a\nb"),
    ]


def test_a_note_that_never_ended_stops_where_something_is_typed_or_a_chat_starts() -> None:
    assert [kind for kind, _ in blocks(CHAT + "> cut" + "\n" + typed("Hi"))] == [Kind.CHAT, Kind.NOTE, Kind.TYPED]
    assert [kind for kind, _ in blocks(CHAT + "> cut" + "\n" + CHAT)] == [Kind.CHAT, Kind.NOTE, Kind.CHAT]


def test_line_ends_of_windows_make_no_difference() -> None:
    text = CHAT + "> Note  \n" + typed("One", "two") + answered("Three.")
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
    text, expected = CHAT, [Block(Kind.CHAT, "2026-11-22 03:21:20")]
    for prompt, answer in turns:
        lines = [f"x{line}" for line in answer]
        text += typed(*prompt) + answered("\n\n".join(lines)) + "> Tokens: 1 sent, 2 received.  \n"
        expected.append(Block(Kind.TYPED, "\n".join(prompt)))
        expected.append(Block(Kind.ANSWER, "\n\n".join(lines)))
        expected.append(Block(Kind.NOTE, "Tokens: 1 sent, 2 received."))
    assert list(blocks_of(text)) == expected
