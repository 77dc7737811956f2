"""How this program is installed, and whether that installation will still be there next month.

Owns telling a tool's own environment (`uv tool`, pipx, the system) from a checkout, a virtual environment and a temporary
one, by the files that each of them leaves. Must not know who asks, nor how agents call us.
"""

from __future__ import annotations

import enum
import shlex
import tempfile
from pathlib import Path

import msgspec


class Kind(enum.StrEnum):
    """How a copy of the program came to be where it is."""

    UV_TOOL = "uv tool"
    PIPX = "pipx"
    SYSTEM = "system"
    """The interpreter's own packages: `pip install`, or a package of the distribution."""
    VENV = "virtual environment"
    CHECKOUT = "checkout"
    """A clone of the repository, or a virtual environment inside one."""
    TEMPORARY = "temporary"
    """Below the folder for temporary files, or in the cache of `uvx` or `pipx run`."""
    MISSING = "missing"


_STABLE = frozenset((Kind.UV_TOOL, Kind.PIPX, Kind.SYSTEM))
_PACKAGES = frozenset(("site-packages", "dist-packages"))
_CACHES = frozenset(("archive-v0", "builds-v0", "environments-v2"))
"""Folders in which `uvx` keeps what it runs once."""


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    """One copy of the program. `folder` is what would have to stay for the copy to stay."""

    kind: Kind
    folder: Path

    @property
    def is_stable(self) -> bool:
        """Whether it stays until someone removes Tallystick itself."""
        return self.kind in _STABLE

    @property
    def daily_use(self) -> str:
        """The commands that install a copy for daily use and connect the agents to it."""
        source = "tallystick"
        if self.kind is Kind.CHECKOUT:
            source = shlex.quote(str(self.folder))
        return f"`uv tool install {source}` or `pipx install {source}`, then `tally up` from there"

    @property
    def removal(self) -> str:
        """The command that removes this copy."""
        folder = shlex.quote(str(self.folder))
        return {
            Kind.UV_TOOL: "uv tool uninstall tallystick",
            Kind.PIPX: "pipx uninstall tallystick",
            Kind.SYSTEM: "python3 -m pip uninstall tallystick",
            Kind.VENV: f"{folder}/bin/python -m pip uninstall tallystick",
        }.get(self.kind, f"rm -r {folder}")


def installation_of(module: Path) -> Installation:
    """The installation that a module of this package belongs to, by the path under which agents run it."""
    if not module.exists():
        return Installation(kind=Kind.MISSING, folder=module)
    environment = next((each for each in module.parents if (each / "pyvenv.cfg").is_file()), None)
    if _PACKAGES.isdisjoint(module.parts):
        return _outside_packages(module)
    if environment is None:
        return Installation(kind=Kind.SYSTEM, folder=module.parent)
    return Installation(kind=_kind_of(environment), folder=_checkout_of(environment) or environment)


def _outside_packages(module: Path) -> Installation:
    """Of a module that runs from its source: a clone, whatever environment refers to it."""
    checkout = _checkout_of(module.parent)
    if checkout is not None:
        return Installation(kind=Kind.CHECKOUT, folder=checkout)
    return Installation(kind=Kind.TEMPORARY if _is_temporary(module) else Kind.SYSTEM, folder=module.parent)


def _kind_of(environment: Path) -> Kind:
    if not _CACHES.isdisjoint(environment.parts) or environment.parent.name == ".cache":
        return Kind.TEMPORARY
    if (environment / "uv-receipt.toml").is_file():
        return Kind.UV_TOOL
    if (environment / "pipx_metadata.json").is_file():
        return Kind.PIPX
    if _checkout_of(environment) is not None:
        return Kind.CHECKOUT
    if _is_temporary(environment):
        return Kind.TEMPORARY
    return Kind.VENV


def _checkout_of(folder: Path) -> Path | None:
    """The repository or project around a folder of ours; None where a tool's own environment begins first."""
    for each in (folder, *folder.parents):
        if (each / "uv-receipt.toml").is_file() or (each / "pipx_metadata.json").is_file():
            return None
        if (each / "pyproject.toml").is_file() or ((each / ".git").exists() and each != Path.home()):
            return each
    return None


def _is_temporary(path: Path) -> bool:
    folders = {Path(tempfile.gettempdir()).resolve(), Path("/tmp"), Path("/var/tmp")}
    return any(path.is_relative_to(folder) for folder in folders)
