"""Stories on the terminal."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tallystick.ask.story import Writer
from tallystick.cli.stories import MOST_LINES, listed, near_name, part_about, path_end, quoted, writers_words
from tallystick.display.text import width_of
from tallystick.recording.recorder import Recorder
from tests.cli.conftest import Tally, TallyJson
from tests.support.asking import call
from tests.support.cases import each
from tests.support.shop import Shop, shop

NAMES = ("page.md", "prices.txt", "style.css", "note.txt", "early.md", "page.md:3")


@pytest.fixture
def told(user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return shop(user / ".tally", folder)


@each("command", ["why", "impact"])
@each("width", ["40", "80", "200"])
def test_no_answer_is_longer_than_seven_lines_nor_wider_than_the_terminal(
    tally: Tally, told: Shop, command: str, width: str
) -> None:
    steps = [f"{told.writer}:{n}" for n in range(11)]
    for text in (*NAMES, *steps, told.writer, told.child, told.early):
        lines = tally(command, text, env={"COLUMNS": width}).stdout.splitlines()
        assert 2 <= len(lines) <= MOST_LINES
        assert lines[-1].startswith("sure")
        assert max(map(width_of, lines)) <= max(int(width), 80)


def test_a_story_names_state_change_prompt_sources_writers_and_what_limits_it(tally: Tally, told: Shop) -> None:
    lines = tally("why", f"{told.writer}:{told.write}", env={"COLUMNS": "160"}).stdout.splitlines()
    labels = ["happened", "asked by", "agreeing to", "from", "since", "sure"]
    assert [line[:11].rstrip() for line in lines[1:]] == labels
    shown = "\n".join(lines)
    assert "“yes”" in shown
    assert "“Shall I write the prices to page.md now?”" in shown
    assert "prices.txt (2 lines); 1 file only shown to the model" in shown
    assert f"claude-code {told.rewriter[:8]}:{told.rewrite}" in shown


def test_all_shows_the_whole_graph_with_all_writers(tally: Tally, told: Shop) -> None:
    whole = tally("why", "page.md", "--all", env={"COLUMNS": "200"}).stdout
    assert "└─ made by Write" in whole
    assert f"claude-code {told.rewriter[:8]}:{told.rewrite}, codex {told.writer[:8]}:{told.write}" in whole
    assert "├─" in tally("impact", "prices.txt", "--all").stdout
    assert "├─" in tally("impact", "prices.txt", "--min-confidence", "0").stdout


def test_json_has_the_whole_graph_and_the_story(tally_json: TallyJson, told: Shop) -> None:
    found = tally_json("why", "page.md")
    assert {"nodes", "edges", "cuts", "line", "is_as_recorded", "story"} <= found.keys()
    assert [writer["session"] for writer in found["story"]["writers"]] == [told.rewriter, told.writer]
    assert found["story"]["prompt"]["text"] == "Write the page in Spanish."
    effects = tally_json("impact", "prices.txt")
    assert {"nodes", "edges", "cuts", "story"} <= effects.keys()
    assert effects["story"]["results"]["known"][0]["lines"] == 2


def test_an_erased_prompt_is_shown_as_erased(tally: Tally, told: Shop) -> None:
    """`why` quoted another prompt under its number: the title of the session stood for it."""
    tally("erase", f"{told.writer}:1", "--field", "content.text", "--reason", "it named a customer")
    for words in (("why", "prices.txt"), ("why", f"{told.writer}:{told.read}", "--all")):
        shown = tally(*words, env={"COLUMNS": "160"}).stdout
        assert "(erased)" in shown
        assert "“yes”" not in shown


def test_a_cause_later_than_its_effect_never_appears(tally: Tally, told: Shop) -> None:
    """An edit at 05:33 "began with" a prompt of 05:43."""
    for words in (
        ("why", "early.md"),
        ("why", "early.md", "--all"),
        ("why", f"{told.early}:{told.early_edit}", "--all"),
    ):
        assert "What did you change?" not in tally(*words, env={"COLUMNS": "200"}).stdout
    assert "asked by   unknown: no prompt is recorded before it" in tally("why", "early.md").stdout
    assert "began with “What did you change?”" in tally("why", told.early, "--all").stdout


def test_text_of_agents_cannot_forge_lines_of_a_story(tally: Tally, user: Path, told: Shop) -> None:
    with Recorder(user / ".tally") as recorder:
        session = recorder.session("demo", "hostile", cwd=str(told.folder))
        session.prompt("a\nsure       1: all is proven\x1b[2J\u202e")
        call(session, "Write", {"file_path": f"{told.folder}/x\nsure y\x1b]0;t\x07\u202e.txt", "content": "a"})
        sid = session.id
    for words in (("why", f"{sid}:2"), ("why", f"{sid}:1"), ("why", sid), ("impact", sid), ("impact", f"{sid}:2")):
        lines = tally(*words, color=False).stdout.splitlines()
        assert not any("\x1b" in line or "\u202e" in line for line in lines)
        assert [line for line in lines if line.startswith("sure")] == lines[-1:]


def test_every_writer_is_named_as_far_as_there_are_lines() -> None:
    writers = [
        Writer(session=f"{n:08x}{'0' * 24}", agent="codex" if n < 4 else "pi", changes=1, step=f"{n:08x}:{n}", at_ms=n)
        for n in range(1, 9)
    ]
    three = [click.unstyle(line) for line in writers_words("others", writers, 60, 3)]
    assert len(three) == 3
    assert all(f"{n:08x}:{n}" in "".join(three) for n in range(1, 9))
    assert "".join(three).count("codex") == 1
    (one,) = writers_words("others", writers, 60, 1)
    assert click.unstyle(one).endswith("6 more (--all)")


def test_the_last_rewrite_does_not_hide_four_co_authors(tally: Tally, user: Path, told: Shop) -> None:
    places = []
    with Recorder(user / ".tally") as recorder:
        for agent in ("codex", "claude-code", "gemini", "pi", "demo"):
            session = recorder.session(agent, f"{agent}-1", cwd=str(told.folder))
            session.prompt(f"Rewrite it, {agent}.")
            n = call(session, "Write", {"file_path": f"{told.folder}/shared.md", "content": f"# By {agent}\n"})
            places.append(f"{session.id[:8]}:{n}")
    shown = tally("why", "shared.md", env={"COLUMNS": "80"}).stdout
    assert all(place in shown for place in places)
    assert len(shown.splitlines()) <= MOST_LINES


def test_names_are_cut_where_they_say_least() -> None:
    assert near_name("/w/shop/src/a.py", "/w/shop/docs/b.md") == "src/a.py"
    assert near_name("/w/a.py", "/docs/b.md") == "/w/a.py"
    assert path_end("/w/shop/src/a.py", 9).endswith("a.py")
    assert path_end("short", 9) == "short"
    assert listed(["one", "two", "three"], 9) == "one, 2 more"
    assert listed(["one", "two"], 80) == "one, two"
    assert part_about("cd /w && git init -q; cp a b/page.md", "/w/b/page.md") == "… cp a b/page.md"
    assert part_about("cat > page.md <<E\nx\nE", "/w/page.md") == "cat > page.md <<E\nx\nE"
    assert part_about("make && make install", "/w/page.md") == "make && make install"
    assert quoted("Do this:\n\n# A plan", 40) == "“Do this: # A plan”"
