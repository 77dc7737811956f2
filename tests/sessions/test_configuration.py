"""What a session ran under: told without values, read back, and compared."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.seal.names import fit_meta
from tallystick.sessions.configuration import (
    HOOKS,
    SECTIONS,
    Author,
    By,
    Configuration,
    Difference,
    Given,
    configuration,
    differences,
    digested,
    in_words,
    ordered,
    then,
    told_by,
)
from tallystick.sessions.fingerprint import Hook
from tests.support.cases import each, each_case

KEY = bytes(range(32))
GUARD = (Hook(name="guard.py", phase="pre"), b"python guard.py")


def made(*inputs: Given, hooks: tuple[tuple[Hook, bytes], ...] = ()) -> Configuration:
    return configuration(KEY, digested(KEY, inputs, hooks, sections=("settings", "hooks", "instructions")))


def file(name: str, data: bytes = b"x", section: str = "instructions", problem: str | None = None) -> Given:
    return Given(section=section, name=name, data=data, size=len(data), mode=0o600, problem=problem)


def recorded(meta: Json, values: Json) -> Recorded:
    return Recorded(session="0" * 32, n=1, hash="0" * 64, prev="0" * 64, parents=(), meta=meta, values=values)


INPUTS = st.lists(
    st.builds(
        Given,
        section=st.sampled_from(["settings", "hooks", "mcp"]),
        name=st.text(max_size=5),
        data=st.binary(max_size=5),
        problem=st.none() | st.just("permission denied"),
    ),
    max_size=6,
)


@given(INPUTS, st.randoms(use_true_random=False))
def test_the_same_inputs_make_the_same_fingerprint_in_whatever_order(inputs: list[Given], random: object) -> None:
    shuffled = sorted(inputs, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert made(*inputs).fingerprint == made(*shuffled).fingerprint


@given(INPUTS)
def test_what_is_told_is_read_back(inputs: list[Given]) -> None:
    found = made(*inputs, hooks=(GUARD,))
    meta, values = found.told()
    assert fit_meta(meta) == (meta, {}), "all of it may stand in meta"
    assert told_by(recorded(meta, values)) == found


@given(st.binary(min_size=12, max_size=40))
def test_no_value_is_told(secret: bytes) -> None:
    found = made(file("a", secret), hooks=((Hook(name="h"), secret),))
    assert secret.hex() not in repr(found.told())
    assert repr(secret)[2:-1] not in repr(found.told())


def test_size_and_mode_of_a_file_are_told_and_do_not_count() -> None:
    one, other = made(file("a")), made(Given(section="instructions", name="a", data=b"x"))
    assert one.fingerprint == other.fingerprint
    told = one.told()[1]["content.configuration"]["instructions"]
    assert [(item["size"], item["mode"]) for item in told] == [(1, "0600")]


def test_the_author_of_a_file_is_told_and_does_not_count() -> None:
    given = Given(section="instructions", name="a", data=b"x")
    one = made(msgspec.structs.replace(given, author=Author(by=By.SESSION, step="s:1")))
    assert one.fingerprint == made(given).fingerprint
    told = one.told()[1]["content.configuration"]["instructions"]
    assert [(item["by"], item["step"]) for item in told] == [("session", "s:1")]


def test_many_files_in_a_folder_hide_none_above_it() -> None:
    rules = [file(f"project:.claude/rules/{n:04}.md") for n in range(600)]
    found = made(*rules, file("project:CLAUDE.md"), file("user:.claude/CLAUDE.md"))
    names = [item.name for item in found.inputs["instructions"]]
    assert {"project:CLAUDE.md", "user:.claude/CLAUDE.md"} <= set(names)
    assert (len(names), names[-1]) == (256, "(and more): 347")


def test_a_file_that_cannot_be_read_counts_as_that_whatever_is_in_it() -> None:
    unread = made(file("a", b"x", problem="permission denied"))
    assert unread.fingerprint == made(file("a", b"y", problem="too large")).fingerprint
    assert unread.fingerprint not in (made(file("a", b"x")).fingerprint, made().fingerprint, made(file("a", b"")))
    assert differences(made(file("a")), unread)[0].unreadable == ("a",)


def test_a_section_that_was_looked_at_and_is_empty_is_another_than_one_that_was_not() -> None:
    looked = configuration(KEY, digested(KEY, (), sections=("mcp",)))
    assert looked.fingerprint != configuration(KEY, digested(KEY, ())).fingerprint
    found = differences(looked, configuration(KEY, digested(KEY, ())))
    assert [(each.section, each.not_seen) for each in found] == [("mcp", "second")]


def test_more_inputs_than_are_told_still_count() -> None:
    many = [file(f"{n:04}", str(n).encode()) for n in range(600)]
    found = made(*many)
    assert len(found.inputs["instructions"]) == 256
    changed = [*many[:-1], file("0599", b"other")]
    difference = differences(found, made(*changed))
    assert [(each.section, each.changed) for each in difference] == [("instructions", ("(and more): 345",))]


@each(
    "before, after, said",
    [
        ((file("a", b"1"),), (file("a", b"2"),), "a changed"),
        ((), (file("a"), file("b")), "a, b added"),
        ((file("a"),), (), "a removed"),
        ((file("a", b"1"), file("c")), (file("a", b"2"), file("b")), "a changed; b added; c removed"),
        ((), tuple(file(str(n)) for n in range(10)), "0, 1, 2, 3, 4, 5, 6, 7 and 2 more added"),
    ],
)
def test_what_differs_is_said_by_name(before: tuple[Given, ...], after: tuple[Given, ...], said: str) -> None:
    found = differences(made(*before), made(*after))
    assert [(each.section, in_words(each)) for each in found] == [("instructions", said)]


def test_what_a_session_has_not_said_of_itself_is_no_change() -> None:
    told = made(Given(section="permissions", name="mode", data=b"plan"), file("a", section="permissions"))
    silent = made(file("a", section="permissions"))
    for one, other in ((told, silent), (silent, told)):
        (found,) = differences(one, other)
        assert (found.names, in_words(found)) == ((), "mode told by one alone")


def test_hooks_are_named() -> None:
    settings = file("user:settings.json", b"1", HOOKS)
    more = file("user:settings.json", b"2", HOOKS)
    found = differences(made(settings), made(more, hooks=(GUARD,)))
    assert [in_words(each) for each in found] == ["user:settings.json changed; hook guard.py (pre) added"]


def test_a_section_whose_inputs_were_erased_is_still_told() -> None:
    one, other = made(file("a", b"1")), made(file("a", b"2"))
    meta, _ = other.told()
    erased = told_by(recorded(meta, {}))
    assert erased is not None
    assert differences(one, erased) == (Difference(section="instructions", removed=("a",)),)


@given(INPUTS, INPUTS)
def test_nothing_differs_exactly_where_the_fingerprint_is_the_same(one: list[Given], other: list[Given]) -> None:
    first, second = made(*one), made(*other)
    assert (differences(first, second) == ()) == (first.fingerprint == second.fingerprint)


@given(INPUTS, INPUTS)
def test_a_change_tells_all_that_is_needed_to_know_the_whole(one: list[Given], other: list[Given]) -> None:
    before, after = made(*one), made(*other)
    changed = [each.section for each in differences(before, after)]
    said = told_by(recorded(*after.told(changed)))
    assert said is not None
    assert then(before, said) == after


@each_case("meta")
def test_a_step_that_tells_none_has_none(meta: Json) -> None:
    assert told_by(recorded(meta, {})) is None


@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_whatever_stands_there_is_read_without_a_fault(value: Json) -> None:
    meta = {"config_fingerprint": "00", "config_sections": {"a": value, "b": "11"}}
    found = told_by(recorded(meta, {"content.configuration": value, "content.hook_registry": value}))
    assert found is not None
    assert found.sections["b"] == "11"


def test_sections_have_an_order_and_others_come_after() -> None:
    assert ordered(["zoo", *reversed(SECTIONS), "able"]) == [*SECTIONS, "able", "zoo"]
