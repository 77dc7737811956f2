from __future__ import annotations

from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows
from tests.support.cases import each_case


@each_case("text, expected")
def test_processes_services_and_the_machine(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_a_table_of_jobs_may_be_fed() -> None:
    done = acted("crontab -", fed="* * * * * x")
    assert done.actions[0].from_input
    assert flows("crontab f") == ["f -> crontab"]


def test_what_runs_later_is_code() -> None:
    assert [code.text for code in acted("at noon", fed="rm a").codes] == [Word("rm a")]
    assert acted("at -f a noon").scripts == (Word("a"),)
