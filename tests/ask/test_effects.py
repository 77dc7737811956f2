"""Stories of what came of something."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.ask.effects import Effects
from tallystick.ask.impact import impact
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace.indexing import open_index
from tests.support.asking import call
from tests.support.shop import PAGE, Shop, shop


@pytest.fixture
def told(tmp_path: Path) -> Shop:
    return shop(tmp_path / "store", tmp_path)


def effects(folder: Path, text: str) -> Effects:
    home = Home(folder / "store")
    with open_index(home) as index:
        return impact(home, index, text, folder=str(folder)).story


def test_what_shares_lines_is_a_result_and_what_does_not_is_counted(told: Shop) -> None:
    found = effects(told.folder, "prices.txt")
    assert [(source.uri, source.lines) for source in found.results.known] == [(f"file://{told.folder}/page.md", 2)]
    assert (found.uses.calls, found.uses.requests, found.uses.sessions) == (1, 1, 1)
    other = effects(told.folder, "style.css")
    assert (other.results.known, other.results.only_shown) == ((), 1)


def test_what_a_step_wrote_is_followed_to_those_who_used_it_later(told: Shop) -> None:
    with Recorder(told.folder / "store") as recorder:
        session = recorder.session("demo", "later", cwd=str(told.folder))
        session.prompt("Copy the page.")
        call(session, "Read", {"file_path": f"{told.folder}/page.md"}, output=PAGE)
        call(session, "Bash", {"command": "cp page.md copy.md && cp copy.md second.md"})
    found = effects(told.folder, f"{told.rewriter}:{told.rewrite}")
    assert [thing.uri for thing in found.made] == [f"file://{told.folder}/page.md"]
    assert found.uses.last is not None
    assert found.uses.last.session == session.id
    assert found.prompt is not None
    assert found.prompt.text == "Copy the page."
    assert [(source.uri, source.how) for source in found.results.known] == [
        (f"file://{told.folder}/copy.md", "command")
    ]
    assert found.further == 1  # second.md


def test_a_session_tells_which_sessions_it_began(told: Shop) -> None:
    assert effects(told.folder, told.parent).began == (told.child,)
    assert effects(told.folder, told.writer).began == ()


def test_what_had_no_effect_says_nothing(told: Shop) -> None:
    found = effects(told.folder, f"{told.child}:{told.delete}")
    assert (found.uses.calls, found.results.known, found.further) == (0, (), 0)
