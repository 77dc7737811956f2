"""What a person means by an id."""

from collections.abc import Iterator

import pytest

from tallystick.errors import AmbiguousError, NotFoundError, UsageError
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.recording.recorder import Recorder
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tallystick.workspace.names import find_session, find_step

OWN = "a42b3437-edc3-4f9f-94df-46a5393a6b90"


@pytest.fixture
def index(indexed_samples: Home) -> Iterator[Index]:
    with open_index(indexed_samples) as index:
        yield index


def test_a_session_is_named_by_our_id_or_the_agents_whole_or_begun(index: Index) -> None:
    sid = find_session(index, OWN)
    assert find_session(index, sid) == find_session(index, sid[:6]) == find_session(index, OWN[:8]) == sid


def test_a_beginning_of_an_agents_id_does_not_mean_its_sub_agents(index: Index) -> None:
    assert find_session(index, "a42b3437") == find_session(index, OWN)
    assert find_session(index, f"{OWN}/ac22766a05ee82a73") != find_session(index, OWN)


@pytest.mark.parametrize("name", ["", "a", "ffff-none", "../../etc", "%", "*", "\x00"])
def test_a_name_that_means_nothing_is_not_found(index: Index, name: str) -> None:
    with pytest.raises(NotFoundError):
        find_session(index, name)


def test_an_ambiguous_name_lists_the_candidates(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        for number in range(3):
            recorder.session("demo", f"same-beginning-{number}")
    with open_index(home) as index, pytest.raises(AmbiguousError) as caught:
        find_session(index, "same-beginning")
    assert str(caught.value).count("demo") == 3


def test_a_step_is_named_by_session_and_number_or_by_its_hash(indexed_samples: Home, index: Index) -> None:
    sid = find_session(index, OWN)
    step = next(step for step in read_session(indexed_samples, sid) if step.n == 47)
    for name in (f"{OWN}:47", f"{sid[:8]}:47", step.hash, step.hash[:10], f"{sid[:8]}#{step.hash[:8]}"):
        found = find_step(index, name)
        assert (found.session, found.n, found.hash) == (sid, 47, step.hash)


def test_within_a_session_its_number_alone_names_a_step(indexed_samples: Home, index: Index) -> None:
    sid = find_session(index, OWN)
    assert find_step(index, "47", within=sid).n == 47
    hash_ = find_step(index, "47", within=sid).hash
    assert find_step(index, hash_[:8], within=sid).n == 47


def test_within_a_session_a_step_of_another_is_a_mistake(index: Index) -> None:
    sid = find_session(index, OWN)
    with pytest.raises(UsageError, match="does not belong to session"):
        find_step(index, "receipts-currency:3", within=sid)


@pytest.mark.parametrize("number", ["999", "99999"])
def test_within_a_session_a_number_that_it_has_not_is_not_found(index: Index, number: str) -> None:
    with pytest.raises(NotFoundError):
        find_step(index, number, within=find_session(index, OWN))


@pytest.mark.parametrize(
    ("name", "error"),
    [("47", UsageError), ("", UsageError), (f"{OWN}:999", NotFoundError), ("0000000000", NotFoundError)],
)
def test_a_name_that_means_no_step_is_an_error(index: Index, name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        find_step(index, name)
