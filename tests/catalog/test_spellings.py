"""Names of programs in the catalogue that no test spells, so that a change of their letters fails no test.

Owns the check of their list, unread.toml, which only gets shorter. A name counts as read where it is a word in the tests of
what calls mean or of policy. Such a word is not yet a case that fails without the name, but a name without it has none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

from tallystick.policy.risks.call_forms import _file, _lines

TESTS = Path(__file__).parents[1]
READING = ("agents", "capture", "guard", "intent", "lineage", "policy", "scrubbing")
# The texts of scrubbing/hard name programs, but read nothing of the catalogue's tables of programs.
SUFFIXES = frozenset((".toml", ".py", ".cedar"))
_WORDS = re.compile(r"[^\s\"'`,;|&()<>={}\[\]/:]+")


@cache
def names() -> frozenset[str]:
    """Every name that the catalogue's tables of programs know."""
    return frozenset(_names())


def _names() -> Iterator[str]:
    for table in files("tallystick.catalog").joinpath("programs").iterdir():
        for name, entry in tomllib.loads(table.read_text("utf-8")).items():
            yield name
            yield from str(entry.get("also", "")).split()
    called = {name for part in _file().forms for _, programs, _ in _lines(part) for name in programs.split("|")}
    yield from (name for name in called if not name.startswith("git-"))  # verbs of git, not programs
    kinds = tomllib.loads(files("tallystick.catalog").joinpath("traits.toml").read_text("utf-8"))
    starters = tomllib.loads(files("tallystick.catalog").joinpath("starters.toml").read_text("utf-8"))
    wrapping = (starters["wrappers"], starters["wrappers_after_a_word"], *starters["under"].values())
    for listed in (kinds["traits"], *kinds["facts"].values(), *wrapping):
        yield from " ".join(listed.values()).split()


def words() -> set[str]:
    """Every word of the tests that read what programs are."""
    found: set[str] = set()
    for folder in READING:
        for path in (TESTS / folder).rglob("*"):
            if path.suffix in SUFFIXES and path.parent.name != "hard":
                found.update(_WORDS.findall(path.read_text("utf-8")))
    return found


def test_a_name_that_no_test_spells_was_not_spelled_before_either() -> None:
    listed = set(tomllib.loads(Path(__file__).with_name("unread.toml").read_text("utf-8"))["programs"].split())
    unread = names() - words()
    assert unread - listed == set(), "a name was changed or added: have a case of policy or intent call the program"
    assert listed - unread == set(), "these are spelled by a test now, or gone: remove them from unread.toml"
