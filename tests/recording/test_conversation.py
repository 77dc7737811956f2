from __future__ import annotations

import asyncio
import tempfile
from cProfile import Profile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick import Recorder, verify
from tallystick.ask.show import given_to
from tallystick.recording import flush_timer
from tallystick.recording.session import Session
from tests.support.laws import examples

MESSAGES = st.lists(
    st.builds(
        lambda role, content: {"role": role, "content": content},
        st.sampled_from(["system", "user", "assistant"]),
        st.sampled_from(["yes", "no", "go on"]),
    ),
    max_size=6,
)


def shown(session: Session, n: int) -> list[tuple[str, Any]]:
    call = next(step for step in session if step.n == n)
    found = given_to(session.recorder.home, call)
    assert found.matches
    return [(step.type, step.text("content.text")) for step in found.steps]


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(MESSAGES, min_size=1, max_size=5))
def test_whatever_conversations_are_given_each_call_shows_its_own_and_no_message_is_recorded_needlessly(
    conversations: list[list[dict[str, str]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Recorder(Path(folder) / "s") as recorder:
            session = recorder.session("demo", "s")
            for messages in conversations:
                with session.ask("m", messages):
                    pass
            steps = list(session)
            calls = [step for step in steps if step.type == "model_call"]
            for call, messages in zip(calls, conversations, strict=True):
                assert shown(session, call.n) == [(message["role"], message["content"]) for message in messages]
            for kind in ("system", "user", "assistant"):
                for text in ("yes", "no", "go on"):
                    most = max(messages.count({"role": kind, "content": text}) for messages in conversations)
                    assert sum((step.type, step.text("content.text")) == (kind, text) for step in steps) == most
        assert verify(home=Path(folder) / "s").exit_code == 0


def test_another_process_that_goes_on_with_a_session_finds_what_is_recorded(tmp_path: Path) -> None:
    call = {"id": "c1", "function": {"name": "ls", "arguments": "{}"}}
    messages: list[Any] = [
        {"role": "user", "content": "What is here?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "a b"},
    ]
    for turn in range(3):
        with Recorder(tmp_path / "s") as recorder:
            session = recorder.session("demo", "s")
            with session.ask("m", [*messages, {"role": "user", "content": f"turn {turn}"}]) as asked:
                asked.says("ok")
    with Recorder(tmp_path / "s") as recorder:
        steps = list(recorder.session("demo", "s"))
    assert [step.type for step in steps].count("user") == 1 + 3
    assert [step.type for step in steps].count("tool_call") == 1


def test_a_long_conversation_is_not_read_anew_at_each_call(tmp_path: Path) -> None:
    messages: list[Any] = [{"role": "user", "content": f"message {number}"} for number in range(300)]
    with Recorder(tmp_path / "s") as recorder:
        session = recorder.session("demo", "s")
        work = []
        for _ in range(4):
            with Profile() as profile, session.ask("m", messages):
                pass
            work.append(sum(entry.callcount for entry in profile.getstats()))
        assert len(list(session)) == 1 + 300 + 4
    assert max(work[2:]) < work[0] / 3


def test_a_call_without_messages_was_given_the_path_so_far(tmp_path: Path) -> None:
    with Recorder(tmp_path / "s") as recorder:
        session = recorder.session("demo", "s")
        session.prompt("go")
        with session.ask("m") as asked:
            asked.says("ok")
        calls = [step for step in session if step.type == "model_call"]
        assert [kind for kind, _ in shown(session, calls[0].n)] == ["session_start", "user"]


def test_a_session_that_is_closed_in_an_event_loop_is_sealed_soon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flush_timer, "SEAL_SECONDS", 3_600.0)  # it is the closing that seals

    async def main(recorder: Recorder) -> None:
        with recorder.session("demo", "s") as session:
            session.step("assistant")
        while verify(home=tmp_path / "s").unsealed:
            await asyncio.sleep(0.02)

    with Recorder(tmp_path / "s") as recorder:
        asyncio.run(main(recorder))
