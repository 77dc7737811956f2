from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Iterator
from contextvars import copy_context
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick import Recorder, verify
from tallystick.model.recorded import Recorded
from tallystick.recording.session import Session, current_session
from tests.support.laws import examples


class Call(msgspec.Struct, frozen=True):
    """A call of a program, and the calls it makes: one after another, or all at once."""

    name: int
    inner: tuple[Call, ...]
    at_once: bool


@st.composite
def programs(draw: st.DrawFn) -> tuple[Call, ...]:
    names = iter(range(1000))

    def calls(depth: int) -> tuple[Call, ...]:
        count = draw(st.integers(0, 3)) if depth else draw(st.integers(1, 3))
        return tuple(
            Call(next(names), calls(depth + 1) if depth < 3 else (), draw(st.booleans())) for _ in range(count)
        )

    return calls(0)


async def run(session: Session, call: Call) -> None:
    with session.tool_call(f"t{call.name}", {}):
        await asyncio.sleep(0)
        await run_all(session, call.inner, at_once=call.at_once)


async def run_all(session: Session, calls: tuple[Call, ...], *, at_once: bool) -> None:
    if at_once:
        await asyncio.gather(*(run(session, call) for call in calls))
        return
    for call in calls:
        await run(session, call)


def run_in_threads(session: Session, call: Call) -> None:
    with session.tool_call(f"t{call.name}", {}):
        work = [threading.Thread(target=copy_context().run, args=(run_in_threads, session, one)) for one in call.inner]
        for thread in work:
            thread.start()
            if not call.at_once:
                thread.join()
        for thread in work:
            thread.join()


def enclosing(calls: tuple[Call, ...], above: str | None = None) -> Iterator[tuple[str, str | None]]:
    """Each call with the one that encloses it."""
    for call in calls:
        yield f"t{call.name}", above
        yield from enclosing(call.inner, f"t{call.name}")


def check(steps: list[Recorded], program: tuple[Call, ...]) -> None:
    """A call and its result are within what encloses the call in the program; the last step follows from all others."""
    by_number = {step.n: step for step in steps}
    tools = {step.n: step.meta.get("tool") for step in steps}
    wanted = dict(enclosing(program))
    for step in steps:
        if step.type in ("tool_call", "tool_result"):
            parent = step.meta.get("parent")
            assert (tools[parent] if parent is not None else None) == wanted[str(step.meta["tool"])]
            assert parent is None or by_number[parent].type == "tool_call"
    numbers = {step.hash: step.n for step in steps}
    reached, todo = set(), [steps[-1].n]
    while todo:
        n = todo.pop()
        if n not in reached:
            reached.add(n)
            todo += [numbers[parent] for parent in by_number[n].parent_path]
    assert reached == set(by_number)
    check_order(steps, program, numbers)


def check_order(steps: list[Recorded], program: tuple[Call, ...], numbers: dict[str, int]) -> None:
    """No step follows from one of a call that ran beside it; a result follows from its call first."""
    calls = {str(step.meta["tool"]): step.n for step in steps if step.type == "tool_call"}
    for step in steps:
        if step.type == "tool_result":
            assert numbers[step.parent_path[0]] == calls[str(step.meta["tool"])]

    def within(call: Call) -> set[str]:
        return {f"t{call.name}"}.union(*(within(inner) for inner in call.inner))

    def look(beside: tuple[Call, ...], *, at_once: bool) -> None:
        for call in beside:
            others = set().union(*(within(other) for other in beside if other is not call))
            for step in steps:
                if at_once and step.meta.get("tool") in within(call):
                    parents = {steps[numbers[parent]].meta.get("tool") for parent in step.parent_path}
                    assert not parents & others
            look(call.inner, at_once=call.at_once)

    look(program, at_once=True)


@settings(max_examples=examples(25), deadline=None)
@given(programs())
def test_tasks_find_their_parents_however_calls_are_nested(program: tuple[Call, ...]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Recorder(Path(folder) / "s") as recorder, recorder.session("demo") as session:
            session.prompt("go")
            asyncio.run(run_all(session, program, at_once=True))
            session.step("assistant")
            steps = list(session)
        check(steps, program)
        assert verify(home=Path(folder) / "s").exit_code == 0


@settings(max_examples=examples(10), deadline=None)
@given(programs())
def test_threads_with_a_copied_context_do_too(program: tuple[Call, ...]) -> None:
    whole = Call(999, program, at_once=True)
    with tempfile.TemporaryDirectory() as folder:
        with Recorder(Path(folder) / "s") as recorder, recorder.session("demo") as session:
            run_in_threads(session, whole)
            session.step("assistant")
            steps = list(session)
        check(steps, (whole,))


def test_one_task_after_another_is_a_chain(tmp_path: Path) -> None:
    async def main(session: Session) -> None:
        for number in range(3):
            with session.tool_call(f"t{number}", {}):
                session.step("assistant")

    with Recorder(tmp_path / "s") as recorder, recorder.session("demo") as session:
        session.prompt("go")
        asyncio.run(main(session))
        session.step("assistant")
        steps = list(session)
    assert all(steps[step.n - 1].hash in step.parent_path for step in steps[1:])


def test_requests_that_are_served_at_once_keep_their_steps_apart(tmp_path: Path) -> None:
    async def serve(session: Session, name: str) -> None:
        with session.request(f"prompt {name}"):
            await asyncio.sleep(0)
            with session.tool_call(name, {}):
                await asyncio.sleep(0)

    async def main(session: Session) -> None:
        await asyncio.gather(*(serve(session, f"t{number}") for number in range(4)))

    with Recorder(tmp_path / "s") as recorder, recorder.session("demo") as session:
        asyncio.run(main(session))
        steps = list(session)
    prompts = {step.n: str(step.text("content.text")).removeprefix("prompt ") for step in steps if step.type == "user"}
    calls = [step for step in steps if "tool" in step.meta]
    assert len(calls) == 8
    assert [prompts[step.meta["request"]] for step in calls] == [step.meta["tool"] for step in calls]


def test_the_current_session_is_that_of_the_innermost_block(tmp_path: Path) -> None:
    assert current_session() is None
    with Recorder(tmp_path / "s") as recorder, recorder.session("demo") as session:
        assert current_session() is session
        with session.subagent("helper") as child:
            assert current_session() is child
            with session.attached():
                assert current_session() is session
        assert current_session() is session
        seen: list[Session | None] = []
        thread = threading.Thread(target=lambda: seen.append(current_session()))
        thread.start()
        thread.join()
        assert seen == [None]
    assert current_session() is None


def test_a_creator_that_records_nothing_more_does_not_remember_its_tasks_for_ever(tmp_path: Path) -> None:
    async def one(session: Session) -> None:
        session.step("assistant")

    async def main(session: Session) -> None:
        for _ in range(600):
            await asyncio.create_task(one(session))

    with Recorder(tmp_path / "s") as recorder:
        session = recorder.session("demo")
        asyncio.run(main(session))
        assert len(session.place().strand.branches) <= 256
        last = session.step("assistant")
        assert 1 < len(last.parents) <= 64
