from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tallystick.plugins.anthropic import record_anthropic
from tallystick.recording.session import Session
from tests.plugins.clients import a_session, given, of_type
from tests.plugins.conftest import ModelServer, Turn

if TYPE_CHECKING:
    import anthropic

KEY = "sk-ant-test-0123456789"
TOOLS: Any = [{"name": "ls", "description": "Lists.", "input_schema": {"type": "object", "properties": {}}}]
LOOK = Turn(text="I look.", thinking="Where?", calls=(("toolu_1", "ls", {"path": "."}),))
ASKED: dict[str, Any] = {"model": "claude-test", "max_tokens": 100, "system": "Be brief."}
GO: list[Any] = [{"role": "user", "content": "What is here?"}]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with a_session(tmp_path / "store", key=KEY) as session:
        yield session


@pytest.fixture
def client(server: ModelServer, session: Session) -> Iterator[anthropic.Anthropic]:
    import anthropic

    original = anthropic.Anthropic(api_key=KEY, base_url=server.url, max_retries=0)
    yield record_anthropic(original, session)
    original.close()


def test_messages_with_tools_are_recorded_with_all_that_each_call_was_given(
    server: ModelServer, session: Session, client: Any
) -> None:
    server.say(LOOK, Turn(text="Two files."))
    messages = list(GO)
    answer = client.messages.create(**ASKED, messages=messages, tools=TOOLS)
    with session.tool_call("ls", {"path": "."}) as call:
        call.output = "a b"
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "a b"}]}
    messages += [{"role": "assistant", "content": answer.content}]
    messages += [{"role": "user", "content": [result, {"type": "text", "text": "Hurry."}]}]
    client.messages.create(**ASKED, messages=messages, tools=TOOLS)
    first, second = of_type(session, "model_call")
    before: list[Any] = [("system", TOOLS), ("system", "Be brief."), ("user", "What is here?")]
    said = [("assistant", "Where?"), ("assistant", "I look."), ("tool_call", {"path": "."}), ("tool_result", "a b")]
    assert given(session, first) == before
    assert given(session, second) == [*before, *said, ("user", "Hurry.")]
    assert [step.type for step in session].count("tool_result") == 1
    assert first.meta["tokens"] == {"input": 30, "output": 20, "cache_read": 60, "cache_write": 10}
    assert (first.meta["source_id"], first.meta["stop_reason"]) == ("id1/usage", "tool_use")
    assert [step.meta.get("origin") for step in of_type(session, "user")] == [None, "injected"]


def test_a_failed_tool_is_told_as_failed(server: ModelServer, session: Session, client: Any) -> None:
    server.say(Turn(text="Sorry."))
    result = {"type": "tool_result", "tool_use_id": "toolu_9", "content": "no such file", "is_error": True}
    call = {"type": "tool_use", "id": "toolu_9", "name": "cat", "input": {}}
    messages = [*GO, {"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    client.messages.create(**ASKED, messages=messages)
    [step] = of_type(session, "tool_result")
    assert (step.meta["success"], step.meta["tool"], step.text("content.output")) == (False, "cat", "no such file")


def test_streams_and_the_stream_helper_are_recorded_as_if_they_had_come_whole(
    server: ModelServer, session: Session, client: Any
) -> None:
    server.say(LOOK, Turn(text="with the helper"))
    kinds = [event.type for event in client.messages.create(**ASKED, messages=GO, stream=True)]
    assert kinds[-1] == "message_stop"
    with client.messages.stream(**ASKED, messages=GO) as stream:
        assert stream.get_final_text() == "with the helper"
    first, second = of_type(session, "model_call")
    assert first.meta["tokens"] == {"input": 30, "output": 20, "cache_read": 60, "cache_write": 10}
    assert (first.meta["stop_reason"], second.meta["stop_reason"]) == ("tool_use", "end_turn")
    assert of_type(session, "tool_call")[0].values["content.args"] == {"path": "."}
    said = [next(iter(step.values.values())) for step in of_type(session, "assistant")]
    assert said == ["Where?", "I look.", "with the helper"]


def test_a_stream_that_is_left_early_is_recorded_as_far_as_it_came(
    server: ModelServer, session: Session, client: Any
) -> None:
    server.say(Turn(text="a long answer"), Turn(text="another long answer", cut=True))
    with client.messages.stream(**ASKED, messages=GO) as stream:
        for text in stream.text_stream:
            assert text == "a lo"
            break
    with pytest.raises(Exception, match="peer closed"):
        list(client.messages.create(**ASKED, messages=GO, stream=True))
    calls = of_type(session, "model_call")
    assert [call.meta.get("interrupted") for call in calls] == [True, True]
    assert [call.meta.get("success") for call in calls] == [None, False]
    said = [str(step.text("content.text")) for step in of_type(session, "assistant")]
    assert said[0] == "a lo"
    assert said[1]
    assert "another long answer".startswith(said[1])


def test_a_refused_call_is_recorded_without_the_key(server: ModelServer, session: Session, client: Any) -> None:
    import anthropic

    server.say(Turn(status=401))
    with pytest.raises(anthropic.AuthenticationError, match=KEY):
        client.messages.create(**ASKED, messages=GO, extra_headers={"X-Other": KEY})
    [call] = of_type(session, "model_call")
    assert call.meta["success"] is False
    assert "<withheld>" in str(call.text("content.error"))


def test_counting_tokens_is_no_model_call(server: ModelServer, session: Session, client: Any) -> None:
    import anthropic

    with pytest.raises(anthropic.NotFoundError):
        client.messages.count_tokens(model="claude-test", messages=GO)
    assert len(list(session)) == 1


def test_an_asynchronous_client_is_recorded_streams_and_raw_answers_too(server: ModelServer, session: Session) -> None:
    import anthropic

    async def run() -> None:
        async with anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0) as original:
            client = record_anthropic(original, session)
            await client.messages.create(**ASKED, messages=GO)
            async for _ in await client.messages.create(**ASKED, messages=GO, stream=True):
                pass
            async with client.messages.stream(**ASKED, messages=GO) as stream:
                assert await stream.get_final_text() == "three"
            raw = await client.messages.with_raw_response.create(**ASKED, messages=GO)
            assert (await raw.parse()).content[0].text == "four"
            with pytest.raises(anthropic.AuthenticationError):
                await client.messages.create(**ASKED, messages=GO)

    server.say(*[Turn(text=text) for text in ("one", "two", "three", "four")], Turn(status=401))
    asyncio.run(run())
    assert [step.text("content.text") for step in of_type(session, "assistant")] == ["one", "two", "three", "four"]
    assert [call.meta.get("success") for call in of_type(session, "model_call")] == [None] * 4 + [False]
    assert len(of_type(session, "user")) == 1
