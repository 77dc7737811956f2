"""Which installation a path of ours belongs to, by the files that uv, pipx, venv and git leave."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tallystick.capture import installation
from tallystick.capture.installation import Kind, installation_of


@pytest.fixture(autouse=True)
def nothing_is_temporary(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the tests is itself a temporary one."""
    monkeypatch.setattr(installation, "_is_temporary", lambda _: False)


def module_in(folder: Path) -> Path:
    module = folder / "tallystick" / "hook.py"
    module.parent.mkdir(parents=True)
    module.touch()
    return module


def environment(folder: Path, *files: str) -> Path:
    folder.mkdir(parents=True)
    for name in ("pyvenv.cfg", *files):
        (folder / name).touch()
    return module_in(folder / "lib" / "python3.11" / "site-packages")


@pytest.mark.parametrize(
    ("files", "kind", "removal"),
    [
        (("uv-receipt.toml",), Kind.UV_TOOL, "uv tool uninstall tallystick"),
        (("pipx_metadata.json",), Kind.PIPX, "pipx uninstall tallystick"),
    ],
)
def test_the_environment_of_a_tool_is_stable(tmp_path: Path, files: tuple[str, ...], kind: Kind, removal: str) -> None:
    (tmp_path / ".git").mkdir()  # a home folder that is kept in git is no checkout of ours
    found = installation_of(environment(tmp_path / "tools" / "tallystick", *files))
    assert (found.kind, found.is_stable, found.removal) == (kind, True, removal)


def test_the_packages_of_an_interpreter_are_stable(tmp_path: Path) -> None:
    found = installation_of(module_in(tmp_path / "lib" / "python3.11" / "dist-packages"))
    assert (found.kind, found.is_stable) == (Kind.SYSTEM, True)


def test_a_virtual_environment_by_itself_is_not(tmp_path: Path) -> None:
    found = installation_of(environment(tmp_path / "env"))
    assert (found.kind, found.folder, found.is_stable) == (Kind.VENV, tmp_path / "env", False)


@pytest.mark.parametrize("mark", [".git", "pyproject.toml"])
def test_a_virtual_environment_in_a_clone_goes_with_the_clone(tmp_path: Path, mark: str) -> None:
    (tmp_path / mark).touch()
    found = installation_of(environment(tmp_path / ".venv"))
    assert (found.kind, found.folder) == (Kind.CHECKOUT, tmp_path)
    assert f"uv tool install {tmp_path}" in found.daily_use


def test_the_source_itself_is_a_checkout_even_where_a_tool_refers_to_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    found = installation_of(module_in(tmp_path / "src"))
    assert (found.kind, found.folder) == (Kind.CHECKOUT, tmp_path)


@pytest.mark.parametrize("folder", [".cache/uv/archive-v0/Xy", ".local/pipx/.cache/1f"])
def test_what_is_run_once_is_temporary(tmp_path: Path, folder: str) -> None:
    files = ("pipx_metadata.json",) if "pipx" in folder else ()
    assert installation_of(environment(tmp_path / folder, *files)).kind is Kind.TEMPORARY


def test_what_is_gone_is_missing(tmp_path: Path) -> None:
    assert installation_of(tmp_path / "tallystick" / "hook.py").kind is Kind.MISSING


def test_the_folder_for_temporary_files_is_temporary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    assert installation_of(environment(tmp_path / "env")).kind is Kind.TEMPORARY
