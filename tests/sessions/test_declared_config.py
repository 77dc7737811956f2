"""What a session tells of its configuration itself."""

from msgspec.structs import replace

from tallystick.sessions.configuration import AGENT, ENVIRONMENT, PERMISSIONS, Configuration, configuration
from tallystick.sessions.declared_config import Told, carried, told_inputs

KEY = bytes(32)
WHOLE = Told(agent="claude-code", version="2.1.330", model="opus", mode="default", switches=("CI",))


def of(told: Told, before: Configuration | None = None) -> Configuration:
    return configuration(KEY, told_inputs(told, KEY), carried(before, told))


def test_all_that_it_says_counts() -> None:
    whole = of(WHOLE)
    assert list(whole.sections) == [AGENT, PERMISSIONS, ENVIRONMENT]
    for changes in ({"version": "3"}, {"model": "haiku"}, {"mode": "plan"}, {"switches": ()}, {"agent": "codex"}):
        assert of(replace(WHOLE, **changes)).fingerprint != whole.fingerprint


def test_an_environment_that_is_not_seen_is_another_than_an_empty_one() -> None:
    assert ENVIRONMENT not in of(replace(WHOLE, switches=None)).sections
    assert of(replace(WHOLE, switches=())).inputs[ENVIRONMENT] == ()


def test_what_it_told_once_holds_until_it_tells_something_else() -> None:
    before = of(WHOLE)
    assert of(Told(agent="claude-code"), before) == before
    told = of(Told(agent="claude-code", mode="plan"), before)
    assert told.sections[AGENT] == before.sections[AGENT]
    assert told.sections[PERMISSIONS] != before.sections[PERMISSIONS]
