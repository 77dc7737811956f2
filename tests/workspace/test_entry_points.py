"""What other packages offer is found, and where none offers anything, nothing is loaded to find that."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tallystick.workspace.entry_points import entry_points

GROUP = "tallystick.tests"
OFFER = f"[{GROUP}]\nown = json:loads\n"


def offer(folder: Path) -> None:
    inner = folder / "offering-1.0.dist-info"
    inner.mkdir(parents=True)
    (inner / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.0\n")
    (inner / "entry_points.txt").write_text(OFFER)


def test_what_a_package_on_the_path_offers_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    assert entry_points(GROUP) == ()
    offer(tmp_path)
    assert [point.name for point in entry_points(GROUP)] == ["own"]


def test_what_a_package_in_an_archive_offers_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(tmp_path / "in")
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as written:
        for path in (tmp_path / "in").rglob("*/*"):
            written.write(path, path.relative_to(tmp_path / "in"))
    monkeypatch.syspath_prepend(archive)
    assert [point.name for point in entry_points(GROUP)] == ["own"]


def test_where_nothing_is_offered_the_reader_of_metadata_is_not_loaded() -> None:
    asked = f"import sys\nfrom tallystick.workspace.entry_points import entry_points as e\nassert e({GROUP!r}) == ()\n"
    subprocess.run([sys.executable, "-c", f"{asked}assert 'importlib.metadata' not in sys.modules"], check=True)
