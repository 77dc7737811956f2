from __future__ import annotations

from pathlib import Path

from tallystick.recording.recorder import Recorder
from tallystick.recording.session_journal import JournalStore
from tests.journal.test_log_reader import check_same
from tests.sessions.session_events import RUNNING, said


def test_a_model_call_and_its_answer_are_one_event(tmp_path: Path) -> None:
    store = JournalStore(tmp_path)
    store.create(RUNNING)
    reader = store.reader("s")
    for text in "ab":
        store.append("s", {"type": "assistant", "content": text, "meta": {"model": "m", "tokens_in": 7}})
        assert reader.events()[-1].content == text
    check_same(reader, store.load("s"))
    store.close()


def test_an_event_that_a_file_tells_again_with_more_is_read_as_the_whole_is(tmp_path: Path) -> None:
    store = JournalStore(tmp_path / "store")
    store.create(RUNNING)
    reader = store.reader("s")
    for number in range(3):
        store.append("s", said(str(number)))
    check_same(reader, store.load("s"))
    with Recorder(store.home.folder) as recorder:
        session = recorder.session("headless", "s")
        session.step("user", content={"text": "revised"}, revises=1, seq=1)
        session.step("feedback", content={"text": "no event"})
    check_same(reader, store.load("s"))
    store.close()
