"""All that is destroyed without a path showing it: which words a call gets, by which of the modules."""

from tallystick.policy.risks.destruction import RISKS, risks
from tests.policy.risks.readings import found
from tests.support.cases import each_case


@each_case("command, words")
def test_a_call_has_the_words_of_all_that_it_destroys(command: str, words: set[str]) -> None:
    assert found(risks, command) == words
    assert words <= RISKS.keys()
