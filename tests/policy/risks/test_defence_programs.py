"""Each rule of a program gives a word that is explained, or none."""

from tallystick.model.script import Word
from tallystick.policy.risks.defence_programs import RULES
from tallystick.policy.risks.defences import RISKS
from tallystick.policy.risks.programs import Started
from tests.support.cases import each

ARGUMENTS = ((), ("-F",), ("--version",), ("disable",), ("status",), ("stop",), ("delete", "x"), ("-e", "0"))


@each("name", sorted(RULES))
def test_a_rule_says_a_word_that_is_explained(name: str) -> None:
    said = {RULES[name](Started(name, tuple(map(Word, words)), name)) for words in ARGUMENTS}
    assert said - {None} <= set(RISKS)


@each("name", sorted(RULES))
def test_to_ask_for_the_version_is_work(name: str) -> None:
    assert RULES[name](Started(name, (Word("--version"),), name)) is None
