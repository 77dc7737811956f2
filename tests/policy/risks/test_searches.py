"""Secrets that a call looks for and reads, and broad looks that no single path shows."""

import pytest

from tallystick.model.decision import Call
from tallystick.policy.calls.reader import read_call
from tallystick.policy.risks.searches import RISKS, risks, scan_risks
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import FOLDER, HOME, Bare, found
from tests.support.cases import cases, each, each_case

FOUND = cases(__file__, "found", dict[str, tuple[str, ...]])


@each("risk, command", [(risk, command) for risk, commands in FOUND.items() for command in commands])
def test_looking_for_secrets_and_reading_them_is_found(risk: str, command: str) -> None:
    assert found(risks, command) == {risk}


@each_case("command")
def test_looking_for_other_files_or_only_for_names_is_work(command: str) -> None:
    assert found(risks, command) == set()


@pytest.mark.parametrize(
    ("glob", "wanted"),
    [
        (".env*", {"reads-secret"}),
        ("*.pem", {"reads-credential"}),
        ("*.ts", set()),
        ("!.env", set()),
        (".env.example", set()),
    ],
)
def test_the_pattern_of_a_search_tool_counts(glob: str, wanted: set[str]) -> None:
    args = {"pattern": "KEY", "glob": glob, "output_mode": "content"}
    call = Call(agent="claude-code", session="s", tool="Grep", args=args, cwd=FOLDER)
    read = read_call(call, Bare({}), home=HOME, workspace=FOLDER)
    assert {risk.name for risk in risks(read, Settings())} == wanted


def test_each_risk_has_its_examples() -> None:
    assert set(RISKS) == {*FOUND, "sweep"}


@each_case("command")
def test_a_broad_look_is_found(command: str) -> None:
    assert found(scan_risks, command) == {"sweep"}


@each_case("command")
def test_a_look_at_the_project_is_work(command: str) -> None:
    assert found(scan_risks, command) == set()
