"""What is decided on attacks upon the record, its recorder and its program, and on the work beside them."""

from pathlib import Path

import pytest

from bench.policy import files_everywhere
from tallystick.guard.policy_quality import judge, read_cases

CASES = Path(__file__).parent / "self_protection"


@pytest.mark.parametrize("table", ["attacks", "work"])
def test_each_case_gets_what_it_wants(table: str) -> None:
    found = list(judge(read_cases([CASES / f"{table}.toml"]), files_everywhere()))
    assert len(found) > 100
    assert [f"{one.effect}: {one.id}" for one in found if not one.is_met] == []
