"""Every known program has one entry, and what its entry names exists."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from tallystick.catalog import loading
from tallystick.catalog.loading import Catalogue, load_folder
from tallystick.catalog.programs import (
    Program,
    arguments_of,
    fact_of_programs,
    modules_of_python,
    names_of,
    programs,
    programs_in,
    programs_with,
)
from tallystick.errors import FormatError
from tallystick.intent.programs import _MAKERS, _RULES, actions_of, known_programs
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word


def test_every_rule_that_an_entry_names_exists_and_every_rule_is_named() -> None:
    entries = [*programs().values(), *modules_of_python().values()]
    assert {entry.rule for entry in entries if entry.rule} == {*_RULES, *_MAKERS}


def test_every_known_program_can_be_asked_about() -> None:
    for name in known_programs():
        for words in ((name,), (name, "a", "b"), (name, "-x", "--y=z", "c", "-")):
            actions_of(Command(words=tuple(map(Word, words))))


def test_the_names_of_operations_are_those_of_the_model() -> None:
    told = {operation for operation in Operation if operation in Program.__struct_fields__}
    assert {"read", "write", "append", "edit", "create", "delete", "list", "metadata", "execute", "connect"} <= told


def test_no_program_has_two_entries_and_each_is_sorted_into_its_file() -> None:
    for file, entries in load_folder("programs", dict[str, Program]).items():
        names = list(entries)
        assert names == sorted(names, key=lambda name: (not name[:1].isalnum(), name.lower())), file
        assert programs_in(file) == {each for name, entry in entries.items() for each in (name, *entry.also.split())}


@pytest.fixture
def of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "programs").mkdir()
    monkeypatch.setattr(loading, "_catalogue", lambda: Catalogue(tmp_path))
    return tmp_path / "programs"


def test_an_entry_is_found_by_each_of_its_names(of_our_own: Path) -> None:
    (of_our_own / "a.toml").write_text("[one]\nalso = 'uno'\nrule = 'plain'\nread = 'operands'\n")
    assert (found := programs.__wrapped__())["one"] == found["uno"]
    assert programs_in.__wrapped__("a") == {"one", "uno"}


def test_a_program_that_must_have_an_entry_has_one() -> None:
    with pytest.raises(FormatError, match="no-such has no entry"):
        arguments_of("no-such")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[two]\nalso = 'one'\nrule = 'plain'\n", "one has another entry"),
        ("[two]\nread = 'operands'\n", r"b\.toml: .*rule"),
        ("[two]\nrule = 'plain'\nread = 3\n", r"b\.toml: .*\$\[\.\.\.\]\.read"),
        ("[two]\nrule = 'plain'\nreads = 'x'\n", r"b\.toml: .*reads"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(of_our_own: Path, text: str, said: str) -> None:
    (of_our_own / "a.toml").write_text("[one]\nrule = 'plain'\n")
    (of_our_own / "b.toml").write_text(text)
    with pytest.raises(FormatError, match=said):
        programs.__wrapped__()


def test_each_trait_and_fact_is_explained_and_asked_for() -> None:
    text = files("tallystick.catalog").joinpath("traits.toml").read_text("utf-8")
    kinds = tomllib.loads(text)
    said = {*kinds["traits"], *(f"[facts.{fact}]" for fact in kinds["facts"])}
    assert {name for name in said if not re.search(rf"^# .+\n{re.escape(name)}(?: =|\n)", text, re.MULTILINE)} == set()
    sources = Path(str(files("tallystick"))).rglob("*.py")
    asked = "\n".join(path.read_text("utf-8") for path in sources)
    asked += files("tallystick.catalog").joinpath("call_forms.toml").read_text("utf-8")
    names = (*kinds["traits"], *kinds["facts"])
    assert {name for name in names if f'"{name}"' not in asked and f"%{name}" not in asked} == set()


def test_programs_are_found_by_what_is_true_of_them() -> None:
    assert {"bash", "zsh"} <= programs_with("shell")
    with pytest.raises(KeyError):
        programs_with("no such trait")
    assert fact_of_programs("own-files")["ssh"] == ("-i",)


def test_lists_of_a_program_are_found_by_name() -> None:
    assert {"status", "log"} <= names_of("git", "silent")
