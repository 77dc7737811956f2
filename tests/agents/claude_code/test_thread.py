from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents import SourceFile
from tallystick.agents.claude_code import transcript as claude_code
from tallystick.agents.claude_code.thread import _MOST_HELD
from tallystick.model.step import Opening, Step
from tests.agents.claude_lines import (
    after,
    assistant,
    call,
    ids,
    progress,
    read,
    result,
    said,
    user,
)
from tests.agents.mutations import losses_of, pieces_of, steps_of


def test_the_last_line_of_a_message_says_its_usage() -> None:
    events = read(
        user("u", None, "do it"),
        assistant("a", "u", "first", output=1),
        assistant("b", "a", call("c1"), output=1),
        result("r", "b", "c1"),
        assistant("c", "r", call("c2"), output=40),
        result("q", "c", "c2"),
        assistant("d", "q", "done", of="m2", output=2),
    )
    assert [step.meta["tokens"]["output"] for step in steps_of(events, "model_call")] == [40, 2]
    assert ids(events) == ["u", "m1/usage", "a", "c1", "c2", "c1/result", "c2/result", "m2/usage", "d"]


def test_a_call_is_given_every_result_before_it() -> None:
    events = read(
        user("u", None, "do it"),
        assistant("a", "u", call("c1")),
        assistant("b", "a", call("c2")),
        result("q", "b", "c2"),
        result("r", "a", "c1"),
        assistant("c", "r", "done", of="m2"),
    )
    assert after(events, "c2/result") == ("c2",)
    assert after(events, "c1/result") == ("c2/result", "c1")
    assert after(events, "m2/usage") == ("c1/result",)


def test_a_rewound_conversation_branches() -> None:
    events = read(
        user("u", None, "one"),
        assistant("a", "u", "yes"),
        user("v", "a", "two"),
        assistant("b", "v", "no", of="m2"),
        user("w", "a", "two, but better"),
        assistant("c", "w", "fine", of="m3"),
    )
    assert after(events, "v") == after(events, "w") == ("a",)
    assert after(events, "m3/usage") == ("w",)


def test_a_line_follows_through_lines_that_are_no_event() -> None:
    bookkeeping = said("progress", "p", "a", data={"type": "hook_progress"})
    events = read(user("u", None, "one"), assistant("a", "u", "yes"), bookkeeping, user("v", "p", "two"))
    assert after(events, "v") == ("a",)
    assert losses_of(events) == {"progress": 1}


def test_a_line_whose_parent_is_missing_follows_nothing_in_particular() -> None:
    assert after(read(user("u", None, "one"), user("v", "lost", "two")), "v") == ()


def test_lines_without_parents_follow_one_another() -> None:
    lines = [user("u", None, "one"), assistant("a", None, "yes"), user("v", None, "two")]
    for line in lines:
        del line["parentUuid"]
    events = read(*lines)
    assert after(events, "m1/usage") == ("u",)
    assert after(events, "v") == ("a",)


def test_a_message_without_an_id_needs_none() -> None:
    line = assistant("a", "u", "I will", call("c1", "Write"))
    del line["message"]["id"], line["message"]["model"], line["message"]["usage"]
    events = read(user("u", None, "one"), line, result("r", "a", "c1"))
    assert ids(events) == ["u", "a/0", "c1", "c1/result"]


def test_a_message_is_not_held_back_for_ever() -> None:
    notes = [said("system", f"n{index}", "a", subtype="informational") for index in range(_MOST_HELD + 1)]
    reader = claude_code.reader(SourceFile("s.jsonl"))
    given = [len(list(reader.feed(json.dumps(line).encode(), 0))) for line in [assistant("a", None, "hm"), *notes]]
    assert given[:2] == [1, 0]  # the opening; then the message waits
    assert max(given) == _MOST_HELD + 2
    assert given[-1] == 1


WORDS = st.sampled_from(["a", "b", "c", "d"])
BLOCKS = (
    st.builds(lambda name: call(f"call-{name}", "Task", prompt=name), WORDS)
    | st.builds(lambda name: {"type": "tool_result", "tool_use_id": f"call-{name}", "content": name}, WORDS)
    | st.builds(lambda name: {"type": "text", "text": name}, WORDS)
)


@st.composite
def conversations(draw: st.DrawFn) -> list[bytes]:
    """Lines of a few conversations in any order: threads, side chains, compactions and repetitions mixed."""
    lines = []
    for number in range(draw(st.integers(1, 12))):
        parent = draw(st.none() | st.integers(0, number).map(str))
        members = {"isSidechain": draw(st.booleans()), "sessionId": draw(WORDS)}
        if draw(st.booleans()):
            members["agentId"] = draw(WORDS)
        uuid = draw(st.just(str(number)) | st.integers(0, number).map(str))
        blocks = draw(st.lists(BLOCKS, max_size=3))
        kind = draw(st.sampled_from(["user", "assistant", "boundary", "summary", "progress"]))
        if kind == "assistant":
            line = assistant(uuid, parent, *blocks, of=draw(WORDS), output=number, **members)
        elif kind == "boundary":
            line = said("system", uuid, parent, subtype="compact_boundary", **members)
        elif kind == "progress":
            line = progress(
                uuid, parent or "0", {"type": "assistant", "message": assistant("", None, *blocks)["message"]}
            )
        else:
            line = user(uuid, parent, blocks, isCompactSummary=kind == "summary", **members)
        lines.append(json.dumps(line).encode())
    return lines


@given(conversations())
def test_each_event_is_given_once_and_after_what_it_names(lines: list[bytes]) -> None:
    events = [event for piece in pieces_of(claude_code, lines, "s.jsonl") for event in piece]
    assert events == [event for piece in pieces_of(claude_code, lines, "s.jsonl") for event in piece]
    given_ids = ids(events)
    assert len(given_ids) == len(set(given_ids))
    opened: set[str] = set()
    for event in events:
        if isinstance(event, Opening):
            assert event.session not in opened
            opened.add(event.session)
        elif isinstance(event, Step):
            assert event.session in opened
            assert all(ref.session != event.session for ref in event.after)
