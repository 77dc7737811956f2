from __future__ import annotations

from typing import Any

from tallystick.recording.messages import parsed, plain_text, said_of, words
from tallystick.recording.model_inputs import Said
from tests.support.cases import each


def test_a_conversation_is_read_message_by_message() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}
    own = Said(type="user", values={"content.text": "ours"})
    said = list(
        said_of(
            [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "What"}, {"type": "text", "text": "is here?"}]},
                {"role": "assistant", "content": "I look.", "reasoning_content": "Where?", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "a b"},
                own,
                "bare",
            ]
        )
    )
    kinds = ["system", "user", "assistant", "assistant", "tool_call", "tool_result", "user", "user"]
    assert [item.type for item in said] == kinds
    assert said[0].meta == {"role": "developer"}
    assert said[1].values == {"content.text": "What\nis here?"}
    assert (said[4].values, said[4].source_id) == ({"content.args": {"path": "."}}, "c1")
    assert (said[5].values, said[5].source_id) == ({"content.output": "a b"}, "c1/result")
    assert said[6] is own


def test_pictures_stay_beside_the_text() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert words([{"type": "text", "text": "Look:"}, picture]) == {"content.text": "Look:", "content.blocks": [picture]}
    assert plain_text([picture]) == [picture]


@each("message", [{}, {"role": "user"}, {"role": "assistant", "content": None}, {"role": "tool"}])
def test_messages_that_say_nothing_do_no_harm(message: dict[str, Any]) -> None:
    assert all(isinstance(said, Said) for said in said_of([message]))


def test_arguments_that_are_no_json_stay_text() -> None:
    assert [parsed('{"a": 1}'), parsed("{"), parsed({"a": 1}), parsed(None)] == [{"a": 1}, "{", {"a": 1}, None]
