"""Work that only looks like a risk to the machine: none of its detectors finds anything in it."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks import bombs, defences, disks, machine, privilege
from tests.policy.risks.readings import found
from tests.support.cases import each, each_case

DETECTORS = (bombs, defences, disks, machine, privilege)


@each_case("command")
def test_work_is_no_risk_to_the_machine(command: str) -> None:
    assert {word for module in DETECTORS for word in found(module.risks, command)} == set()


@given(st.text(alphabet=":(){}|&;$`'\"\\ \n/-=.<>*?#abdefkinorsuty019\ud800é", max_size=200))
def test_any_text_is_looked_at(text: str) -> None:
    for module in DETECTORS:
        assert found(module.risks, text) <= set(module.RISKS)


@each(
    "text",
    [
        "cat /dev/zero | " * 490 + "cat",
        "f(){ " * 300 + "f|f& " + "}; " * 300,
        "while true; do " * 60 + "x & " + "done;" * 60,
        "chmod " + "u+" * 20_000,
        "kill $(" + "ps " * 5000 + ")",
        "perl -e '" + "while(1){" * 1500 + "fork'",
        "sudo " * 400 + "id",
    ],
)
def test_text_made_to_hurt_is_looked_at(text: str) -> None:
    for module in DETECTORS:
        assert found(module.risks, text) <= set(module.RISKS)
