"""Tools that reach out."""

from typing import Any

from tests.intent.tools.cases import lines, uses
from tests.support.cases import each_case


@each_case("tool, args, expected")
def test_a_tool_reaches_what_its_arguments_name(tool: str, args: Any, expected: list[str]) -> None:
    assert lines(uses(tool, args)) == expected


def test_a_server_that_the_name_does_not_tell_can_be_given() -> None:
    assert lines(uses("resources/read", {"uri": "note://1"}, server="notes")) == ["network fetch mcp://notes/note://1"]
