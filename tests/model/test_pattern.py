"""A regular expression that is compiled late finds what one does that is compiled at once."""

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.pattern import Near, pattern_of


def test_it_finds_what_a_compiled_one_finds() -> None:
    late, compiled = pattern_of(r"(\w)=(\d+)", re.IGNORECASE), re.compile(r"(\w)=(\d+)", re.IGNORECASE)
    assert late.findall("a=1 b=22") == compiled.findall("a=1 b=22")
    assert late.sub(r"\2", "a=1") == "1"
    assert (late.pattern, late.flags, late.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    found = late.search("x=5")
    assert found is not None
    assert found[2] == "5"
    assert pattern_of(rb"[a-z]+").findall(b"ab c") == [b"ab", b"c"]


def test_it_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    late = pattern_of("a")
    assert late.match("a")
    monkeypatch.setattr(re, "compile", None)
    assert late.match("b") is None
    assert late.fullmatch("a")


def test_what_is_wrong_with_one_shows_when_it_is_used() -> None:
    with pytest.raises(re.error):
        pattern_of("(").search("x")


_TEXTS = st.lists(
    st.sampled_from(["open", "Open", "(", " ", "\n", "é", "İ", "ß", "x" * 99, "y" * 40, "\n\n"]), max_size=40
)


@given(_TEXTS.map("".join), st.integers(0, 50))
def test_one_that_looks_near_words_finds_what_it_finds_everywhere(text: str, start: int) -> None:
    pattern = r"\b(?:open|reopen)[ \n]?\("
    near = Near("open", pattern, re.IGNORECASE)
    everywhere = re.compile(pattern, re.IGNORECASE)
    found = [match.span() for match in everywhere.finditer(text, start)]
    assert [match.span() for match in near.matches(text, start)] == found
    first = near.search(text)
    assert (first and first.span()) == next((match.span() for match in everywhere.finditer(text)), None)


_COMPILED = """
import importlib, pkgutil, re
import tallystick
from tallystick.model import pattern
made, init = [], pattern._Late.__init__

def compiled(self, text, flags):
    made.append(re.compile(text, flags))
    init(self, text, flags)

pattern._Late.__init__ = compiled
for package in ("policy", "intent", "scrubbing", "guard", "ingest"):
    for found in pkgutil.walk_packages([f"{tallystick.__path__[0]}/{package}"], f"tallystick.{package}."):
        importlib.import_module(found.name)
print(len(made))
"""


def test_each_one_of_the_program_can_be_compiled() -> None:
    made = subprocess.run([sys.executable, "-c", _COMPILED], check=True, capture_output=True, text=True).stdout
    assert int(made) > 400
