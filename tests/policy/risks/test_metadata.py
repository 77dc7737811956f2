"""Other ways to a cloud's metadata service than an intent for its address."""

from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.calls.reader import read_call
from tallystick.policy.risks.metadata import RISKS, risks
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import FOLDER, HOME, Bare, found
from tests.support.cases import cases, each, each_case

FOUND = cases(__file__, "found", dict[str, tuple[str, ...]])


@each("name, command", [(name, each) for name, commands in FOUND.items() for each in commands])
def test_a_way_to_the_service_is_found(name: str, command: str) -> None:
    assert found(risks, command) == {name}


@each_case("command")
def test_its_address_in_a_text_is_none(command: str) -> None:
    assert found(risks, command) == set()


@each_case("tool, args, names")
def test_a_tool_is_given_the_address_as_a_host(tool: str, args: Json, names: set[str]) -> None:
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=FOLDER)
    read = read_call(call, Bare({}), home=HOME, workspace=FOLDER)
    assert {risk.name for risk in risks(read, Settings())} == names


def test_each_risk_has_an_example() -> None:
    assert FOUND.keys() == RISKS.keys()
