from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tallystick.plugins.openai import record_openai
from tallystick.recording.session import Session
from tests.plugins.clients import a_session, given, of_type
from tests.plugins.conftest import ModelServer, Turn

if TYPE_CHECKING:
    import openai

KEY = "sk-test-0123456789abcdef"
TOOLS: Any = [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}}}]
LOOK = Turn(text="I look.", calls=(("call_1", "ls", {"path": "."}),))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with a_session(tmp_path / "store", key=KEY) as session:
        yield session


@pytest.fixture
def client(server: ModelServer, session: Session) -> Iterator[openai.OpenAI]:
    import openai

    original = openai.OpenAI(api_key=KEY, base_url=server.url, max_retries=0)
    yield record_openai(original, session)
    original.close()


def test_a_chat_is_recorded_with_all_that_each_call_was_given(
    server: ModelServer, session: Session, client: Any
) -> None:
    server.say(LOOK, Turn(text="Two files."))
    messages: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is here?"}]
    answer = client.chat.completions.create(model="gpt-test", messages=messages, tools=TOOLS, temperature=0.5)
    assert answer.choices[0].message.tool_calls[0].function.name == "ls"
    with session.tool_call("ls", {"path": "."}) as call:
        call.output = ["a", "b"]
    messages += [answer.choices[0].message, {"role": "tool", "tool_call_id": "call_1", "content": '["a", "b"]'}]
    client.chat.completions.create(model="gpt-test", messages=messages, tools=TOOLS)
    first, second = of_type(session, "model_call")
    before: list[Any] = [("system", TOOLS), ("system", "Be brief."), ("user", "What is here?")]
    assert given(session, first) == before
    after = [("assistant", "I look."), ("tool_call", {"path": "."}), ("tool_result", ["a", "b"])]
    assert given(session, second) == before + after
    assert [step.type for step in session].count("tool_call") == 1
    assert first.values["content.settings"] == {"temperature": 0.5}
    assert first.meta["tokens"] == {"input": 30, "output": 20, "cache_read": 60, "cache_write": 10, "reasoning": 5}
    assert (first.meta["model"], first.meta["stop_reason"]) == ("gpt-test-1", "tool_calls")
    assert second.meta["request"] == of_type(session, "user")[0].n


def test_a_result_that_the_program_changed_on_its_way_to_the_model_stands_beside_it(
    server: ModelServer, session: Session, client: Any
) -> None:
    server.say(LOOK, Turn(text="ok"))
    messages: list[Any] = [{"role": "user", "content": "go"}]
    answer = client.chat.completions.create(model="gpt-test", messages=messages)
    with session.tool_call("ls", {"path": "."}) as call:
        call.output = "a long list"
    messages += [answer.choices[0].message, {"role": "tool", "tool_call_id": "call_1", "content": "a l…"}]
    client.chat.completions.create(model="gpt-test", messages=messages)
    own, told = of_type(session, "tool_result")
    assert (told.meta["revises"], told.text("content.output")) == (own.n, "a l…")
    assert given(session, of_type(session, "model_call")[1])[-1] == ("tool_result", "a l…")


def test_the_same_words_said_twice_are_two_steps(server: ModelServer, session: Session, client: Any) -> None:
    server.say(Turn(text="yes"), Turn(text="yes"), Turn(text="yes"))
    messages: list[Any] = []
    for _ in range(3):
        messages.append({"role": "user", "content": "go on"})
        answer = client.chat.completions.create(model="gpt-test", messages=messages)
        messages.append(answer.choices[0].message)
    assert len(of_type(session, "user")) == len(of_type(session, "assistant")) == 3
    assert [word for _, word in given(session, of_type(session, "model_call")[2])] == ["go on", "yes"] * 2 + ["go on"]


def test_an_old_message_may_come_after_a_new_one(server: ModelServer, session: Session, client: Any) -> None:
    server.say(Turn(text="one"), Turn(text="two"))
    client.chat.completions.create(model="gpt-test", messages=[{"role": "user", "content": "question"}])
    messages: list[Any] = [{"role": "system", "content": "new"}, {"role": "user", "content": "question"}]
    client.chat.completions.create(model="gpt-test", messages=messages)
    assert given(session, of_type(session, "model_call")[1]) == [("system", "new"), ("user", "question")]


def test_a_streamed_chat_is_recorded_as_one_that_came_whole(server: ModelServer, session: Session, client: Any) -> None:
    import openai

    server.say(LOOK, LOOK)
    asked: dict[str, Any] = {"model": "gpt-test", "messages": [{"role": "user", "content": "go"}]}
    stream = client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    assert isinstance(stream, openai.Stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    assert text == "I look."
    with client.chat.completions.stream(**asked) as helped:
        assert helped.get_final_completion().choices[0].message.content == text
    for call in of_type(session, "model_call"):
        assert call.meta["stop_reason"] == "tool_calls"
    assert [step.text("content.text") for step in of_type(session, "assistant")] == ["I look.", "I look."]
    assert of_type(session, "tool_call")[0].values["content.args"] == {"path": "."}
    assert of_type(session, "model_call")[0].meta["tokens"]["cache_read"] == 60


def test_a_stream_that_is_closed_dropped_or_cut_is_recorded_as_far_as_it_came(
    server: ModelServer, session: Session, client: Any
) -> None:
    import openai

    server.say(Turn(text="a long answer"), Turn(text="b long answer"), Turn(text="c long answer", cut=True))
    asked: dict[str, Any] = {"model": "gpt-test", "messages": [{"role": "user", "content": "go"}], "stream": True}
    with client.chat.completions.create(**asked) as stream:
        next(stream), next(stream)
    assert of_type(session, "model_call")[-1].meta["interrupted"] is True
    stream = client.chat.completions.create(**asked)
    next(stream), next(stream), next(stream)
    del stream
    gc.collect()
    with pytest.raises(openai.APIConnectionError):
        list(client.chat.completions.create(**asked))
    assert len(of_type(session, "model_call")) == 3
    said = [step.text("content.text") for step in of_type(session, "assistant")]
    assert said[:2] == ["a lo", "b long a"]
    assert str(said[2]).startswith("c lo")
    assert "APIConnectionError" in str(of_type(session, "model_call")[2].text("content.error"))


def test_a_refused_call_is_recorded_without_the_key_that_the_server_sent_back(
    server: ModelServer, session: Session, client: Any
) -> None:
    import openai

    server.say(Turn(status=401))
    with pytest.raises(openai.AuthenticationError, match=KEY):
        client.chat.completions.create(
            model="gpt-test",
            messages=[{"role": "user", "content": "go"}],
            extra_headers={"X-Other": KEY},
            extra_body={"my_key": KEY},
        )
    [call] = of_type(session, "model_call")
    assert call.meta["success"] is False
    assert str(call.text("content.error")).startswith(
        "AuthenticationError: Error code: 401 - no such key: Bearer <with"
    )
    assert given(session, call) == [("user", "go")]


def test_tools_of_remote_servers_are_recorded_without_what_gives_access(
    server: ModelServer, session: Session, client: Any
) -> None:
    server.say(Turn(text="ok"))
    tool: Any = {"type": "mcp", "server_label": "x", "authorization": KEY, "headers": {"Authorization": KEY}}
    client.responses.create(model="gpt-test", input="go", tools=[tool])
    assert json.loads(json.dumps(server.requests[0][2]))["tools"][0]["authorization"] == KEY
    [tools] = [step.values["content.tools"] for step in of_type(session, "system")]
    assert tools == [{"type": "mcp", "server_label": "x", "authorization": "<withheld>", "headers": "<withheld>"}]


def test_responses_are_recorded_and_what_they_go_on_from_is_found(
    server: ModelServer, session: Session, client: Any
) -> None:
    asked = Turn(text="I look.", thinking="Where?", calls=(("call_1", "ls", {}),))
    server.say(asked, Turn(text="Two."), Turn(text="Three."))
    first = client.responses.create(model="gpt-test", input="What is here?", instructions="Be brief.")
    output = {"type": "function_call_output", "call_id": "call_1", "output": "a b"}
    client.responses.create(model="gpt-test", previous_response_id=first.id, input=[output])
    client.responses.create(model="gpt-test", previous_response_id="resp_of_another_process", input="more")
    calls = of_type(session, "model_call")
    said = [("assistant", "Where?"), ("assistant", "I look."), ("tool_call", {}), ("tool_result", "a b")]
    assert given(session, calls[0]) == [("system", "Be brief."), ("user", "What is here?")]
    assert given(session, calls[1]) == [("user", "What is here?"), *said]
    assert calls[2].meta["input"] == "not-visible"
    assert calls[0].meta["tokens"] == {"input": 40, "output": 20, "cache_read": 60, "cache_write": 0, "reasoning": 5}
    assert [step.meta["source_id"] for step in of_type(session, "assistant")][:2] == ["rs_id1", "msg_id1"]
    assert of_type(session, "tool_result")[0].meta["tool"] == "ls"


def test_responses_given_back_as_items_are_the_steps_they_were(
    server: ModelServer, session: Session, client: Any
) -> None:
    server.say(Turn(text="I look.", thinking="Where?", calls=(("call_1", "ls", {}),)), Turn(text="Two."))
    items: list[Any] = [{"role": "user", "content": "What is here?"}]
    first = client.responses.create(model="gpt-test", input=items)
    items += [*first.output, {"type": "function_call_output", "call_id": "call_1", "output": "a b"}]
    client.responses.create(model="gpt-test", input=items)
    assert len(given(session, of_type(session, "model_call")[1])) == 5
    assert len(of_type(session, "assistant")) == 3


def test_streamed_responses_are_recorded(server: ModelServer, session: Session, client: Any) -> None:
    server.say(Turn(text="all of it"), Turn(text="some of it"), Turn(text="with the helper"))
    events = [event.type for event in client.responses.create(model="gpt-test", input="go", stream=True)]
    assert events[-1] == "response.completed"
    with client.responses.create(model="gpt-test", input="go", stream=True) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                break
    with client.responses.stream(model="gpt-test", input="go") as helped:
        assert helped.get_final_response().output_text == "with the helper"
    said = [step.text("content.text") for step in of_type(session, "assistant")]
    assert said == ["all of it", "some", "with the helper"]


def test_raw_responses_and_copies_of_the_client_are_recorded_too(
    server: ModelServer, session: Session, client: Any
) -> None:
    server.say(Turn(text="raw"), Turn(text="copied"), Turn(text="unseen"))
    asked: dict[str, Any] = {"model": "gpt-test", "messages": [{"role": "user", "content": "go"}]}
    raw = client.chat.completions.with_raw_response.create(**asked)
    assert raw.parse().choices[0].message.content == "raw"
    client.with_options(timeout=5).chat.completions.create(**asked)
    with client.chat.completions.with_streaming_response.create(**asked) as response:
        assert b"unseen" in response.read()
    assert [step.text("content.text") for step in of_type(session, "assistant")] == ["raw", "copied"]
    assert of_type(session, "model_call")[2].meta["output"] == "not-visible"


def test_the_client_that_was_handed_in_is_left_as_it_is(server: ModelServer, session: Session) -> None:
    import openai

    with openai.OpenAI(api_key=KEY, base_url=server.url, max_retries=0) as original:
        record_openai(original, session)
        server.say(Turn(text="ok"))
        original.chat.completions.create(model="gpt-test", messages=[{"role": "user", "content": "go"}])
    assert of_type(session, "model_call") == []
    with pytest.raises(TypeError, match="is not a client"):
        record_openai(object(), session)


def test_calls_are_recorded_in_the_session_that_is_current(server: ModelServer, session: Session) -> None:
    import openai

    with openai.OpenAI(api_key=KEY, base_url=server.url, max_retries=0) as original:
        client: Any = record_openai(original)
        asked: dict[str, Any] = {"model": "gpt-test", "messages": [{"role": "user", "content": "go"}]}
        server.say(Turn(text="nobody"), Turn(text="parent"), Turn(text="child"))
        client.chat.completions.create(**asked)
        with session.attached():
            client.chat.completions.create(**asked)
            with session.subagent("helper", "find it") as child:
                client.chat.completions.create(**asked)
    assert [step.text("content.text") for step in of_type(session, "assistant")] == ["parent"]
    assert [step.text("content.text") for step in of_type(child, "assistant")] == ["child"]
    assert [step.meta.get("origin") for step in of_type(child, "user")] == ["parent", "parent"]


def test_an_asynchronous_client_serves_many_at_once(server: ModelServer, session: Session) -> None:
    import openai

    async def ask(client: openai.AsyncOpenAI, number: int) -> None:
        messages: Any = [{"role": "user", "content": f"question {number}"}]
        if number % 2:
            await client.chat.completions.create(model="gpt-test", messages=messages)
            return
        stream = await client.chat.completions.create(model="gpt-test", messages=messages, stream=True)
        assert [chunk async for chunk in stream]

    async def run() -> None:
        async with openai.AsyncOpenAI(api_key=KEY, base_url=server.url, max_retries=0) as original:
            client = record_openai(original, session)
            await asyncio.gather(*(ask(client, number) for number in range(6)))
            raw = await client.chat.completions.with_raw_response.create(
                model="gpt-test", messages=[{"role": "user", "content": "raw"}]
            )
            assert raw.status_code == 200

    server.say(*[Turn(text="yes")] * 7)
    asyncio.run(run())
    calls = of_type(session, "model_call")
    asked = [given(session, call) for call in calls]
    assert sorted(str(words[0][1]) for words in asked) == sorted([f"question {n}" for n in range(6)] + ["raw"])
    assert all(len(words) == 1 for words in asked)
    prompts = {step.n: step.text("content.text") for step in of_type(session, "user")}
    assert [[("user", prompts[call.meta["request"]])] for call in calls] == asked


def test_a_store_that_cannot_be_written_does_not_break_the_agent(
    server: ModelServer, session: Session, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {"model": "gpt-test", "messages": [{"role": "user", "content": "go"}]}
    server.say(Turn(text="one"), Turn(text="two"), Turn(text="three"))
    with monkeypatch.context() as patch:
        patch.setattr("os.write", _full)
        assert client.chat.completions.create(**asked).choices[0].message.content == "one"
    assert session.lost > 0
    client.chat.completions.create(**asked)
    # If the ledger could not be written meanwhile, the call before is told so; this one is recorded either way.
    client.chat.completions.create(**{**asked, "messages": [{"role": "user", "content": "go on"}]})
    assert session.lost == 0
    assert [step.type for step in session][1] == "gap"
    assert [step.type for step in session][-3:] == ["user", "model_call", "assistant"]
    assert of_type(session, "gap")[0].meta["events"] >= 2


def _full(*_: object) -> int:
    raise OSError(28, "No space left on device")
