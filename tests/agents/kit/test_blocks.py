from __future__ import annotations

import pytest

from tallystick.agents.kit.blocks import events_of_blocks
from tallystick.agents.kit.conversation import Conversation
from tallystick.model.step import Json, Loss, Step


def kinds(role: str, content: Json) -> list[str]:
    found = events_of_blocks(Conversation("made", "s"), "m", role, content)
    return [event.type if isinstance(event, Step) else getattr(event, "kind", "?") for event in found]


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "text", "text": "a"}, "assistant"),
        ({"type": "thinking", "thinking": "a"}, "assistant"),
        ({"type": "tool_use", "name": "Read"}, "tool_call"),
        ({"type": "tool_result"}, "tool_result"),
        ({"type": "image"}, "assistant"),
        ({"type": "zz"}, "unknown_zz"),
        (7, "unknown_kind"),
    ],
)
def test_each_block_is_a_step_or_a_loss(block: Json, kind: str) -> None:
    assert kinds("assistant", [block]) == [kind]


def test_text_alone_is_a_block_and_nothing_is_a_loss() -> None:
    assert kinds("user", "hello") == ["user"]
    assert kinds("user", []) == kinds("user", None) == ["empty_message"]


def test_a_message_is_one_request_and_a_result_says_whether_it_failed() -> None:
    talk = Conversation("made", "s")
    blocks = [{"type": "text"}, {"type": "text"}, {"type": "tool_result", "is_error": True}]
    found = [event for event in events_of_blocks(talk, "m", "user", blocks, ts="t") if not isinstance(event, Loss)]
    steps = [event for event in found if isinstance(event, Step)]
    assert [step.opens_request for step in steps] == [True, False, False]
    assert (steps[2].meta["success"], steps[2].ts) == (False, "t")
