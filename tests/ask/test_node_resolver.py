"""What a text may mean as the start of a question."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.ask.node_resolver import Start, absolute, find_start
from tallystick.errors import AmbiguousError, NotFoundError, UsageError
from tallystick.graph.resources import Named
from tallystick.lineage.walk import NodeId, NodeKind
from tallystick.workspace.index import Index
from tests.graph.weaving import Weave
from tests.support.graphs import new_graph


@pytest.fixture
def weave(tmp_path: Path) -> Iterator[Weave]:
    with new_graph(tmp_path / "graph.db") as graph:
        yield Weave(graph)


def start(weave: Weave, text: str, *, folder: str = "/w") -> Start:
    return find_start(Index(weave.graph), text, folder=folder)


def version(id_: int) -> tuple[NodeId, ...]:
    return (NodeId(NodeKind.ARTIFACT, id_),)


def test_a_path_counts_from_here_or_is_absolute(weave: Weave) -> None:
    a = weave.version("file:///w/src/a.py")
    for text in ("src/a.py", "./src/a.py", "src/../src//a.py", "/w/src/a.py", "file:///w/src/a.py"):
        assert start(weave, text).nodes == version(a)
    assert start(weave, "a.py", folder="/w/src").thing == Named("file", "file:///w/src/a.py")
    assert start(weave, "../src/a.py", folder="/w/docs").nodes == version(a)


def test_a_path_whose_folder_nobody_knew_is_found_as_it_is_spelled(weave: Weave) -> None:
    a = weave.version("file:src/a.py")
    assert start(weave, "file:src/a.py").thing == Named("file", "file:src/a.py")
    assert start(weave, "src/a.py").nodes == version(a)
    b = weave.version("file:~/b.py")
    assert start(weave, str(Path.home() / "b.py")).nodes == version(b)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("/tmp/x/a.py", "/private/tmp/x/a.py"),
        ("/tmp/x/a.py", "file:///private/tmp/x/a.py"),
        ("/var/folders/q/a.py", "file:///private/var/folders/q/a.py"),
        ("/private/notes/a.py", "file:///private/notes/a.py"),
        ("/mnt/c/x/a.py", "C:\\x\\a.py"),
        ("/mnt/c/x/a.py", "file:///C:/x/a.py"),
    ],
)
def test_a_file_is_found_by_any_spelling_of_its_path(weave: Weave, stored: str, asked: str) -> None:
    a = weave.version(f"file://{stored}")
    assert start(weave, asked).nodes == version(a)
    assert start(weave, f"{asked}:3").nodes == version(a)


def test_a_link_is_followed_where_the_name_itself_is_not_known(weave: Weave, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    a = weave.version(f"file://{tmp_path.resolve()}/real/a")
    assert start(weave, "link/a", folder=str(tmp_path)).nodes == version(a)


def test_the_end_of_one_recorded_path_is_enough(weave: Weave) -> None:
    a = weave.version("file:///elsewhere/project/src/a.py")
    for text in ("a.py", "src/a.py", "project/src/a.py", "/src/a.py"):
        assert start(weave, text).nodes == version(a)
    with pytest.raises(NotFoundError):
        start(weave, "rc/a.py")


def test_the_end_of_several_paths_lists_them(weave: Weave) -> None:
    weave.version("file:///one/a.py")
    weave.version("file:///two/a.py")
    with pytest.raises(AmbiguousError, match=r"'a.py' is ambiguous: 2 things: /one/a.py; /two/a.py") as caught:
        start(weave, "a.py")
    assert caught.value.hint == "give more of the path"


def test_all_versions_are_the_start_the_newest_first(weave: Weave) -> None:
    one = weave.session("one")
    first = one.writes(one.call("Write"), "file:///w/a")
    second = one.changes(one.call("Edit"), "file:///w/a")
    assert start(weave, "a").nodes == version(second) + version(first)


def test_of_very_many_versions_the_newest_are_the_start(weave: Weave) -> None:
    one = weave.session("one")
    versions = [one.writes(one.call("Write"), "file:///w/a") for _ in range(60)]
    found = start(weave, "a")
    assert len(found.nodes) == 50
    assert found.nodes[0].id == versions[-1]
    assert found.more_versions == 10


def test_a_line_of_a_file_is_named_after_a_colon(weave: Weave) -> None:
    a = weave.version("file:///w/a.py")
    found = start(weave, "a.py:12")
    assert (found.nodes, found.line) == (version(a), 12)
    assert start(weave, "w/a.py:12", folder="/else").line == 12
    odd = weave.version("file:///w/a.py:12")
    assert (start(weave, "a.py:12").nodes, start(weave, "a.py:12").line) == (version(odd), None)


def test_a_url_is_named_whole_or_by_its_beginning(weave: Weave) -> None:
    page = weave.version("https://example.org/a?b=c", kind="url")
    assert start(weave, "https://example.org/a?b=c").nodes == version(page)
    assert start(weave, "https://example.org/").nodes == version(page)
    with pytest.raises(NotFoundError, match=r"no record of 'https://example\.com/'"):
        start(weave, "https://example.com/")


def test_resources_commits_and_searches_are_named_as_they_are_kept(weave: Weave) -> None:
    kinds = {"mcp_resource": "mcp://notes/1", "commit": "commit:1a2b3c4d", "search": "websearch:what is a tally"}
    for kind, uri in kinds.items():
        found = weave.version(uri, kind=kind)
        assert start(weave, uri).nodes == version(found)
    assert start(weave, "1a2b3c4d").thing == Named("commit", "commit:1a2b3c4d")


def test_a_commit_is_found_by_a_beginning_of_its_hash_on_either_side(weave: Weave) -> None:
    weave.version("commit:1a2b3c4d", kind="commit")
    assert start(weave, "1a2b3c").thing == Named("commit", "commit:1a2b3c4d")
    assert start(weave, "1a2b3c4d" + "0" * 32).thing == Named("commit", "commit:1a2b3c4d")
    with pytest.raises(NotFoundError):
        start(weave, "1a2b3c5")


def test_a_step_is_named_by_session_and_number_or_by_its_hash(weave: Weave) -> None:
    one = weave.session("session-one")
    prompt = one.prompt("a")
    call = one.call("Bash")
    for text in (f"{one.sid}:{call}", one.ref(call), f"session-one:{call}", one.hash(call)[:12]):
        assert start(weave, text).nodes == (one.step(call),)
    assert start(weave, one.ref(prompt)).nodes == (one.prompt_node(prompt),)
    assert start(weave, one.ref(0)).nodes == (one.node,)


def test_a_session_is_named_by_either_of_its_ids(weave: Weave) -> None:
    one = weave.session("session-one")
    for text in (one.sid, one.sid[:8], "session-one", "session-o"):
        assert start(weave, text).nodes == (one.node,)


def test_a_file_comes_before_a_session_that_begins_so(weave: Weave) -> None:
    one = weave.session("receipts-currency")
    a = weave.version("file:///elsewhere/receipts")
    assert start(weave, "receipts").nodes == version(a)
    assert start(weave, "receipts-currency").nodes == (one.node,)


def test_of_a_folder_the_files_below_it_are_offered(weave: Weave) -> None:
    weave.version("file:///w/docs/a")
    for text in ("docs", "docs/", "/w/docs/."):
        with pytest.raises(NotFoundError, match="no record of /w/docs itself") as caught:
            start(weave, text)
        assert "`tally artifact list --prefix /w/docs/`" in (caught.value.hint or "")


def test_what_means_nothing_brings_near_names(weave: Weave) -> None:
    weave.version("file:///w/docs/summary.md")
    weave.insert(
        "artifact_facts",
        {"kind": "file", "uri": "file:///w/docs/summary.md", "last_seen_at": 1, "last_modified_at": 1},
    )
    for text in ("sumary.md", "Summary", "else/where/summary.md"):
        with pytest.raises(NotFoundError) as caught:
            start(weave, text)
        assert caught.value.hint is not None
        assert "/w/docs/summary.md" in caught.value.hint
    with pytest.raises(NotFoundError) as caught:
        start(weave, "zzz")
    assert caught.value.hint == "`tally search zzz` searches prompts and results"


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "a/" * 5_000,
        "\x1b[31m",
        "%",
        "*",
        "_",
        "'; DROP TABLE artifacts",
        "..",
        "/",
        ".",
        "~",
        ":1",
        "a:0",
        "://",
    ],
)
def test_no_text_does_harm(weave: Weave, text: str) -> None:
    weave.version("file:///w/a")
    with pytest.raises((NotFoundError, UsageError)):
        start(weave, text)


@pytest.mark.parametrize("text", ["", "a\0b"])
def test_no_name_is_a_mistake_of_the_caller(weave: Weave, text: str) -> None:
    with pytest.raises(UsageError):
        start(weave, text)


def test_a_path_is_made_absolute_without_looking_at_the_disk() -> None:
    assert absolute("a/../b", "/w") == "/w/b"
    assert absolute("/a//b/.", "/w") == "/a/b"
    assert absolute("~/a", "/w") == str(Path.home() / "a")
