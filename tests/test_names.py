"""The words of public names: each is in the glossary, or in names.toml as plain English or a term of the field.

A word that is new to the program is written down once, on purpose, or another name is found for what it would name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tallystick"
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


DEFINITION = re.compile(r"^(    )?(class|(?:async )?def) (\w+)", re.MULTILINE)


def definitions(module: Path) -> Iterator[tuple[str, str]]:
    """`class` or `def` and the name, of a module's functions, classes and their methods."""
    outer = ""
    for indent, kind, name in DEFINITION.findall(module.read_text("utf-8")):
        outer = outer if indent else kind
        if not indent or (outer == "class" and kind != "class"):
            yield kind, name


def names(module: Path) -> Iterator[str]:
    """The public names of a module: its own, and those of its functions, classes and their methods."""
    yield module.stem
    yield from (name for _, name in definitions(module))


@cache
def used() -> dict[str, str]:
    """Each word, with a name that it is part of."""
    return {
        word.lower(): f"{module.relative_to(SOURCE)}: {name}"
        for module in sorted(SOURCE.rglob("*.py"))
        for name in names(module)
        if not name.startswith("_")
        for word in WORD.findall(name)
    }


def known() -> tuple[set[str], set[str]]:
    """Words of the glossary, and those of names.toml."""
    glossary = tomllib.loads((ROOT / "docs" / "glossary.toml").read_text("utf-8"))["words"]
    written = tomllib.loads((Path(__file__).parent / "names.toml").read_text("utf-8"))["words"]
    return {word.lower() for term in glossary for word in WORD.findall(term)}, set(written.split())


def test_each_word_of_a_public_name_is_known() -> None:
    glossary, written = known()
    assert {word: name for word, name in used().items() if word not in glossary | written} == {}


def test_the_list_of_words_has_none_that_no_name_has_or_the_glossary_explains() -> None:
    glossary, written = known()
    assert written - used().keys() == set()
    assert written & glossary == set()


def test_no_module_or_class_is_called_by_a_word_that_names_nothing() -> None:
    nameless = tomllib.loads((Path(__file__).parent / "names.toml").read_text("utf-8"))["nameless"]
    found = {
        f"{module.relative_to(SOURCE).as_posix()}: {name}"
        for module in SOURCE.rglob("*.py")
        for name in (
            module.stem,
            *(name for kind, name in definitions(module) if kind == "class"),
        )
        if name.lower() in nameless["words"].split()
    }
    assert found == set(nameless["left"])
