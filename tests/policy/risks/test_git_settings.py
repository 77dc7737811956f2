"""Which of git's settings run something, and which do not."""

from tallystick.policy.risks.git_settings import risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command")
def test_a_setting_that_runs_something_or_holds_everywhere_is_found(command: str) -> None:
    assert found(risks, command) == {"changes-git"}


@each_case("command")
def test_a_setting_of_the_project_that_runs_nothing_is_not(command: str) -> None:
    assert found(risks, command) == set()
