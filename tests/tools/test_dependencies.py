"""What docs/dependencies.toml says, beside the lock and what is installed."""

from __future__ import annotations

import platform
import sys

import pytest

from tests.support.cases import each
from tools.dependencies import Package, installed, locked, program_size, told

PACKAGES = told().packages
SPELLED = {
    "Apache-2.0": ("Apache 2.0", "License :: OSI Approved :: Apache Software License"),
    "BSD-3-Clause": ("3-Clause BSD License",),
    "MIT": ("License :: OSI Approved :: MIT License",),
    "GPL-2.0-only WITH GCC-exception-2.0": ("GPLv2 with linking exception",),
}
"""How licences are called by packages that do not use SPDX."""


def test_it_names_the_packages_of_the_lock_and_no_others() -> None:
    assert list(PACKAGES) == sorted(locked())


def test_each_is_ours_and_can_be_replaced_or_is_needed_by_one_that_is_there() -> None:
    for name, one in PACKAGES.items():
        assert (one.by in PACKAGES) if one.by else (one.needed_for and one.instead), name


@each("name, said", PACKAGES.items())
def test_it_says_what_the_package_says(name: str, said: Package) -> None:
    found = installed(name)
    if found is None:
        assert said.only, f"{name} is not installed"
        return
    assert found.is_compiled == bool(said.native)
    names = {said.licence, *SPELLED.get(said.licence, ())}
    assert bool(names.intersection(found.licences)) == (said.licence_in == "metadata")


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="packages are of other sizes on other machines"
)
def test_the_size_is_what_it_is_said_to_be() -> None:
    sizes = [found.size for name in PACKAGES if (found := installed(name)) is not None]
    assert (sum(sizes) + program_size()) / 1e6 == pytest.approx(told().installed_megabytes, rel=0.03)
