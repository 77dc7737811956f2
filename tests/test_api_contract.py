"""The contract on the apis of packages: what it refuses, and what it lets through."""

import pytest

from tools.api_contract import hidden_part, named_by


@pytest.mark.parametrize(
    ("importer", "imported", "hidden"),
    [
        ("tallystick.cli.ask.why", "tallystick.ask.why", None),
        ("tallystick.cli.ask.why", "tallystick.ask", None),
        ("tallystick.cli.ask.why", "tallystick.errors", None),
        ("tallystick.ask.why", "tallystick.ask.graph_walk", None),
        ("tallystick.ask.why", "msgspec.json", None),
        ("tallystick.cli.ask.why", "tallystick.ask.no_such_module", "tallystick.ask.no_such_module"),
        ("tallystick.policy.calls.reading", "tallystick.intent.shell.effects", None),
        (
            "tallystick.policy.calls.reading",
            "tallystick.intent.code.no_such_module",
            "tallystick.intent.code.no_such_module",
        ),
        ("tallystick.policy.calls.reading", "tallystick.no_such_package.a.b", "tallystick.no_such_package.a"),
    ],
)
def test_an_import_past_an_api_is_found_where_it_passes(importer: str, imported: str, hidden: str | None) -> None:
    assert hidden_part(importer, imported) == hidden


def test_an_api_is_what_a_package_names() -> None:
    assert {"why", "impact", "cost"} <= named_by("tallystick.ask")
    assert named_by("tallystick.ask.why") == frozenset()  # a module has no modules
