"""Finding steps by the words in them."""

from tallystick.ask.search import search
from tallystick.graph.journals import Depth
from tallystick.graph.search import SearchFilter, SearchResult
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.workspace.index import LARGEST_SEARCHED
from tallystick.workspace.indexing import open_index


def find(home: Home, text: str, wanted: SearchFilter | None = None) -> SearchResult:
    with open_index(home, depth=Depth.TEXT) as index:
        return search(home, index, text, wanted or SearchFilter())


def test_words_are_found_with_the_text_around_them(samples: Home) -> None:
    found = find(samples, "forced pushes", SearchFilter(tools=("Bash",)))
    (result,) = (hit for hit in found.hits if hit.step.n == 47)
    assert "".join(part.text for part in result.snippet).startswith("PreToolUse:Bash hook error: Forced pushes")
    assert [part.text for part in result.snippet if part.hit] == ["Forced", "pushes"]
    assert {hit.step.n for hit in found.hits if not hit.partial} == {46, 47}  # the call has `push --force`


def test_calls_that_touched_a_file_are_found_with_their_results(samples: Home) -> None:
    found = find(samples, "discount", SearchFilter(path="receipts/totals.py", limit=100))
    assert {hit.step.type for hit in found.hits} == {"tool_call", "tool_result"}
    assert {hit.step.tool for hit in found.hits} >= {"Read", "Edit"}
    assert len(found.hits) < len(find(samples, "discount", SearchFilter(limit=100)).hits)


def test_a_path_is_found_by_its_parts(samples: Home) -> None:
    whole = {hit.step.hash for hit in find(samples, "receipts/totals.py", SearchFilter(limit=100)).hits}
    assert whole
    for part in ("totals.py", "receipts totals", "receipts/tot*"):
        assert whole <= {hit.step.hash for hit in find(samples, part, SearchFilter(limit=100)).hits}


def test_what_was_recorded_just_now_is_found(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        session.prompt("a needle in a haystack")
        assert [hit.step.n for hit in find(home, "needle").hits] == [1]
        session.prompt("another needle")
        assert len(find(home, "needle").hits) == 2


def test_a_large_text_is_found_and_shown_though_it_lies_in_a_blob(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        step = session.step("tool_result", content={"output": "needle " + "hay " * 50_000})
        assert "content.output" in step.unloaded or len(str(step.values.get("content.output"))) > 65536
        session.step("tool_result", content={"output": "needle " + "x" * LARGEST_SEARCHED})
    found = find(home, "needle")
    assert [hit.step.n for hit in found.hits] == [step.n]
    assert found.hits[0].snippet[0].text == "needle"


def test_nothing_is_found_where_there_is_nothing(samples: Home) -> None:
    for text in ("zzzzqqq", "", "***", '"""', "zzzzqqq qqqzzzz ( ) : ^"):
        assert find(samples, text).hits == ()
