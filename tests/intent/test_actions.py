"""What is found in a text that is code."""

import pytest

from tallystick.intent.actions import HOME, MOST, Found, TooMuchError
from tallystick.model.intent import Domain, Operation
from tallystick.model.script import HOLE


def test_a_path_that_is_not_known_at_all_makes_the_action_unknown() -> None:
    found = Found()
    found.file(Operation.WRITE, None)
    found.file(Operation.WRITE, HOLE * 2)
    found.file(Operation.WRITE, f"a{HOLE}")
    assert [action.operation for action in found.actions] == [Operation.UNKNOWN, Operation.UNKNOWN, Operation.WRITE]


def test_the_home_folder_is_put_in_where_it_is_known() -> None:
    for home, expected in ((None, "~/a"), ("/h", "/h/a")):
        found = Found(home)
        found.file(Operation.READ, f"{HOME}/a")
        found.runs("sh", f"cat {HOME}/a")
        assert found.actions[0].target.text == expected
        assert found.codes[0].text.text == f"cat {expected}"


def test_code_of_which_nothing_is_known_is_unknown() -> None:
    found = Found()
    found.runs("sh", None)
    assert found.read().is_unknown
    assert found.read().codes == ()


def test_a_program_and_its_words_are_a_shell_text() -> None:
    found = Found()
    found.runs_program(["ls", "a b", None])
    assert found.codes[0].text.text == f"ls 'a b' '{HOLE}'"
    found.runs_program([None, "x"])
    assert found.is_unknown


def test_there_is_an_end_to_it() -> None:
    found = Found()
    for number in range(MOST):
        found.file(Operation.READ, str(number))
        found.runs("sh", "x")
    with pytest.raises(TooMuchError):
        found.file(Operation.READ, "x")
    with pytest.raises(TooMuchError):
        found.runs("sh", "x")
    assert (len(found.read().actions), len(found.read().codes)) == (MOST, MOST)


def test_an_overlong_path_is_cut_and_not_known() -> None:
    found = Found()
    found.file(Operation.READ, "/" + "a" * 10_000)
    found.network(Operation.FETCH, "")
    first, second = found.actions
    assert not first.target.is_known
    assert len(first.target.text) < 5000
    assert (second.domain, second.target.text) == (Domain.NETWORK, HOLE)
