"""What holds for the effects of any text whatever."""

from __future__ import annotations

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.model.intent import Domain, Effects, Operation

ENVIRONMENT = Environment(
    variables={"HOME": "/home/dev", "PWD": "/w"},
    folder="/w",
    glob=lambda pattern: [pattern.replace("*", "x")] if "*" in pattern else [],
    read_text=lambda path: "cat a > b\n. ./x\n$1\n" if path.endswith("x") else None,
)
_MOST_INTENTS = 2600


def check(text: str) -> Effects:
    """Raises AssertionError where the effects of a text are not sound."""
    found = effects(text, ENVIRONMENT)
    assert len(found.intents) <= _MOST_INTENTS, len(found.intents)
    for intent in found.intents:
        target = intent.target
        "".join([target, intent.content or "", *intent.words]).encode("utf-8")
        assert len(target) <= 4200
        assert "\0" not in target or "\0" in text
        assert all(len(word) <= 1100 for word in intent.words)
        if intent.domain is Domain.FILE and intent.is_known and not intent.is_pattern:
            assert target
            assert not target.startswith("/") or not {"", ".", ".."} & set(target.split("/")[1:-1])
    for flow in found.flows:
        assert flow.source != flow.target
        assert 0 <= flow.source < len(found.intents)
        assert 0 <= flow.target < len(found.intents)
    unknown = [intent for intent in found.intents if intent.operation is Operation.UNKNOWN]
    assert not found.opaque or unknown
    return found
