"""Code that hides what it runs."""

from tallystick.policy.risks.concealed import RISKS, risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command")
def test_what_is_decoded_and_run_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@each_case("command")
def test_decoding_alone_is_work(command: str) -> None:
    assert found(risks, command) == set()
