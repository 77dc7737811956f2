"""What a command sets up that stays, and what only looks at it or does so for this once."""

from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.calls.reader import read_call
from tallystick.policy.risks.persistence import RISKS, risks
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import FOLDER, HOME, Bare, found
from tests.support.cases import cases, each, each_case

FOUND = cases(__file__, "found", dict[str, tuple[str, ...]])


@each("name, command", [(name, command) for name, commands in FOUND.items() for command in commands])
def test_what_stays_after_the_session_is_found(name: str, command: str) -> None:
    assert name in found(risks, command)


@each_case("command")
def test_what_only_looks_or_counts_for_this_once_is_not(command: str) -> None:
    assert found(risks, command) == set()


def test_every_word_is_tested() -> None:
    assert FOUND.keys() == RISKS.keys()


def test_a_script_that_is_run_counts_as_what_it_does() -> None:
    assert found(risks, "bash x.sh", {f"{FOLDER}/x.sh": "crontab jobs\n"}) == {"schedules"}


@each_case("tool, args, expected")
def test_a_tool_that_schedules_counts_but_not_one_that_only_wakes_the_session(
    tool: str, args: dict[str, Json], expected: set[str]
) -> None:
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=FOLDER)
    reading = read_call(call, Bare({}), home=HOME, workspace=FOLDER)
    assert {risk.name for risk in risks(reading, Settings())} == expected
