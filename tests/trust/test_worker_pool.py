from __future__ import annotations

import pytest

from tallystick.errors import TallystickError
from tallystick.trust.worker_pool import cores, in_processes


def test_results_come_with_the_number_of_their_job() -> None:
    jobs = ["/a/b", "/c", "d"]
    found = dict(in_processes("posixpath:basename", jobs, [3, 1, 2]))
    assert found == {0: "b", 1: "c", 2: "d"}
    assert cores() >= 1


def test_a_worker_that_dies_is_said() -> None:
    with pytest.raises(TallystickError, match="worker process failed"):
        list(in_processes("os:abort_not_there", [1], [1]))
