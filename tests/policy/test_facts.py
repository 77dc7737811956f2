"""What is known of a call before it runs, as policies see it: what it does, one by one, and what it does it to."""

from tallystick.policy.facts import RISKS, Act, Action, CallFacts, Context, Facts, FileFacts, Place, is_sensitive_read
from tallystick.policy.risks import RISKS as ALL_RISKS
from tests.support.cases import each


def facts(*acts: Act) -> Facts:
    return Facts(agent="claude-code", context=Context(tool="Bash", session="s"), acts=acts)


def file(action: Action, *kinds: str, tags: tuple[str, ...] = (), in_use: bool = False, carries: bool = False) -> Act:
    resource = FileFacts(
        path="/x",
        name="x",
        place=Place.HOME,
        kinds=frozenset(kinds),
        tags=frozenset(tags),
        is_in_use=in_use,
        is_sensitive=carries,
    )
    return Act(action=action, resource=resource)


@each(
    "act",
    [
        file(Action.READ, "secret"),
        file(Action.READ, "credential"),
        file(Action.READ, "environment"),
        file(Action.READ, tags=("credentials",)),
        file(Action.READ, carries=True),
        file(Action.EXECUTE, "secret"),
        file(Action.USE, "secret"),
    ],
)
def test_reading_what_is_sensitive_is_remembered(act: Act) -> None:
    assert is_sensitive_read(facts(act)) == ("/x",)


@each(
    "act",
    [
        file(Action.READ),
        file(Action.READ, "secret", in_use=True),
        file(Action.LIST, "secret"),
        file(Action.WRITE, "secret"),
    ],
)
def test_other_acts_are_not(act: Act) -> None:
    assert is_sensitive_read(facts(act)) == ()


def test_a_risk_is_remembered_with_what_it_is_about() -> None:
    whole = CallFacts(tool="Bash", kind="shell", risks=frozenset(("prints-secret", "sweep")))
    act = Act(action=Action.CALL, resource=whole, because=("prints-secret: gh auth token", "sweep: locate x"))
    assert is_sensitive_read(facts(act)) == ("prints-secret: gh auth token",)


def test_the_risks_are_those_that_are_found() -> None:
    assert set(ALL_RISKS) >= RISKS
