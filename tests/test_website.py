"""The pages as people walk them: doors, lengths, links, words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.website import OUTSIDE, doors, place, prepared, title_of

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
MOST_WORDS = 2_000
README_WORDS = 500
UNBOUNDED = {Path("docs/format.md"), Path("CHANGELOG.md")}
"""The format is one normative text; the log of changes grows."""


def pages() -> list[Path]:
    return [page for door in doors(ROOT) for part in door.parts for page in part.pages]


def words(text: str) -> int:
    """Words that are seen: without the code that makes parts of a page, and the lines of tables."""
    seen = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    return sum(any(character.isalnum() for character in word) for word in seen.split())


def test_each_page_is_behind_one_door() -> None:
    below = {path.relative_to(ROOT) for path in DOCS.rglob("*.md")} - {Path("docs/README.md")}
    assert sorted(pages()) == sorted(below | {Path(name) for name in OUTSIDE})


@pytest.mark.parametrize("page", pages(), ids=str)
def test_a_page_can_be_read_in_one_sitting(page: Path) -> None:
    assert page in UNBOUNDED or words((ROOT / page).read_text("utf-8")) <= MOST_WORDS


def test_the_readme_is_short_and_shows_the_doors() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert words(text) <= README_WORDS
    assert [door.name for door in doors(ROOT)] == re.findall(r"^\| \*\*(.+?)\*\* \|", text, re.MULTILINE)


def test_titles_are_told_apart() -> None:
    titles = [title_of(page, ROOT) for page in pages()]
    assert sorted({title for title in titles if titles.count(title) > 1}) == []


def test_links_between_pages_stay_links_and_others_keep_their_words(tmp_path: Path) -> None:
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    page = Path("docs/sub/a.md")
    (tmp_path / page).write_text(
        "<!-- [[[cog x ]]] -->\n[b](../b.md#part) [sub](../sub) [code](../../src/x.py) [`y`](../../y) [z](https://example.org)\n"
        "```\n[b](../b.md)\n```\n"
    )
    known = {each: place(each) for each in (page, Path("docs/b.md"), Path("docs/sub/README.md"))}
    assert prepared(page, known, tmp_path) == (
        "[b](../b.md#part) [sub](../sub/index.md) *code* `y` [z](https://example.org)\n```\n[b](../b.md)\n```\n"
    )
