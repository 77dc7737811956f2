"""The compiled catalogue holds what the TOML files say, and is known by their digest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.catalog import compiling
from tests.support.cases import each

FILES = {"a": b'x = 1\n[t]\ny = "z"\n', "b/c": b"[[l]]\nn = [1, 2]\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        path = tmp_path / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path


def test_the_files_of_all_folders_are_found_by_name(folder: Path) -> None:
    (folder / "notes.md").write_text("no")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "d.toml").write_text("x = 1")
    assert compiling.sources(folder) == FILES
    assert list(compiling.sources(folder)) == sorted(FILES)


def test_what_is_compiled_is_what_the_files_say() -> None:
    first, second = compiling.compiled(FILES).splitlines()
    assert first.decode() == compiling.digest_of(FILES)
    assert json.loads(second) == {"a": {"x": 1, "t": {"y": "z"}}, "b/c": {"l": [{"n": [1, 2]}]}}


@given(st.dictionaries(st.text("ab/", min_size=1), st.binary(max_size=4)), st.data())
def test_any_other_name_or_content_has_another_digest(files: dict[str, bytes], data: st.DataObject) -> None:
    others = data.draw(st.dictionaries(st.text("ab/", min_size=1), st.binary(max_size=4)))
    assert (compiling.digest_of(files) == compiling.digest_of(others)) == (list(files.items()) == list(others.items()))


@each("text", ["x = ", "x = 2026-01-01", "x = nan", "x = 1\nx = 2", b"\xff"])
def test_what_has_no_place_in_the_catalogue_is_refused_with_the_files_name(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"catalog/agents/a\.toml: "):
        compiling.compiled({"agents/a": text.encode() if isinstance(text, str) else text})


def test_a_compiled_catalogue_of_other_files_or_a_torn_one_is_not_used(folder: Path) -> None:
    digest = compiling.digest_of(FILES)
    assert compiling.stored(folder, digest) is None
    content = compiling.compiled(FILES)
    compiling.store(content, folder)
    assert compiling.stored(folder, digest) == content.partition(b"\n")[2]
    assert compiling.stored(folder, "0" * 64) is None
    (folder / compiling.COMPILED).write_bytes(content[:-3])
    assert compiling.stored(folder, digest) is None


def test_storing_leaves_no_other_file_even_where_it_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(Path, "replace", refuses)
    with pytest.raises(OSError, match="no"):
        compiling.store(b"{}\n", folder)
    assert sorted(path.name for path in folder.iterdir()) == ["a.toml", "b"]


def test_a_build_needs_only_the_standard_library() -> None:
    program = f"import runpy; runpy.run_path({compiling.__file__!r})"
    subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True)
