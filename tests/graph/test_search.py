from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tallystick.errors import UsageError
from tallystick.graph.document import COLUMNS
from tallystick.graph.graph import Graph
from tallystick.graph.journals import Depth
from tallystick.graph.project import project
from tallystick.graph.search import Hit, Order, Part, SearchFilter, match_expression, search
from tallystick.graph.steps import StepEntry
from tallystick.model.recorded import Recorded
from tests.graph.making import Session, erased, sid_of, time_at
from tests.support.graphs import new_graph
from tests.support.laws import examples


def story() -> Session:
    session = Session("one")
    session.begin()
    session.prompt("Fix the parser in src/main.py, please")
    session.add("assistant", thinking="The parser fails on naïve input", text="I shall look at the parser")
    session.add("tool_call", {"tool": "Bash"}, args={"command": "grep -rn parse_line src/main.py", "timeout": 8080})
    session.add("tool_result", {"tool": "Bash", "success": False}, output="12: def parse_line(text):", error="exit 1")
    session.add("assistant", text="x " * 100 + "needle " + "y " * 100)
    session.add("assistant", text="parser parser parser")
    return session


ONE = story()
TWO = Session("two", agent="other", start=1000)
TWO.begin()
TWO.prompt("the parser again, and 中文 text")


def reader(*sessions: Session) -> Callable[[StepEntry], Recorded | None]:
    lines = {line.step.hash: line for session in sessions for line in session.lines}

    def read(entry: StepEntry) -> Recorded | None:
        line = lines.get(entry.hash)
        return line.step if line is not None and line.offset == entry.offset else None

    return read


READ = reader(ONE, TWO)


@pytest.fixture
def index(graph: Graph) -> Graph:
    project(graph, [ONE.journal(), TWO.journal()])
    return graph


def hits(graph: Graph, text: str, wanted: SearchFilter | None = None) -> tuple[Hit, ...]:
    return search(graph, text, wanted if wanted is not None else SearchFilter(), READ).hits


def places(graph: Graph, text: str, wanted: SearchFilter | None = None) -> set[tuple[str, int]]:
    names = {ONE.sid: "one", TWO.sid: "two"}
    return {(names[hit.step.session], hit.step.n) for hit in hits(graph, text, wanted) if not hit.partial}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("needle", {("one", 5)}),
        ("NEEDLE", {("one", 5)}),
        ("naive", {("one", 2)}),
        ("fix parser", {("one", 1)}),
        ('"the parser"', {("one", 1), ("one", 2), ("two", 1)}),
        ('"parser the"', set()),
        ("src/main.py", {("one", 1), ("one", 3)}),
        ("parse_line", {("one", 3), ("one", 4)}),
        ("parse*", {("one", 1), ("one", 2), ("one", 3), ("one", 4), ("one", 6), ("two", 1)}),
        ('"parse li"*', {("one", 3), ("one", 4)}),
        ("8080", {("one", 3)}),
        ("parsers", {("one", 1), ("one", 2), ("one", 6), ("two", 1)}),
        ("failing", {("one", 2)}),
        ("fixes looking", set()),
        ("looked", {("one", 2)}),
        ('"parsing lines"', {("one", 3), ("one", 4)}),
        ("parse_lines", {("one", 3), ("one", 4)}),
        ("pleasi*", {("one", 1)}),
        ("please* parse*", {("one", 1)}),
        ("pleasx*", set()),
        ("exit", {("one", 4)}),
        ("look thinking", set()),
        ("look fails", {("one", 2)}),
        ("中文", {("two", 1)}),
        ("command", set()),
        ("", set()),
        ("  ", set()),
        ("!!! ... ---", set()),
        ("needle !!!", {("one", 5)}),
        ("--- needle", {("one", 5)}),
        ('needle "', {("one", 5)}),
        ("needle\0parser", set()),
        ("fix\0parser", {("one", 1)}),
        ('"the parser', {("one", 1), ("one", 2), ("two", 1)}),
    ],
)
def test_steps_are_found_by_their_words(index: Graph, text: str, found: set[tuple[str, int]]) -> None:
    assert places(index, text) == found


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (SearchFilter(session=ONE.sid), {("one", 1), ("one", 2), ("one", 6)}),
        (SearchFilter(session=sid_of("nobody")), set()),
        (SearchFilter(agents=("other",)), {("two", 1)}),
        (SearchFilter(types=("user",)), {("one", 1), ("two", 1)}),
        (SearchFilter(tools=("Bash",)), set()),
        (SearchFilter(fields=("thinking",)), {("one", 2)}),
        (SearchFilter(fields=("prompt", "thinking")), {("one", 1), ("one", 2), ("two", 1)}),
        (SearchFilter(fields=("output",)), set()),
        (SearchFilter(since=time_at(6)), {("one", 6), ("two", 1)}),
        (SearchFilter(until=time_at(2)), {("one", 1)}),
        (SearchFilter(limit=0), set()),
    ],
)
def test_what_is_found_is_filtered(index: Graph, wanted: SearchFilter, found: set[tuple[str, int]]) -> None:
    assert places(index, "parser", wanted) == found


def test_the_best_comes_first_or_the_newest(index: Graph) -> None:
    best = [hit.step.n for hit in hits(index, "parser", SearchFilter(session=ONE.sid))]
    assert best[0] == 6
    newest = [(hit.step.session, hit.step.n) for hit in hits(index, "parser", SearchFilter(order=Order.NEWEST))]
    assert newest == [(TWO.sid, 1), (ONE.sid, 6), (ONE.sid, 2), (ONE.sid, 1)]


FILTERS = (
    SearchFilter(),
    SearchFilter(session=ONE.sid),
    SearchFilter(agents=("other",)),
    SearchFilter(types=("user", "assistant"), since=time_at(2)),
    SearchFilter(fields=("thinking", "prompt"), until=time_at(500)),
    SearchFilter(failed=True),
    SearchFilter(path="src/main.py"),
)


@pytest.mark.parametrize("wanted", FILTERS)
@pytest.mark.parametrize("text", ["parser", "parse*", "the", "zzz"])
def test_words_that_are_too_common_to_be_ranked_find_the_same_newest_first(
    index: Graph, monkeypatch: pytest.MonkeyPatch, text: str, wanted: SearchFilter
) -> None:
    ranked = search(index, text, replace(wanted, order=Order.NEWEST), READ)
    monkeypatch.setattr("tallystick.graph.search.MOST_RANKED", 0)
    common = search(index, text, wanted, READ)
    assert common.hits == ranked.hits
    if text != "zzz" and wanted.session is None:
        assert common.order is Order.NEWEST


def test_one_is_told_in_which_order_steps_are(index: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    assert search(index, "parser", SearchFilter(), READ).order is Order.BEST
    monkeypatch.setattr("tallystick.graph.search.MOST_RANKED", 3)
    assert search(index, "parser", SearchFilter(), READ).order is Order.NEWEST
    assert search(index, "needle", SearchFilter(), READ).order is Order.BEST


def test_the_best_of_those_with_some_of_the_words_follow(index: Graph) -> None:
    found = hits(index, "needle grep parser")
    assert [hit.partial for hit in found] == [True] * len(found)
    assert found[0].step.n in (3, 5)  # the rare words count for more
    by_step = {hit.step.n: hit for hit in found if hit.step.session == ONE.sid}
    assert by_step[5].missing == ("grep", "parser")
    assert by_step[3].missing == ("needle", "parser")
    assert [part.text for part in by_step[5].snippet if part.hit] == ["needle"]
    whole, *rest = hits(index, "look fails again")[:1] + hits(index, "look fails")
    assert whole.partial
    assert [(hit.step.n, hit.partial, hit.missing) for hit in rest][:1] == [(2, False, ())]


def test_no_partial_match_takes_the_place_of_a_whole_one(index: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.graph.search.FEW", 2)
    for limit, partial in ((0, []), (1, [False]), (2, [False, True]), (9, [False, True])):
        assert [hit.partial for hit in hits(index, "needle x", SearchFilter(limit=limit))] in (partial, [False])
        assert [hit.partial for hit in hits(index, "fix parser", SearchFilter(limit=limit))] == partial
    assert [hit.partial for hit in hits(index, "parser the")] == [False] * 3


def test_a_partial_match_is_within_the_filter(index: Graph) -> None:
    wanted = SearchFilter(fields=("prompt",), session=TWO.sid)
    assert [(hit.step.n, hit.partial, hit.missing) for hit in hits(index, "fix parser", wanted)] == [
        (1, True, ("fix",))
    ]


def test_words_too_common_to_be_ranked_find_no_more_than_can_be(index: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.graph.search.MOST_RANKED", 2)
    assert [hit.step.n for hit in hits(index, "needle parser")] == [5]


def test_a_partial_match_without_its_journal_does_not_say_what_is_missing(index: Graph) -> None:
    result = search(index, "needle grep", SearchFilter(), lambda entry: None)
    assert {(hit.partial, hit.missing, hit.snippet) for hit in result.hits} == {(True, (), ())}


def test_what_failed_can_be_asked_for(index: Graph) -> None:
    assert places(index, "parse*", SearchFilter(failed=True)) == {("one", 4)}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/w/src/main.py", {("files", 2), ("files", 3)}),
        ("src/main.py", {("files", 2), ("files", 3), ("files", 4)}),
        ("./main.py", {("files", 2), ("files", 3), ("files", 4)}),
        ("ain.py", set()),
        ("Main.py", set()),
        ("/src/main.py", set()),
        ("m%.py", set()),
        ("src/main_py", set()),
        ("\ud800\0", None),
    ],
)
def test_calls_that_touched_a_file_are_found_by_its_path_or_the_end_of_it(
    graph: Graph, path: str, found: set[tuple[str, int]] | None
) -> None:
    session = Session("files")
    session.begin()
    session.prompt("word")
    for corr, file in (("a", "/w/src/main.py"), ("b", "/v/src/main.py"), ("c", "/w/other.py")):
        call = {"tool": "Bash", "corr": corr, "request": 1}
        session.add("tool_call", call, args={"command": f"cat {file} # word"}, cwd="/w")
        session.add("tool_result", {**call, "success": True}, output="word" if corr == "a" else "nothing")
    project(graph, [session.journal()])
    try:
        result = search(graph, "word", SearchFilter(path=path), reader(session))
    except UsageError:
        assert found is None
    else:
        assert {("files", hit.step.n) for hit in result.hits} == found or found is None


def test_one_is_told_if_there_is_more(index: Graph) -> None:
    for limit, more in ((3, True), (4, False), (5, False)):
        result = search(index, "parser", SearchFilter(limit=limit), READ)
        assert (len(result.hits), result.more) == (min(limit, 4), more)


def test_a_snippet_shows_where_the_words_stand(index: Graph) -> None:
    (hit,) = hits(index, "naive")
    assert hit.field == "thinking"
    assert hit.snippet == (Part("The parser fails on ", False), Part("naïve", True), Part(" input", False))
    (hit,) = hits(index, "needle")
    assert len("".join(part.text for part in hit.snippet)) < 80
    assert [part.text for part in hit.snippet if part.hit] == ["needle"]


def test_a_snippet_is_of_the_field_that_was_searched(index: Graph) -> None:
    (hit,) = hits(index, "parser", SearchFilter(types=("assistant",), fields=("text",), until=time_at(3)))
    assert (hit.field, hit.snippet[-1]) == ("text", Part("parser", True))


def test_text_cannot_fake_the_marks_of_a_snippet(graph: Graph) -> None:
    session = Session()
    session.begin()
    session.add("assistant", text="\x01fake\x02 real \x1b[31m <b>")
    project(graph, [session.journal()])
    (hit,) = search(graph, "real", SearchFilter(), reader(session)).hits
    assert hit.snippet == (Part(" fake  ", False), Part("real", True), Part(" \x1b[31m <b>", False))


def test_without_its_journal_a_step_is_found_but_not_shown(index: Graph) -> None:
    result = search(index, "needle", SearchFilter(), lambda entry: None)
    assert [(hit.step.n, hit.field, hit.snippet) for hit in result.hits] == [(5, None, ())]


def test_a_step_read_at_the_wrong_place_is_not_shown(index: Graph) -> None:
    result = search(index, "needle", SearchFilter(), lambda entry: TWO.lines[1].step)
    assert [hit.snippet for hit in result.hits] == [()]


def test_what_was_erased_since_is_not_found(index: Graph) -> None:
    gone = {line.step.hash: line.step for line in erased(ONE, 5, "content.text").lines}
    assert search(index, "needle", SearchFilter(), lambda entry: gone.get(entry.hash)).hits == ()


def test_one_is_told_how_much_cannot_be_searched_yet(graph: Graph) -> None:
    project(graph, [ONE.journal()])
    project(graph, [TWO.journal()], depth=Depth.ROWS)
    assert search(graph, "parser", SearchFilter(), READ).unsearchable == 1
    assert places(graph, "parser") == {("one", 1), ("one", 2), ("one", 6)}


@pytest.mark.parametrize(
    "wanted", [SearchFilter(fields=("rowid",)), SearchFilter(fields=("output} : x",)), SearchFilter(since="today")]
)
def test_a_filter_that_means_nothing_is_refused(index: Graph, wanted: SearchFilter) -> None:
    with pytest.raises(UsageError):
        search(index, "parser", wanted, READ)


def test_a_search_that_is_too_long_is_refused(index: Graph) -> None:
    assert search(index, "a " * 1000, SearchFilter(), READ).hits == ()
    with pytest.raises(UsageError, match="long"):
        search(index, "a " * 1001, SearchFilter(), READ)


HOSTILE = st.text(st.sampled_from("ab\"'*^:{}()+-. \0\n\\АЖ中é\x01\x02\ud800%_;") | st.characters(), max_size=40)
WORDS = st.lists(st.sampled_from(["AND", "OR", "NOT", "NEAR", "NEAR(a b, 2)", "output:", "parser", '"', "*", "a*b"]))


@given(HOSTILE | WORDS.map(" ".join), st.lists(st.sampled_from(COLUMNS), max_size=2, unique=True))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(300))
def test_no_text_is_a_syntax_error(index: Graph, text: str, fields: list[str]) -> None:
    search(index, text, SearchFilter(fields=tuple(fields)), READ)


@given(st.lists(st.text(st.characters(categories=["Ll", "Lu", "Nd"]), min_size=1, max_size=8), min_size=1, max_size=5))
@settings(deadline=None, max_examples=examples(50))
def test_every_word_of_a_step_finds_it(words: list[str]) -> None:
    session = Session()
    session.begin()
    session.add("assistant", text=", ".join(words))
    with TemporaryDirectory() as folder, new_graph(Path(folder) / "graph.db") as graph:
        project(graph, [session.journal()])
        for text in (*words, " ".join(reversed(words)), f'"{" ".join(words)}"', f"{words[0][0]}*"):
            result = search(graph, text, SearchFilter(), reader(session))
            assert [hit.step.n for hit in result.hits] == [1], text
            assert any(part.hit for part in result.hits[0].snippet)


def test_operators_of_the_index_are_words_like_others() -> None:
    assert match_expression("a OR b") == '"a" "OR" "b"'
    assert match_expression('output:x "y z"* w*') == '"output:x" "y z"* "w"*'
    assert match_expression("a runni* b") == '"a" "b" AND ("runni"* OR "running" OR "runnings" OR "runnity" OR ' + (
        '"runnities" OR "runnies" OR "runnion" OR "runnions" OR "runnible" OR "runnive" OR "runnize" OR "runnized" OR '
        '"runnization")'
    )
    assert match_expression("x", fields=("args", "error")) == '{args error} : ("x")'
    assert match_expression("?!") is None
