"""The sets of languages name languages that are known by an ending, a program or a reader."""

from __future__ import annotations

import msgspec

from tallystick.catalog.languages import LANGUAGES
from tallystick.catalog.loading import load
from tallystick.intent.code.languages import _READERS


def test_a_set_of_languages_holds_known_languages() -> None:
    known = {*load("code/languages", dict[str, dict[str, tuple[str, ...]]])["languages"], *_READERS}
    sets = {name: frozenset(of) for name, of in msgspec.structs.asdict(LANGUAGES).items()}
    assert {name: languages - known for name, languages in sets.items() if languages - known} == {}


def test_what_a_reader_distinguishes_or_understands_has_a_reader() -> None:
    assert set(_READERS) >= LANGUAGES.distinguished
    assert set(_READERS) >= LANGUAGES.understood
