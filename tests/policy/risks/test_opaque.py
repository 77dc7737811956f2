"""What the text does not tell and that may be of a grave kind."""

from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.calls.reader import read_call
from tallystick.policy.risks.opaque import RISKS, program_risks, risks
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import FOLDER, HOME, Bare, found
from tests.support.cases import cases, each, each_case


@each_case("command")
def test_what_lies_outside_is_not_for_a_program_that_is_not_told(command: str) -> None:
    assert found(program_risks, command) == {"untold-program"}


@each_case("command")
def test_programs_in_variables_are_work(command: str) -> None:
    assert found(program_risks, command) == set()


FOUND = cases(__file__, "found", dict[str, tuple[str, ...]])


@each("name, command", [(name, each) for name, commands in FOUND.items() for each in commands])
def test_a_grave_gap_is_found(name: str, command: str) -> None:
    assert name in found(risks, command)


@each_case("command")
def test_ordinary_gaps_are_let_be(command: str) -> None:
    assert found(risks, command) == set()


@each_case("tool, args, is_found")
def test_a_tool_that_changes_a_file_must_say_which(tool: str, args: Json, *, is_found: bool) -> None:
    call = Call(agent="codex", session="s", tool=tool, args=args, cwd=FOLDER)
    read = read_call(call, Bare({}), home=HOME, workspace=FOLDER)
    assert ({risk.name for risk in risks(read, Settings())} == {"untold-file"}) is is_found


def test_each_risk_is_listed_once() -> None:
    assert FOUND.keys() == RISKS.keys()


def test_gaps_in_a_script_on_disk_are_not_asked_about() -> None:
    files = {f"{FOLDER}/a.sh": 'eval "$X"\nsh -c "$Y"\n$Z --help\n'}
    assert found(risks, "sh a.sh", files) == set()
