"""Facts come typed and whole, from the compiled file or from the TOML files alike."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from tallystick import catalog
from tallystick.catalog import Entry, compiling, inverted
from tallystick.catalog.loading import Catalogue
from tallystick.errors import FormatError


class Thing(Entry, frozen=True):
    size: int
    parts: tuple[str, ...] = ()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "things").mkdir()
    (tmp_path / "things" / "one.toml").write_text("size = 1\nparts = ['a', 'b']\n")
    (tmp_path / "things" / "two.toml").write_text("size = 2\n")
    (tmp_path / "all.toml").write_text("[one]\nsize = 1\n")
    return tmp_path


def test_a_file_is_read_as_its_schema_has_it(folder: Path) -> None:
    assert Catalogue(folder).load("things/one", Thing) == Thing(size=1, parts=("a", "b"))
    assert Catalogue(folder).load("all", dict[str, Thing]) == {"one": Thing(size=1)}


def test_a_folder_is_read_by_the_names_of_its_files(folder: Path) -> None:
    things = Catalogue(folder).load_folder("things", Thing)
    assert dict(things) == {"one": Thing(size=1, parts=("a", "b")), "two": Thing(size=2)}
    with pytest.raises(TypeError):
        things["one"] = Thing(size=3)  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("size = 1\ncolour = 'red'", "colour"),
        ("size = 'big'", r"\$\.size"),
        ("parts = []", "size"),
        ("size = 1\nparts = ['a', 1]", r"\$\.parts\[1\]"),
        ("size", "end of document"),
    ],
)
def test_what_is_wrong_names_the_file_and_the_member(folder: Path, text: str, said: str) -> None:
    (folder / "things" / "two.toml").write_text(text)
    with pytest.raises(FormatError, match=rf"catalog/things/two\.toml: .*{said}"):
        Catalogue(folder).load("things/two", Thing)


def test_a_file_that_does_not_exist_is_named(folder: Path) -> None:
    with pytest.raises(FormatError, match=r"catalog/things/three\.toml"):
        Catalogue(folder).load("things/three", Thing)


def test_a_change_of_any_file_is_seen_at_the_next_start(folder: Path) -> None:
    before = Catalogue(folder)
    (folder / "things" / "two.toml").write_text("size = 3\n")
    after = Catalogue(folder)
    assert after.digest != before.digest
    assert after.load("things/two", Thing) == Thing(size=3)
    assert Catalogue(folder).digest == after.digest


def test_the_compiled_file_is_used_where_it_is_current(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Catalogue(folder)
    monkeypatch.setattr(compiling, "compiled", None)  # calling it would fail
    again = Catalogue(folder)
    assert (again.digest, again.names) == (first.digest, first.names)
    assert again.load_folder("things", Thing) == first.load_folder("things", Thing)


def test_a_folder_that_cannot_be_written_to_is_read_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(compiling, "store", refuses)
    assert Catalogue(folder).load("things/two", Thing) == Thing(size=2)
    assert not (folder / compiling.COMPILED).exists()


def test_many_that_start_at_once_read_the_same(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len({Catalogue(one).digest for one in pool.map(lambda _: folder, range(32))}) == 1
        assert len(set(pool.map(lambda _: Catalogue(folder).load("things/one", Thing), range(32)))) == 1
    assert sorted(path.name for path in folder.iterdir()) == ["all.toml", compiling.COMPILED, "things"]


def test_our_own_digest_is_that_of_our_files() -> None:
    assert catalog.digest() == compiling.digest_of(compiling.sources())
    assert catalog.names() == tuple(compiling.sources())


def test_every_file_of_ours_can_be_read() -> None:
    for name in catalog.names():
        assert catalog.load(name, dict[str, msgspec.Raw]), name


def test_the_hook_imports_nothing_of_it() -> None:
    program = "import sys, tallystick.hook, tallystick.hook_alone; print('tallystick.catalog' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": ""}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, env=environment, text=True)
    assert ran.stdout == "False\n"


def test_a_table_can_be_read_the_other_way_round() -> None:
    assert inverted({"x": ("a", "b"), "y": ("c",)}) == {"a": "x", "b": "x", "c": "y"}


def test_a_start_parses_no_toml_where_the_compiled_file_is_current() -> None:
    program = "import sys, tallystick.intent.programs; print('tomllib' in sys.modules)"
    catalog.names()  # compiles, if it has to
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert ran.stdout == "False\n"
