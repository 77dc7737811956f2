"""How a line of call_forms.toml is compared with a call."""

from types import ModuleType

import pytest
from msgspec import convert

from tallystick.errors import FormatError
from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.read import read_script
from tallystick.policy import risks
from tallystick.policy.risks import call_forms, defences, firewall_rules, packages
from tallystick.policy.risks.call_forms import Forms, fits
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
        ("key+get|list", "p -x key get", True),
        ("key+get|list", "p list", True),
        ("key+get|list", "p get key", False),
        ("only:-p|-x", "p -x -p", True),
        ("only:-p|-x", "p -x y", False),
        ("<>", "p $HOME", True),
        ("<>", "p x", False),
        ("~[a-z]:", "p C:", True),
    ],
)
def test_a_call_has_a_form_where_all_its_conditions_hold(form: str, call: str, meant: bool) -> None:
    assert fits(form, started(call)) is meant


def test_every_line_names_a_risk_that_there_is() -> None:
    modules = [value for value in vars(risks).values() if isinstance(value, ModuleType)]
    forms = [value for module in modules for value in vars(module).values() if isinstance(value, Forms)]
    named = frozenset[str]().union(
        *(form.risks for form in forms if form not in (defences._SERVICES, firewall_rules._LOADS, packages._NAMED))
    )
    assert len(forms) > 10
    assert named <= set(risks.RISKS)


def in_a_file(monkeypatch: pytest.MonkeyPatch, lines: str) -> None:
    file = convert({"groups": {"ends": "stop kill"}, "forms": {"any": lines}}, call_forms._File)
    monkeypatch.setattr(call_forms, "_file", lambda: file)


def test_the_first_line_that_fits_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_file(monkeypatch, "- p -n\na p|q 0:%ends\nb p =mine:stop|x\n")

    def _mine(started: Started, *words: str) -> bool:
        return words == ("stop", "x") and started.has("-f")

    forms = Forms("any", _mine)
    given = ("p stop -n -f", "p kill", "q -f", "p -f", "q stop")
    assert [forms.of(started(text)) for text in given] == [None, "a", None, "b", "a"]


def test_a_test_that_the_module_does_not_have_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    in_a_file(monkeypatch, "a p =other\n")
    with pytest.raises(FormatError, match="other"):
        Forms("any")
