"""What is no file in the place of a file: three verifiers agree, whatever it is and wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tools.fuzz_stores.case import Case
from tools.fuzz_stores.places import KINDS
from tools.fuzz_stores.run import remove
from tools.fuzz_stores.sources import copy, golden
from tools.fuzz_stores.verifiers import Verifiers, disagreement

FILES = ("ledger.jsonl", "heads/ledger.note", "journals/*/*/*.jsonl", "blobs/*/*")
FOLDERS = ("journals", "heads", "blobs")


@pytest.fixture(scope="module")
def verifiers() -> Iterator[Verifiers]:
    with Verifiers() as found:
        yield found


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    source = next(each for each in golden() if each.name == "worked-example")
    copy(source, tmp_path / "store")
    yield tmp_path / "store"
    remove(tmp_path)


def agreed(verifiers: Verifiers, store: Path) -> int:
    """The exit code on which all agree."""
    answers = verifiers.ask({"path": str(store)})
    assert disagreement(answers) is None
    report = answers["alone"].report
    assert report is not None
    return int(report["exit"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [*FILES, *FOLDERS])
def test_the_verifiers_agree_on_whatever_is_in_a_place(
    verifiers: Verifiers, store: Path, tmp_path: Path, place: str, kind: str
) -> None:
    path = next(store.glob(place))
    path.rename(tmp_path / "aside")
    try:
        KINDS[kind](path)
    except OSError as error:
        pytest.skip(f"{kind} cannot be made here: {error.strerror}")
    found = agreed(verifiers, store)
    wanted = {2}
    if place in FOLDERS and kind in ("a folder", "a link to its folder"):
        wanted = {2, 3}  # a folder may be a link; without a head nothing is signed
    elif kind == "a file that may not be read":
        wanted = {1, 2}
    assert found in wanted


@pytest.mark.parametrize("size", [(1 << 20) + 1, 8 << 30])
@pytest.mark.parametrize("place", FILES)
def test_the_verifiers_agree_on_a_file_that_has_no_end(
    verifiers: Verifiers, store: Path, place: str, size: int
) -> None:
    path = next(store.glob(place))
    try:
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size + size)
    except OSError:
        pytest.skip("this file system has no files of that size")
    assert agreed(verifiers, store) == (4 if place.endswith(".jsonl") else 2)  # what the head covers is as it was


def test_a_note_is_not_made_harmless_by_what_is_added_to_it(verifiers: Verifiers, store: Path) -> None:
    for tail in (b"x" * (1 << 20), b"\n" * (1 << 20), b"\xe2\x80\x94 someone AAAA\n" * 60_000):
        note = store / "heads" / "ledger.note"
        before = note.read_bytes()
        note.write_bytes(before + tail)
        assert agreed(verifiers, store) == 2
        note.write_bytes(before)


def test_files_that_changed_places_are_found(verifiers: Verifiers, store: Path) -> None:
    one, other, *_ = sorted(store.glob("journals/*/*/*.jsonl")) * 2
    if one == other:
        other = store / "ledger.jsonl"
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)
    assert agreed(verifiers, store) == 2


def test_what_is_beside_the_record_makes_no_difference_between_them(verifiers: Verifiers, store: Path) -> None:
    (store / "keys").mkdir(exist_ok=True)
    (store / "keys" / "signer.json").symlink_to("/dev/zero")
    assert agreed(verifiers, store) == 0


def test_a_case_has_the_files_that_are_there(store: Path) -> None:
    case = Case(store.parent, Random(0))
    assert {path.name for path in case.chained()} <= {path.name for path in case.record()}
