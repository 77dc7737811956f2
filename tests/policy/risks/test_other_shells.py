"""What calls do in the way of Windows: secrets that are read, and programs that fetch or run what a host sends."""

from tallystick.policy.risks.other_shells import download_risks, risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command")
def test_a_secret_is_read(command: str) -> None:
    assert found(risks, command) == {"reads-secret"}


@each_case("command")
def test_other_files_and_talk_are_work(command: str) -> None:
    assert found(risks, command) == set()


@each_case("command")
def test_a_download_by_an_odd_program_is_found(command: str) -> None:
    assert found(download_risks, command) == {"odd-download"}


@each_case("command")
def test_what_a_host_sends_is_run_by_an_odd_program(command: str) -> None:
    assert found(download_risks, command) == {"remote-code"}


@each_case("command")
def test_what_those_programs_are_there_for_is_work(command: str) -> None:
    assert found(download_risks, command) == set()
