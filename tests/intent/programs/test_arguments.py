from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.programs.arguments import (
    Line,
    below,
    fed_file,
    grammar,
    inside,
    is_fed,
    is_folder,
    last_part,
    literal,
    sentence,
    taken,
)
from tallystick.model.script import HOLE, STAR, Command, Redirect, Word
from tests.support.cases import each

texts = st.text(st.sampled_from("-=abo/ .\0\ue000é"), max_size=8)


def line(text: str, takes: str = "", *, stops: bool = False, is_long: bool = False) -> Line:
    return taken([Word(part) for part in text.split()], grammar(takes, stops=stops, is_long=is_long))


def shown(found: Line) -> tuple[list[tuple[str, str | None]], list[str]]:
    options = [(name, None if value is None else value.text) for name, value in found.options]
    return options, [word.text for word in found.operands]


@each(
    "text, takes, options, operands",
    [
        ("-a b -c", "", [("-a", None), ("-c", None)], ["b"]),
        ("-o f a", "-o", [("-o", "f")], ["a"]),
        ("-of a", "-o", [("-o", "f")], ["a"]),
        ("-xzof a", "-o", [("-x", None), ("-z", None), ("-o", "f")], ["a"]),
        ("-xo f a", "-o", [("-x", None), ("-o", "f")], ["a"]),
        ("--out=f --all a", "--out", [("--out", "f"), ("--all", None)], ["a"]),
        ("--out f a", "--out", [("--out", "f")], ["a"]),
        ("-i.bak -e x a", "-i? -e", [("-i", ".bak"), ("-e", "x")], ["a"]),
        ("-i -e x a", "-i? -e", [("-i", ""), ("-e", "x")], ["a"]),
        ("-a -- -b -", "", [("-a", None)], ["-b", "-"]),
        ("- -a", "", [("-a", None)], ["-"]),
        ("-o", "-o", [("-o", None)], []),
    ],
)
def test_options_and_operands_are_told_apart(
    text: str, takes: str, options: list[tuple[str, str | None]], operands: list[str]
) -> None:
    assert shown(line(text, takes)) == (options, operands)


def test_after_the_first_operand_of_some_programs_nothing_is_an_option() -> None:
    assert shown(line("-p 1 host -l -p", "-p", stops=True)) == ([("-p", "1")], ["host", "-l", "-p"])


def test_one_dash_may_begin_a_whole_name() -> None:
    options, operands = shown(line("-in a --out b -days=3 c", "-in -out", is_long=True))
    assert options == [("-in", "a"), ("-out", "b"), ("-days", "3")]
    assert operands == ["c"]


@given(st.lists(texts, max_size=12), st.sampled_from(["", "-o -b? --out"]), st.booleans(), st.booleans())
def test_every_operand_is_one_of_the_words(parts: list[str], takes: str, stops: bool, is_long: bool) -> None:
    words = [Word(part) for part in parts]
    found = taken(words, grammar(takes, stops=stops, is_long=is_long))
    assert all(any(word is given for given in words) for word in found.operands)
    assert len(found.operands) <= len(words)


@given(st.lists(texts, max_size=12))
def test_what_follows_two_dashes_is_kept_as_it_is(parts: list[str]) -> None:
    words = [Word(part) for part in parts]
    assert taken([Word("--"), *words], grammar("-o")).operands == words


def test_a_word_of_very_many_letters_is_cut() -> None:
    assert len(line("-" + "a" * 100_000).options) < 100


def test_the_last_of_several_values_counts() -> None:
    found = line("-o a -o b", "-o")
    assert found.said("-o") == "b"
    assert [word.text for word in found.values("-o")] == ["a", "b"]
    assert (found.operand(0), found.said("-x"), found.has("-x", "-o")) == ("", "", True)


@each(
    "folder, path, expected",
    [("d", "a", "d/a"), ("d/", "a", "d/a"), ("/", "a", "/a"), ("d", "/a", "/a"), ("d", ".", "d"), (None, "a", "a")],
)
def test_a_path_stands_below_the_folder_that_a_program_works_in(folder: str | None, path: str, expected: str) -> None:
    assert below(Word(folder) if folder is not None else None, Word(path)).text == expected


def test_what_holes_were_made_from_is_kept() -> None:
    made = inside(Word(f"{HOLE}/d", "x", (1,)), Word(f"a/{HOLE}", "y", (2,)))
    assert (made.text, made.hidden, made.commands) == (f"{HOLE}/d/{HOLE}", "x y", (1, 2))
    assert sentence([Word("a"), Word("b", "h")]) == Word("a b", "h")


def test_the_last_part_of_a_path_and_whether_it_is_a_folder() -> None:
    assert [last_part(path) for path in ("a/b", "a/b/", "a", "/")] == ["b", "b", "a", ""]
    assert [is_folder(path) for path in ("a/", ".", "..", "a/..", "a", "a.b")] == [True, True, True, True, False, False]


def test_wildcards_of_an_address_are_characters() -> None:
    assert literal(Word(f"http://a/{STAR}")).text == "http://a/*"


def test_a_file_on_the_standard_input_is_known() -> None:
    fed = Command(words=(Word("x"),), redirects=(Redirect(Word("a"), False, "<"),))
    assert fed_file(fed) == Word("a")
    assert is_fed(fed)
    assert not is_fed(Command(words=(Word("x"),), redirects=(Redirect(Word("a"), True, ">"),)))
