"""The words that people read are held to a list. That no place has more of them than it may is a part of `make check`."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tools.voice.check import code_prose, listed, page_prose, write_allowed

PAGE = """\
A file is made anew.
<!-- [[[cog x ]]] -->
nobody generated this
<!-- [[[end]]] -->
`whoever` is code, [nobody](nobody.md) is a link

```
somebody
```
Nobody.
"""
CODE = '''\
"""Whoever reads this."""
NAME = "nobody"
TEXT = "nobody reads it"
'''


def found(prose: list[tuple[int, str]]) -> list[tuple[int, str]]:
    return sorted(
        (line + text.count("\n", 0, match.start()), match[0].lower())
        for line, text in prose
        for pattern, _ in listed()
        for match in pattern.finditer(text)
    )


def test_pages_are_read_where_people_wrote_them() -> None:
    assert found(list(page_prose(PAGE))) == [(1, "anew"), (5, "nobody"), (10, "nobody")]


def test_code_is_read_where_it_speaks() -> None:
    assert found(list(code_prose(CODE))) == [(1, "whoever"), (3, "nobody")]


@pytest.mark.parametrize(
    "text", ["it is no JSON", "all is well", "nothing is known of it", "what came of it", "it stands in the file"]
)
def test_each_word_of_the_style_is_in_the_list(text: str) -> None:
    assert found([(1, text)])


@pytest.mark.parametrize("text", ["there is no session with that id", "someone told us", "recommended", "a new one"])
def test_plain_words_are_not(text: str) -> None:
    assert found([(1, text)]) == []


def test_the_allowance_only_falls(tmp_path: Path) -> None:
    write_allowed(Counter({"a": 3, "b": 1}), tmp_path)
    write_allowed(Counter({"a": 5, "c": 1}), tmp_path)
    assert tomllib.loads((tmp_path / "allowed.toml").read_text())["places"] == {"a": 3}
