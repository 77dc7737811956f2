"""Both kinds of session log are read as they grow: what a reader says is what reading the whole says."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.errors import JournalError, NotFoundError
from tallystick.journal.headless import FileStore
from tallystick.journal.headless_reader import FileReader
from tallystick.journal.log_reader import LogReader
from tallystick.recording.session_journal import JournalStore
from tallystick.recording.session_journal_reader import JournalReader
from tallystick.sessions.session_log import Event, Log, safe_members
from tests.sessions.session_events import EVENTS, RUNNING, said
from tests.support.laws import examples

Make = Callable[[Path], Any]
MAKERS: dict[str, Make] = {"files": FileStore, "journals": JournalStore}
ENDED = msgspec.structs.replace(RUNNING, status="complete", outputs={"o": "1"}, state={"a": 1}, result="r")


@pytest.fixture(params=MAKERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    made = MAKERS[request.param](tmp_path / "store")
    made.create(RUNNING)
    yield made
    with suppress(JournalError):  # a test took a journal away
        made.close()


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose lines were looked at, once a line."""
    found: list[str] = []
    for kind in (FileReader, JournalReader):
        monkeypatch.setattr(kind, "_take", _noting(kind._take, found))
    return found


def _noting(take: Callable[[Any, bytes, int], bool], found: list[str]) -> Callable[[Any, bytes, int], bool]:
    def noting(reader: LogReader, text: bytes, offset: int) -> bool:
        found.append(reader.path.name)
        return take(reader, text, offset)

    return noting


def check_same(reader: Any, whole: Log) -> None:
    """Check that a reader says what is in a session that was read as a whole."""
    assert reader.events() == whole.events
    assert reader.log() == msgspec.structs.replace(whole, events=())
    assert reader.last_seq() == max((event.seq for event in whole.events), default=0)
    assert list(reader.blocks()) == [event for event in whole.events if event.type == "security_block"]
    for place in range(-len(whole.events), len(whole.events)):
        assert reader.events()[place] == whole.events[place]
    assert list(reversed(reader.events())) == list(reversed(whole.events))


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=examples(16), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=st.lists(EVENTS, max_size=6))
def test_what_a_reader_says_is_what_reading_the_whole_says(
    kind: str, events: list[Event], tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = MAKERS[kind](tmp_path_factory.mktemp("log"))
    store.create(RUNNING)
    early = store.reader("s")
    for event in events:
        store.append("s", safe_members(event))
        check_same(early, store.load("s"))
    store.update(ENDED)
    store.append("s", said("late"))
    for reader in (early, store.reader("s")):
        check_same(reader, store.load("s"))
    store.close()


def test_only_what_is_new_is_looked_at(store: Any, looked_at: list[str]) -> None:
    reader = store.reader("s")
    for number in range(50):
        store.append("s", said(str(number)))
    assert len(reader.events()) == 50
    assert len(looked_at) >= 50
    looked_at.clear()
    assert len(reader.events()) == 50
    assert reader.events()[7].content == "7"
    assert looked_at == []
    store.append("s", said("new"))
    assert reader.events()[-1].content == "new"
    assert len(looked_at) == 1


def test_a_reader_goes_on_where_another_file_has_the_name(store: Any) -> None:
    for number in range(5):
        store.append("s", said(str(number)))
    reader = store.reader("s")
    before = reader.events()
    assert len(before) == 5
    path = reader.path
    text = path.read_bytes()
    store.close()
    path.with_suffix(".new").write_bytes(text)
    path.with_suffix(".new").rename(path)
    assert [event.content for event in before] == list("01234")
    store.append("s", said("5"))
    assert [event.content for event in reader.events()] == list("012345")


def test_a_session_that_is_gone_is_not_found(store: Any) -> None:
    reader = store.reader("s")
    reader.path.unlink()
    with pytest.raises(NotFoundError):
        reader.events()
    with pytest.raises(NotFoundError):
        store.reader("another")
