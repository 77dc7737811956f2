"""Which paths and texts mean a protected place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.script import ANY_ONE, CLASS, HOLE, STAR, Word
from tallystick.policy.protected.places import Kind, Naming, Places, Projects, Protected, matches_name
from tests.support.cases import each, each_case

LINKS = {"/dev/link": "/dev/.tally", "/dev/project/link.json": "/dev/.claude/settings.json"}


def resolve(path: str) -> str:
    return LINKS.get(path, path)


def places(*, ignores_case: bool = False) -> Places:
    protected = [
        Protected(Kind.STORE, "/dev/.tally", is_folder=True),
        Protected(Kind.KEYS, "/dev/.tally/keys", is_folder=True),
        Protected(Kind.HOOK_SETTINGS, "/dev/.claude/settings.json", is_folder=False),
    ]
    return Places(
        protected,
        home="/dev",
        projects=Projects(settings=(".claude/settings.json",)),
        naming=Naming(resolve=resolve, ignores_case=ignores_case),
    )


@each(
    "path, kinds",
    [
        ("/dev/.tally", {Kind.STORE}),
        ("/dev/.tally/", {Kind.STORE}),
        ("~/.tally/x", {Kind.STORE}),
        ("../.tally/x", {Kind.STORE}),
        ("//dev//.tally/./x", {Kind.STORE}),
        ("/dev/x/../.tally", {Kind.STORE}),
        ("file:///dev/.tally/x", {Kind.STORE}),
        ("/dev/link", {Kind.STORE}),
        ("link.json", {Kind.HOOK_SETTINGS}),
        ("/dev/.tally/keys/log.key", {Kind.STORE, Kind.KEYS}),
        (f"/dev/.t{STAR}", {Kind.STORE}),
        (f"/dev/.tall{ANY_ONE}/x", {Kind.STORE}),
        (f"/dev/.{CLASS}t]ally", {Kind.STORE}),
        (f"/dev/.{CLASS}^x]ally", {Kind.STORE}),
        (f"/dev/.ta{HOLE}", {Kind.STORE}),
        (".claude/settings.json", {Kind.HOOK_SETTINGS}),
        ("/elsewhere/.claude/settings.json", {Kind.OTHER_SETTINGS}),
        ("/dev/.tally-old", set()),
        ("/dev/.tall", set()),
        ("/dev", set()),
        (f"/dev/{STAR}", set()),
        (f"/dev/{HOLE}", set()),
        ("/dev/.tally*", set()),
        ("/DEV/.Tally", set()),
        ("settings.json", set()),
        ("", set()),
        ("x" * 5000, set()),
    ],
)
def test_a_path_means_a_place_however_it_is_spelled(path: str, kinds: set[Kind]) -> None:
    assert places().touched(path, ["/dev/project"], deep=False) == kinds


@each_case("path, kinds")
def test_what_takes_everything_below_it_along_means_the_places_below(path: str, kinds: set[Kind]) -> None:
    assert places().touched(path, ["/dev/project"], deep=True) == kinds


def test_case_counts_only_where_files_differ_by_it() -> None:
    assert places(ignores_case=True).touched("/DEV/.Tally", [], deep=False) == {Kind.STORE}
    assert places(ignores_case=True).mentioned("rm /Dev/.TALLY/x") == {Kind.STORE}


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("shutil.rmtree('/dev/.tally')", {Kind.STORE}),
        ("rmtree(os.path.join(home, '.tally'))", {Kind.STORE}),
        ("Path.home() / '.claude' / 'settings.json'", {Kind.HOOK_SETTINGS}),
        ("path.join('.claude', 'settings.json')", {Kind.HOOK_SETTINGS}),
        ("x/.claude/./settings.json", {Kind.HOOK_SETTINGS}),
        ("os.environ['TALLY_HOME']", {Kind.STORE}),
        ("/dev//.tally/./keys/log.key", {Kind.STORE, Kind.KEYS}),
        ("a.tally b", set()),
        ("~/.tally-old ~/.tallyrc ~/.tally.bak", set()),
        (".claude/settings.json.example", set()),
        (".claude and then settings.json", set()),
        ("MY_TALLY_HOME_X", set()),
    ],
)
def test_a_text_names_a_place(text: str, kinds: set[Kind]) -> None:
    assert places().mentioned(text) == kinds


@each("text", ["--out=/dev/.tally/x", "-o/dev/.tally/x", "@/dev/.tally/x", "/dev/.tally:/x", "k=@/dev/.tally/x"])
def test_a_path_is_found_within_a_word(text: str) -> None:
    assert places().of_word(Word(text), ["/dev/project"], deep=False) == {Kind.STORE}


def test_what_a_hole_was_made_from_counts() -> None:
    assert places().of_word(Word(HOLE, "ls /dev/.tally"), ["/w"], deep=False) == {Kind.STORE}
    assert places().of_word(Word(HOLE, f"ls /dev/.t{STAR}"), ["/w"], deep=False) == {Kind.STORE}
    assert places().of_word(Word(f"{HOLE}/.tally/x"), ["/w"], deep=False) == {Kind.STORE}


def test_names_of_find_are_matched_as_find_does() -> None:
    assert matches_name("ledger.jsonl", "*.jsonl")
    assert matches_name("ledger.jsonl", f"{STAR}.jsonl")
    assert not matches_name("ledger.jsonl", "*.json")


def test_a_link_that_is_removed_is_not_what_it_leads_to() -> None:
    assert places().touched("/dev/link", ["/dev/project"], deep=True) == {Kind.STORE, Kind.KEYS}
    assert places().removed("/dev/link", ["/dev/project"], deep=True) == set()
    assert places().removed("/dev/.tally", ["/dev/project"], deep=True) == {Kind.STORE, Kind.KEYS}
    assert places().removed("", ["/dev/project"], deep=True) == set()


def test_a_bare_star_is_not_meant_for_a_settings_file_at_the_top_of_a_project() -> None:
    found = Places([], home="/dev", projects=Projects(settings=("tool.toml", ".claude/settings.json")))
    assert found.touched(STAR, ["/dev/project"], deep=False) == set()
    assert found.touched(f"src/{STAR}", ["/dev/project"], deep=True) == set()
    assert found.touched(f"t{STAR}.toml", ["/dev/project"], deep=False) == {Kind.HOOK_SETTINGS}
    assert found.touched(f".claude/{STAR}", ["/dev/project"], deep=False) == {Kind.HOOK_SETTINGS}


def test_what_a_link_leads_to_is_looked_up_once_in_a_call() -> None:
    asked: list[str] = []

    def slow(path: str) -> str:
        asked.append(path)
        return path

    found = Places([], home="/dev", projects=Projects(settings=("tool.toml",)), naming=Naming(resolve=slow)).for_call()
    for _ in range(3):
        found.touched("x/y", ["/dev/project"], deep=False)
    assert asked == ["/dev/project/x/y"]


_PARTS = st.sampled_from((".tally", ".Tally", "keys", ".claude", "settings.json", "dev", "project", "tool.toml", "x"))


@given(st.lists(_PARTS, max_size=6), st.booleans(), st.booleans())
def test_a_path_without_wildcards_means_what_it_means_as_a_pattern(
    parts: list[str], deep: bool, ignores_case: bool
) -> None:
    found = places(ignores_case=ignores_case)
    text = "/" + "/".join(parts)
    plain = found._meet(text, deep)
    pattern = found._meet_any(found._segments(text), deep=deep)
    assert [set(one) for one in plain] == [set(one) for one in pattern]
