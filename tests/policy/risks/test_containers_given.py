"""Containers that a tool starts by the members of its arguments."""

from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.risks.containers_given import machine_asked_for
from tests.support.cases import each, each_case


def asked(tool: str, args: Json) -> str | None:
    """What such a call asks for, where `/` and `/etc` are the machine's."""
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd="/w")
    return machine_asked_for(call, lambda path: path in ("/", "/etc"))


@each_case("args, said")
def test_a_container_that_holds_the_machine_is_known(args: Json, said: str) -> None:
    assert asked("mcp__docker__run_container", args) == said


@each(
    "args",
    [
        {"image": "a", "privileged": False},
        {"volumes": ["/w:/w"], "ports": {"80/tcp": 80}},
        {"environment": {"SOURCE": "x", "PID": "1"}},
        "privileged",
        None,
    ],
)
def test_an_ordinary_container_is_not(args: Json) -> None:
    assert asked("mcp__docker__run_container", args) is None


def test_other_tools_may_use_the_same_words() -> None:
    assert asked("mcp__jira__create_issue", {"privileged": True, "source": "/"}) is None
