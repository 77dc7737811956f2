"""Code that hides what it runs."""

from tallystick.policy.risks.hidden import risks
from tests.policy.risks.readings import FOLDER, found
from tests.support.cases import each_case


@each_case("command")
def test_code_that_decodes_what_it_runs_is_found(command: str) -> None:
    assert found(risks, command) == {"hidden-code"}


@each_case("command")
def test_code_that_can_be_seen_is_not(command: str) -> None:
    assert found(risks, command) == set()


def test_a_bundle_on_disk_is_not_what_the_agent_gave() -> None:
    files = {f"{FOLDER}/bundle.js": "eval(atob(x));\n"}
    assert found(risks, "node bundle.js", files) == set()
