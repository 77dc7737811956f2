"""What a call does not tell, end to end; and ordinary work with hosts, shells and code, which is let through."""

from importlib import resources

import pytest

from tallystick.policy.risks import opaque
from tests.policy.laid_out import Laid
from tests.support.cases import each_case


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Laid:
    return Laid(tmp_path_factory.mktemp("laid"))


@each_case("command")
def test_what_is_not_told_and_may_be_grave_is_asked_about(laid: Laid, command: str) -> None:
    assert laid.said(command)[0] in ("ask", "deny")


@each_case("tool, args")
def test_a_change_of_a_file_that_is_not_named_is_asked_about(laid: Laid, tool: str, args: dict[str, object]) -> None:
    effect, rules = laid.call(tool, args)
    assert effect in ("ask", "deny")
    assert "untold.file" in rules


@each_case("command")
def test_work_is_let_through(laid: Laid, command: str) -> None:
    effect, rules = laid.said(command)
    assert effect in ("allow", "warn"), rules


def test_each_risk_is_asked_for_by_a_policy() -> None:
    text = (resources.files("tallystick.policy") / "shipped" / "untold.cedar").read_text("utf-8")
    words = {*opaque.RISKS, "hidden-code"}
    assert {word for word in words if f'"{word}"' not in text} == set()
