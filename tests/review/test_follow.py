from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tallystick import Recorder, follow
from tallystick.errors import NotFoundError


def test_a_session_is_followed_while_another_thread_records_it(tmp_path: Path) -> None:
    begun = threading.Event()

    def record() -> None:
        with Recorder(tmp_path / "store") as recorder, recorder.session("demo", "one") as session:
            session.prompt("first")
            begun.set()
            for _ in range(20):
                session.step("assistant", content={"text": "more"})

    thread = threading.Thread(target=record)
    thread.start()
    assert begun.wait(120)
    seen = [step.type for step in follow("one", home=tmp_path / "store")]
    thread.join()
    assert seen == ["session_start", "user", *["assistant"] * 20, "session_end"]


def test_following_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    Recorder(tmp_path / "store").close()
    with pytest.raises(NotFoundError):
        next(follow("nothing", home=tmp_path / "store"))
