"""Files that are looked at again and again, in a thread."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.capture.surroundings import Surroundings
from tallystick.live.watched_places import Found, Look, Place, Places, working_folder
from tallystick.recording.run_config.gathered import Gathered
from tallystick.sessions.configuration import Given
from tallystick.workspace.file_stat_key import stamp_of

KEY = bytes(32)


class Gatherer:
    """Gathers one file of a folder, and counts how often."""

    def __init__(self) -> None:
        self.times = 0
        self.fault: Exception | None = None

    def __call__(self, agent: str, where: Surroundings) -> Gathered:
        assert where.project is not None
        self.times += 1
        if self.fault is not None:
            raise self.fault
        path = where.project / "file"
        stamp = stamp_of((path,))
        data = path.read_bytes() if path.exists() else b""
        return Gathered(given=(Given(section="settings", name="file", data=data),), looked_at=(path,), stamp=stamp)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(agent="a", user=tmp_path, folder=str(tmp_path))


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    tick = threading.Event()
    for _ in range(2000):
        if is_so():
            return
        tick.wait(0.005)
    raise AssertionError("it never was")


def digest(found: Found | None) -> str:
    assert found is not None
    return found.digested.inputs[0][1].digest


@pytest.mark.parametrize(
    ("said", "folder"),
    [
        ("/w/p", "/w/p"),
        (None, None),
        ("", None),
        ("w/p", None),
        ("~/p", None),
        ("/a\0b", None),
        ("/" + "x" * 5000, None),
    ],
)
def test_only_a_whole_path_is_looked_at(said: str | None, folder: str | None) -> None:
    assert working_folder(said) == folder


def test_git_is_asked_when_that_is_wanted_and_no_file_is_read_for_it(place: Place) -> None:
    asked: list[str] = []

    def git(folder: str) -> dict[str, str]:
        asked.append(folder)
        return {"head": str(len(asked))}

    gatherer = Gatherer()
    places = Places(Look(gatherer, git=git, seconds=0.001), lambda: KEY)
    places.want([place])
    places.wait(seconds=10)
    first = places.found(place)
    assert first is not None
    assert (first.git, asked) == (None, [])
    tickets = [places.ask_git(place), places.ask_git(place)]
    places.wait(seconds=10)
    found = places.found(place)
    assert found is not None
    assert found.git is not None
    assert found.ticket == tickets[1] > tickets[0]
    assert (gatherer.times, found.turn, asked[0]) == (1, first.turn, place.folder)
    Path(asked[0], "file").write_text("new")
    until(lambda: (now := places.found(place)) is not None and now.turn > first.turn)
    assert (now := places.found(place)) is not None
    assert (now.git, now.ticket) == (found.git, found.ticket)
    places.want([])


def test_a_fault_of_git_takes_nothing_of_the_files_away(place: Place) -> None:
    def git(folder: str) -> None:
        raise OSError("no")

    places = Places(Look(Gatherer(), git=git), lambda: KEY)
    places.want([place])
    ticket = places.ask_git(place)
    places.wait(seconds=10)
    found = places.found(place)
    assert found is not None
    assert (found.ticket, found.git, digest(found) != "") == (ticket, None, True)
    places.want([])


def test_files_are_read_once_while_they_do_not_change(place: Place) -> None:
    gatherer = Gatherer()
    places = Places(Look(gatherer, seconds=0.001), lambda: KEY)
    assert places.found(place) is None
    places.want([place])
    places.wait(seconds=10)
    first = places.found(place)
    threading.Event().wait(0.05)
    assert places.found(place) == first
    assert gatherer.times == 1
    places.want([])


def test_a_change_is_seen(place: Place, tmp_path: Path) -> None:
    places = Places(Look(Gatherer(), seconds=0.001), lambda: KEY)
    places.want([place])
    places.wait(seconds=10)
    before = digest(places.found(place))
    (tmp_path / "file").write_text("new")
    until(lambda: digest(places.found(place)) != before)
    places.want([])


def test_a_place_that_is_wanted_again_is_another_turn(place: Place) -> None:
    places = Places(Look(Gatherer(), seconds=0.001), lambda: KEY)
    places.want([place])
    places.wait(seconds=10)
    first = places.found(place)
    places.want([])
    until(lambda: places.found(place) is None)
    places.want([place])
    places.wait(seconds=10)
    again = places.found(place)
    assert first is not None
    assert again is not None
    assert again.turn != first.turn
    places.want([])


def test_the_thread_ends_with_the_last_place(place: Place) -> None:
    others = set(threading.enumerate())  # of recorders that other tests have left
    places = Places(Look(Gatherer(), seconds=60), lambda: KEY)
    places.want([place])
    places.wait(seconds=10)
    threads = [thread for thread in threading.enumerate() if thread not in others]
    assert [thread.name for thread in threads] == ["tallystick-configuration"]
    places.want([])
    for thread in threads:
        thread.join(10)
    assert not any(thread.is_alive() for thread in threads)


def test_a_fault_is_told_and_the_place_counts_as_read(place: Place) -> None:
    gatherer, told = Gatherer(), list[Exception]()
    gatherer.fault = RuntimeError("broken")
    places = Places(Look(gatherer, seconds=0.001), lambda: KEY, failed=told.append)
    places.want([place])
    places.wait(seconds=10)
    found = places.found(place)
    assert found is not None
    assert found.digested.inputs == ()
    assert [str(error) for error in told] == ["broken"]
    places.want([])


def test_a_session_that_begins_has_the_files_read_that_changed_though_they_rest(place: Place, tmp_path: Path) -> None:
    gatherer = Gatherer()

    def slow(gathered: Gathered) -> Gathered:
        threading.Event().wait(0.2)  # they rest fifty times as long
        return gathered

    places = Places(Look(gatherer, seconds=0.001, authored=slow), lambda: KEY)
    places.want([place])
    places.wait(seconds=10)
    before = digest(places.found(place))
    (tmp_path / "file").write_text("new")
    ticket = places.ask_git(place)
    until(lambda: (found := places.found(place)) is not None and found.ticket >= ticket)
    assert digest(places.found(place)) != before
    assert gatherer.times == 2
    places.want([])
