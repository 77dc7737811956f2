"""What changed in instructions: compared with what counts as seen, and told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.journal.home import Home
from tallystick.journal.kept_states import forget_states
from tallystick.live.instruction_changes import InstructionChanges, InstructionNews
from tallystick.recording.store import init_store
from tallystick.sessions.configuration import INSTRUCTIONS, Given


@pytest.fixture
def changes(tmp_path: Path) -> InstructionChanges:
    home = Home(tmp_path / "store")
    init_store(home)
    return InstructionChanges(home)


def looked(changes: InstructionChanges, path: Path, data: bytes) -> InstructionNews | None:
    """What is new in a file that holds something now."""
    given = Given(section=INSTRUCTIONS, name="project:CLAUDE.md", data=data, path=str(path))
    return next(iter(changes.look([given])), None)


def news(changes: InstructionChanges, path: Path, data: bytes) -> InstructionNews:
    found = looked(changes, path, data)
    assert found is not None
    return found


def test_a_change_is_told_once_and_again_when_it_changes_again(changes: InstructionChanges, tmp_path: Path) -> None:
    path = tmp_path / "CLAUDE.md"
    assert looked(changes, path, b"one\ntwo\n") is None
    second = news(changes, path, b"one\nthree\nfour\n")
    assert (second.change.added, second.change.removed) == (2, 1)
    assert changes.told(second)
    assert not changes.told(second)
    assert looked(changes, path, b"one\nthree\nfour\n") is None
    third = news(changes, path, b"one\n")
    assert (third.change.added, third.change.removed) == (0, 1), "to what was seen, not to what was told"
    assert looked(changes, path, b"one\ntwo\n") is None, "as it was seen"


def test_another_process_goes_on_with_what_was_seen(changes: InstructionChanges, tmp_path: Path) -> None:
    path = tmp_path / "CLAUDE.md"
    looked(changes, path, b"one\n")
    later = InstructionChanges(Home(tmp_path / "store"))
    assert news(later, path, b"two\n").change.diff.splitlines()[1:] == ["-one", "+two"]


def test_without_the_old_text_it_is_said_that_it_changed(changes: InstructionChanges, tmp_path: Path) -> None:
    path = tmp_path / "CLAUDE.md"
    looked(changes, path, b"x" * (300 << 10))
    assert str(news(changes, path, b"two\n").change) == "what it held before was not kept"


def test_an_erasure_forgets_the_texts(changes: InstructionChanges, tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    looked(changes, tmp_path / "CLAUDE.md", b"one\n")
    assert len(list(home.instructions.iterdir())) == 2
    forget_states(home, "mark")
    assert not list(home.instructions.iterdir())


def test_texts_that_no_file_needs_are_removed_and_all_are_for_the_user_alone(
    changes: InstructionChanges, tmp_path: Path
) -> None:
    home = Home(tmp_path / "store")
    looked(changes, tmp_path / "CLAUDE.md", b"0\n")
    for number in range(1, 10):
        changes.told(news(changes, tmp_path / "CLAUDE.md", b"%d\n" % number))
    kept = list(home.instructions.iterdir())
    assert len(kept) == 3
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


def test_a_damaged_file_of_what_was_seen_is_a_new_beginning(changes: InstructionChanges, tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    looked(changes, tmp_path / "CLAUDE.md", b"one\n")
    (home.instructions / "seen.json").write_bytes(b"\xff{")
    assert looked(InstructionChanges(home), tmp_path / "CLAUDE.md", b"two\n") is None
