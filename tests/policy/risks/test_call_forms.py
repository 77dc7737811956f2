"""How a line of call_forms.toml is compared with a call."""

import pytest

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.read import read_script
from tallystick.policy.risks import RISKS
from tallystick.policy.risks.call_forms import check, fits
from tallystick.policy.risks.programs import Started


def started(text: str) -> Started:
    (command,) = read_script(text, Environment(variables={})).commands
    return Started(command.words[0].plain, command.words[1:], text)


@pytest.mark.parametrize(
    ("form", "call", "meant"),
    [
        ("push", "p push x", True),
        ("push", "p -x y push", True),
        ("push", "p pull", False),
        ("0:push", "p x push", False),
        ("0:push", "p -q PUSH", True),
        ("1-2:add|del", "p addr x del", True),
        ("1-2:add|del", "p addr x y del", False),
        ("migrate reset", "p -x migrate reset", True),
        ("migrate reset", "p reset migrate", False),
        ("-v|--volumes", "p down -fv", True),
        ("-v|--volumes", "p down --volumes=x", True),
        ("-v|--volumes", "p down", False),
        ("!--dry-run publish", "p publish --dry-run", False),
        ("--set-*", "p --set-zone=x", True),
        ("*=*", "p a b=c", True),
        ("~/m", "p x /M", True),
        ("0:*", "p -x", False),
        ("!0:*", "p -x", True),
        ("db:drop", "p db:drop", True),
    ],
)
def test_a_call_has_a_form_where_all_its_conditions_hold(form: str, call: str, meant: bool) -> None:
    assert fits(form, started(call)) is meant


def test_every_line_names_a_risk_that_there_is() -> None:
    check(frozenset(RISKS))
