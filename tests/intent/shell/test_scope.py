"""Variables and folders at one place of a text."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.scope import Place, Scope, change_folder, failed, may_have_run, merge, untold
from tallystick.model.script import HOLE, Word

NAMES = st.sampled_from(["A", "B", "C"])
VALUES = st.builds(Word, st.sampled_from(["a", "b", HOLE]))
VARIABLES = st.dictionaries(NAMES, VALUES)


def scope(variables: dict[str, Word] | None = None, folder: str | None = "/w") -> Scope:
    place = Place([folder] if folder else [], folder)
    return Scope({"HOME": Word("/home/dev"), **(variables or {})}, place)


def gone(*paths: str) -> Scope:
    found = scope()
    for path in paths:
        change_folder("cd", (Word(path),), found)
    return found


def test_cd_goes_where_bash_goes() -> None:
    assert gone("x").place.current == "/w/x"
    assert gone("/a", "../b").place.current == "/b"
    assert gone("x", "-").place.current == "/w"
    assert gone(HOLE).place.current is None
    assert gone(HOLE, "x").place.current is None
    assert gone(HOLE, "/x").place.current == "/x"
    home = scope()
    change_folder("cd", (), home)
    assert home.place.current == "/home/dev"
    elsewhere = scope()
    del elsewhere.variables["HOME"]  # on another machine
    change_folder("cd", (), elsewhere)
    assert elsewhere.place.current is None


def test_pushd_and_popd_undo_each_other() -> None:
    found = scope()
    change_folder("pushd", (Word("x"),), found)
    change_folder("pushd", (Word("y"),), found)
    change_folder("popd", (), found)
    assert found.place.current == "/w/x"
    change_folder("popd", (), found)
    assert found.place.current == "/w"
    change_folder("popd", (), found)
    assert found.place.current is None


def test_where_a_folder_is_not_told_neither_is_pwd() -> None:
    assert gone("x").variables["PWD"] == Word("/w/x")
    assert not gone(HOLE).variables["PWD"].is_known


@given(VARIABLES)
def test_branches_that_end_alike_leave_what_they_left(variables: dict[str, Word]) -> None:
    found = scope()
    merge(found, [scope(variables), scope(variables)])
    assert {name: found.variables[name] for name in variables} == variables
    assert found.place.current == "/w"


@given(VARIABLES, VARIABLES)
def test_what_differs_after_branches_is_not_told(first: dict[str, Word], second: dict[str, Word]) -> None:
    found = scope()
    merge(found, [scope(first), scope(second)])
    for name in {*first, *second}:
        if first.get(name) == second.get(name):
            assert found.variables[name] == first[name]
        else:
            assert not found.variables[name].is_known


def test_after_branches_in_different_folders_the_folder_is_not_told() -> None:
    found = scope()
    merge(found, [gone("x"), gone("y")])
    assert found.place.current is None
    assert set(found.folders) == {"/w", "/w/x", "/w/y"}


def test_what_is_one_of_several_keeps_what_they_were_made_from() -> None:
    word = untold([Word("a", "b", (1,)), Word("c", "", (2, 1))])
    assert (word.text, word.hidden, word.commands) == (HOLE, "a b c", (1, 2))


def test_what_follows_a_failed_cd_stands_where_it_began() -> None:
    after = gone("x")
    assert failed(after, "/w").place.current == "/w"
    assert failed(after, "/w/x") == after


def test_what_may_have_run_leaves_only_what_it_did_not_touch() -> None:
    found, end = scope({"A": Word("a"), "B": Word("b")}), scope({"A": Word("c"), "B": Word("b")})
    may_have_run(found, end, "/w")
    assert found.variables["B"] == Word("b")
    assert not found.variables["A"].is_known
    left = scope()
    may_have_run(left, gone("x"), "/w")
    assert left.place.current is None
    assert "/w/x" in left.folders


def test_parameters_are_counted_and_listed() -> None:
    found = scope()
    found.number([Word("a"), Word("b c")], first=1)
    assert (found.variables["1"].text, found.variables["2"].text, found.variables["#"].text) == ("a", "b c", "2")
    assert found.listed('"$@"') == [Word("a"), Word("b c")]
    assert found.listed("$1") is None
    assert scope().listed('"$@"') is None
