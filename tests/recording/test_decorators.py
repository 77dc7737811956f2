from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Recorder, model_call, request, subagent, tool_call, verify
from tallystick.ask.show import given_to
from tallystick.model.recorded import Recorded
from tallystick.recording.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Recorder(tmp_path / "store") as recorder:
        session = recorder.session("demo", "s")
        with session.attached():
            yield session
        session.close()
    assert verify(home=tmp_path / "store").exit_code == 0


def calls(session: Session) -> list[tuple[Any, Any, Any]]:
    """Tool, arguments and output of each call."""
    asked = {step.meta["corr"]: step for step in session if step.type == "tool_call"}
    return [
        (step.meta["tool"], asked[step.meta["corr"]].values["content.args"], step.values.get("content.output"))
        for step in session
        if step.type == "tool_result"
    ]


def of_type(session: Session, kind: str) -> list[Recorded]:
    return [step for step in session if step.type == kind]


@tool_call
def add(a: int, b: int = 2, *rest: int, scale: int = 1, **more: int) -> int:
    """Adds."""
    return a + b


class Shell:
    @tool_call(tool="Bash", omit=("key",))
    def run(self, command: str, key: str = "") -> dict[str, Any]:
        return {"out": command, "raw": b"123", "at": Path("/tmp/x"), "self": self}


def test_a_decorated_function_is_the_function_and_its_calls_are_recorded(session: Session) -> None:
    assert (add.__name__, add.__doc__) == ("add", "Adds.")
    assert add(1) == 3
    assert add(1, 2, 3, scale=4, other=5) == 3
    assert Shell().run("ls", key="secret-1")["out"] == "ls"
    found = calls(session)
    assert found[:2] == [("add", {"a": 1}, 3), ("add", {"a": 1, "b": 2, "rest": [3], "scale": 4, "other": 5}, 3)]
    output = {"out": "ls", "raw": "<3 bytes>", "at": "/tmp/x", "self": f"<{__name__}.Shell>"}
    assert found[2] == ("Bash", {"command": "ls"}, output)
    assert "secret-1" not in session.path.read_text()


def test_outside_of_a_session_a_decorated_function_just_runs() -> None:
    assert add(1) == 3
    with pytest.raises(TypeError, match="missing 1 required"):
        add()  # type: ignore[call-arg]


def test_what_a_function_raises_is_recorded_and_goes_on(session: Session) -> None:
    @tool_call
    def fail() -> None:
        raise LookupError("not there")

    with pytest.raises(LookupError, match="not there"):
        fail()
    with pytest.raises(TypeError, match="missing 1 required"):
        add()  # type: ignore[call-arg]
    [result] = of_type(session, "tool_result")
    assert (result.meta["success"], result.text("content.error")) == (False, "LookupError: not there")


def test_coroutines_are_recorded_when_they_run_and_cancelled_ones_as_interrupted(session: Session) -> None:
    @tool_call
    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "done"

    async def main() -> None:
        assert await wait(0) == "done"
        task = asyncio.create_task(wait(60))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    done, cancelled = of_type(session, "tool_result")
    assert (done.meta["success"], done.values["content.output"]) == (True, "done")
    assert (cancelled.meta["success"], cancelled.meta["interrupted"]) == (False, True)


def test_what_a_generator_yields_is_its_result_and_what_happens_between_is_not_within(session: Session) -> None:
    @tool_call
    def words(count: int) -> Iterator[str]:
        for number in range(count):
            session.step("process", number=number)
            yield f"w{number} "

    for _ in words(2):
        session.step("assistant")
    assert list(words(0)) == []
    assert calls(session) == [("words", {"count": 2}, "w0 w1 "), ("words", {"count": 0}, [])]
    [call, _] = of_type(session, "tool_call")
    assert [step.meta.get("parent") for step in of_type(session, "process")] == [call.n, call.n]
    assert [step.meta.get("parent") for step in of_type(session, "assistant")] == [None, None]


def test_a_generator_that_is_left_early_thrown_into_or_sent_to_works_as_without(session: Session) -> None:
    @tool_call
    def echo() -> Iterator[Any]:
        told: Any = "begun"
        while True:
            try:
                told = yield told
            except KeyError:
                told = "caught"

    running: Any = echo()
    assert [next(running), running.send("x"), running.throw(KeyError()), running.send("y")] == [
        "begun",
        "x",
        "caught",
        "y",
    ]
    running.close()
    with pytest.raises(ZeroDivisionError):
        list(broken())
    (_, _, output), (_, _, second) = calls(session)
    assert output == "begunxcaughty"
    assert second == [1]
    assert [step.meta["success"] for step in of_type(session, "tool_result")] == [True, False]


@tool_call
def broken() -> Iterator[int]:
    yield 1
    raise ZeroDivisionError


def test_asynchronous_generators_too(session: Session) -> None:
    @tool_call
    async def count(to: int) -> AsyncIterator[int]:
        for number in range(to):
            await asyncio.sleep(0)
            yield number

    async def main() -> None:
        assert [number async for number in count(3)] == [0, 1, 2]
        running = count(3)
        assert await anext(running) == 0
        await running.aclose()  # type: ignore[attr-defined]

    asyncio.run(main())
    assert calls(session) == [("count", {"to": 3}, [0, 1, 2]), ("count", {"to": 3}, [0])]


def test_a_call_that_the_model_asked_for_is_recorded_once(session: Session) -> None:
    with session.ask("m", [{"role": "user", "content": "add 1 and 5, twice"}]) as asked:
        asked.id = "r1"
        asked.calls("add", {"a": 1, "b": 5}, "call_1")
        asked.calls("add", {"a": 1, "b": 5}, "call_2")
    assert add(a=1, b=5) == add(a=1, b=5) == 6
    add(a=7)
    assert [step.meta["corr"] for step in of_type(session, "tool_result")][:2] == ["call_1", "call_2"]
    assert len(of_type(session, "tool_call")) == 3


def test_model_calls_requests_and_sub_agents_have_decorators(session: Session) -> None:
    @model_call(answer=lambda reply: reply["text"])
    def complete(model: str, messages: list[dict[str, str]]) -> dict[str, str]:
        return {"text": "forty-two"}

    @model_call("stream-1", messages="prompt")
    def stream(prompt: str) -> Iterator[str]:
        yield from ("for", "ty")

    @subagent("searcher")
    async def search(goal: str) -> str:
        return complete("m1", [{"role": "user", "content": goal}])["text"]

    @request("question")
    async def serve(question: str) -> str:
        "".join(stream(question))
        return await search(goal="find out")

    assert asyncio.run(serve("what is it?")) == "forty-two"
    [prompt] = of_type(session, "user")
    assert [prompt.meta.get("origin"), prompt.text("content.text")] == [None, "what is it?"]
    [call] = of_type(session, "model_call")
    assert call.meta["model"] == "stream-1"
    assert [step.n for step in given_to(session.recorder.home, call).steps] == [prompt.n]
    assert of_type(session, "assistant")[0].text("content.text") == "forty"
    end = of_type(session, "subagent_end")[0]
    assert (end.meta["request"], end.values["content.output"], end.meta["success"]) == (prompt.n, "forty-two", True)
    start = of_type(session, "subagent_start")[0]
    assert start.text("content.goal") == "find out"
    child = session.recorder.session("demo", str(start.meta["source_id"]).removesuffix("/start"))
    kinds = [step.type for step in child]
    assert kinds == ["session_start", "user", "model_call", "assistant", "session_end"]


def test_a_fault_of_the_recorder_does_not_reach_the_function(
    session: Session, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    @subagent()
    def helper(goal: str) -> str:
        return goal

    @request("text")
    def serve(text: str) -> int:
        return add(1)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.write", full)
        assert [add(1), helper("x"), serve("y")] == [3, "x", 3]
    assert "No space left" in caplog.text
    assert serve("z") == 3
    kinds = [step.type for step in session]
    assert kinds == ["session_start", "gap", "user", "tool_call", "tool_result"]


def test_a_wrapped_function_that_keeps_its_name_keeps_it(session: Session) -> None:
    @tool_call
    @functools.wraps(add)
    def outer(*args: int, **kwargs: int) -> int:
        return add(*args, **kwargs)

    assert outer(1, b=3) == 4
    assert [(tool, args) for tool, args, _ in calls(session)] == [("add", {"a": 1, "b": 3})] * 2
