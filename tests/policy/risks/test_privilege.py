"""Other rights than the user gave: another account, set-id bits, containers that hold the machine, roles in clouds."""

from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.risks.privilege import RISKS, machine_asked_for, risks
from tests.policy.risks.readings import found
from tests.support.cases import cases, each, each_case


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


FOUND = cases(__file__, "found", dict[str, tuple[str, ...]])


@each("word, command", [(word, command) for word, commands in FOUND.items() for command in commands])
def test_what_is_grave_is_found(word: str, command: str) -> None:
    assert word in found(risks, command)


@each_case("command")
def test_what_only_looks_alike_is_not(command: str) -> None:
    assert found(risks, command) == set()


def test_each_word_is_explained() -> None:
    assert set(RISKS) == set(FOUND)
