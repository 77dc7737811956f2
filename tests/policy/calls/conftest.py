"""What several tests of calls share."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.policy.laid_out import Laid


@pytest.fixture(scope="module")
def laid() -> Iterator[Laid]:
    """A machine whose project also has a link that is called `.env.linked` and leads out of it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        machine = Laid(Path(folder))
        machine.write("other-project/.env", "API_KEY=not-a-key\n")
        machine.link("project/.env.linked", machine.home / "other-project/.env")
        yield machine
