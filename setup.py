"""What pyproject.toml cannot say: the parts of a build that are made.

The compiled catalogue, so that no installed program parses TOML; the digests of the rules of the index and of states, so that none reads its own
modules; and the man pages, where `make man` or `make dist` made them.
"""

from __future__ import annotations

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithDigests(build_py):
    """Copies the package, and puts the compiled catalogue and the digest of the rules beside what they were made from."""

    def run(self) -> None:
        """Build; an editable installation compiles when it is first used."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "tallystick" / "catalog"
            compiling = runpy.run_path(str(target / "compiling.py"))
            compiling["store"](compiling["compiled"](compiling["sources"](target)), target)
            rules = runpy.run_path(str(target.parent / "graph" / "rules.py"))
            for subject in (rules["ROWS"], rules["STATES"]):
                digest, _ = rules["computed"](target.parent, subject)
                rules["store"](digest, None, target.parent, subject)


MAN = [str(page) for page in sorted(Path("man").glob("*.1"))]

setup(cmdclass={"build_py": BuildWithDigests}, data_files=[("share/man/man1", MAN)] if MAN else [])
