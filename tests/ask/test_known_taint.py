"""What the record knows of the taint of paths when a call is judged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.ask.known_taint import Memory, has_secret_shown, is_secret_by_name
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.lineage.quoting import flat, words_of
from tallystick.lineage.taint import Trust
from tallystick.recording.recorder import Recorder
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tests.support.tainting import KEY, Tainted, bring_in, call


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "store")


@pytest.fixture
def told(tmp_path: Path) -> Tainted:
    return bring_in(tmp_path / "store", tmp_path / "work")


@pytest.fixture
def index(home: Home, told: Tainted) -> Iterator[Index]:
    with open_index(home) as index:
        yield index


def holds(memory: Memory, path: str, piece: str) -> bool:
    found = memory(path)
    one_line = flat(piece)
    return found.origins is None or any(text.holds(one_line, words_of(one_line)) for text in found.origins)


def test_a_plan_is_known_with_the_page_that_it_quotes(home: Home, index: Index, told: Tainted) -> None:
    memory = Memory(home, index.graph)
    for name in ("plan.md", "guide.md"):
        assert memory(told.path(name)).taint.trust is Trust.UNTRUSTED
        assert holds(memory, told.path(name), "make release-7781")
        assert not holds(memory, told.path(name), "that is all")


def test_what_was_downloaded_is_from_outside_as_a_whole(home: Home, index: Index, told: Tainted) -> None:
    found = Memory(home, index.graph)(told.path("list.txt"))
    assert found.taint.trust is Trust.UNTRUSTED
    assert found.origins is None


def test_a_folder_is_known_by_what_is_in_it(home: Home, index: Index, told: Tainted) -> None:
    memory = Memory(home, index.graph)
    assert not memory(str(told.folder), True).taint.is_clean
    assert memory(str(told.folder)).taint.is_clean


def test_a_secret_that_the_model_wrote_down_is_one_where_it_stands(tmp_path: Path) -> None:
    with Recorder(tmp_path / "keys") as recorder:
        session = recorder.session("demo", "one", cwd="/home/dev/p")
        session.prompt("Go on.")
        call(session, "Read", {"file_path": "/home/dev/p/.env"}, output=f"API_KEY={KEY}\n")
        call(session, "Write", {"file_path": "/home/dev/p/a.md", "content": f"the key is {KEY}"})
        call(session, "Write", {"file_path": "/home/dev/p/b.md", "content": "there is a key"})
        session.close()
    home = Home(tmp_path / "keys")
    with open_index(home) as index:
        memory = Memory(home, index.graph, is_secret=lambda path: path.endswith("/.env"))
        assert memory("/home/dev/p/a.md").taint.is_sensitive
        assert not memory("/home/dev/p/b.md").taint.is_sensitive


def test_an_index_that_cannot_be_asked_knows_nothing(tmp_path: Path, home: Home, told: Tainted) -> None:
    with open_index(home) as index:
        memory = Memory(home, index.graph)
        index.graph.change("ALTER TABLE flows RENAME TO gone")
        index.graph.change("DROP TABLE accesses")
        assert memory(told.path("plan.md")).taint.is_clean


@pytest.mark.parametrize(
    ("command", "does"),
    [("kubectl get secret db -o yaml > db.yaml", True), ("kubectl get pods -o yaml > p.yaml", False), ("ls", False)],
)
def test_a_command_that_has_a_secret_shown_is_known_by_its_words(tmp_path: Path, command: str, does: bool) -> None:
    with Recorder(tmp_path / "one") as recorder:
        session = recorder.session("demo", "one", cwd="/home/dev/p")
        number = call(session, "Bash", {"command": command})
        session.close()
    step = list(read_session(Home(tmp_path / "one"), session.id))[number]
    assert has_secret_shown(step) is does


def test_a_secret_is_known_by_its_name() -> None:
    assert is_secret_by_name("/home/dev/.ssh/id_rsa")
    assert not is_secret_by_name("/home/dev/p/README.md")
