"""What pyproject.toml cannot say: a build carries the compiled catalogue, so that no installed program parses TOML."""

from __future__ import annotations

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithCatalogue(build_py):
    """Copies the package, and puts the compiled catalogue beside the TOML files it was made from."""

    def run(self) -> None:
        """Build; an editable installation compiles when it is first used."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "tallystick" / "catalog"
            compiling = runpy.run_path(str(target / "compiling.py"))
            compiling["store"](compiling["compiled"](compiling["sources"](target)), target)


setup(cmdclass={"build_py": BuildWithCatalogue})
