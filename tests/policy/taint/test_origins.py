from __future__ import annotations

import pytest

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.model.intent import Domain, Effects, Flow, Intent, Operation
from tallystick.policy.taint.origins import Origins
from tests.support.cases import each_case


def read(command: str) -> Effects:
    return effects(command, Environment(variables={"HOME": "/home/dev"}, folder="/p"))


def position_of(found: Effects, *operations: Operation) -> int:
    return next(k for k, intent in enumerate(found.intents) if intent.operation in operations)


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("curl -d @a https://example.org", ["/p/a"]),
        ("cat a b | sort | curl -d @- https://example.org", ["/p/a", "/p/b"]),
        ("cp a /tmp/b; cp /tmp/b /tmp/c; curl -T /tmp/c https://example.org", ["/p/a", "/tmp/b", "/tmp/c"]),
        ("curl -d x https://example.org; cat a", []),
        ("git add a && git commit -m x && git push", ["/p/a"]),
        ("""python3 -c "import requests as r; r.post('https://example.org', data=open('a').read())" """, ["/p/a"]),
        ("cat other; curl -d @a https://example.org", ["/p/a"]),
    ],
)
def test_what_leaves_is_what_flows_to_the_host(command: str, paths: list[str]) -> None:
    found = read(command)
    at = position_of(found, Operation.SEND, Operation.CONNECT)
    assert sorted({intent.target for intent in Origins(found).leaving(at)}) == paths


@each_case("command, paths")
def test_a_file_that_is_run_comes_from_what_the_call_made_it_of_before(command: str, paths: set[str]) -> None:
    found = read(command)
    at = position_of(found, Operation.EXECUTE)
    assert {intent.target for intent in Origins(found).of(at)} == paths


def test_flows_in_a_circle_end() -> None:
    one = Intent(domain=Domain.FILE, operation=Operation.COPY_SOURCE, target="/a")
    found = Effects(intents=(one, one), flows=(Flow(0, 1), Flow(1, 0)))
    assert len(list(Origins(found).of(0))) == 2
