"""Tables of functions that do one thing."""

from tallystick.intent.code import lua, perl, php, ruby
from tallystick.intent.code.tables import Rule, operation_of, table
from tallystick.model.intent import Operation


def test_a_key_of_a_table_is_a_rule_for_each_name() -> None:
    assert table({"delete/ *": ("a", "b.c"), "copy 1": ("d",)}) == {
        "a": Rule("delete", None, True),
        "b.c": Rule("delete", None, True),
        "d": Rule("copy", 1),
    }


def test_every_rule_of_the_languages_can_be_applied() -> None:
    special = {"copy", "link", "move", "shell", "chdir"}
    for module in (lua, perl, php, ruby):
        for rule in module._RULES.values():
            assert rule.does in special or Operation(rule.does) is not Operation.UNKNOWN


def test_a_mode_says_what_is_done() -> None:
    modes = {
        "r": "read",
        "rb": "read",
        "r+": "edit",
        "w": "write",
        "w+": "write",
        "x": "write",
        "a": "append",
        "a+": "append",
    }
    assert {mode: operation_of(mode) for mode in modes} == modes
    assert operation_of(None) == operation_of("\0") == "unknown"
