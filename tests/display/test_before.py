"""What later steps are shown with."""

from tallystick.display.before import Before
from tests.display.telling import step, told


def test_blocks_are_remembered_by_entry_and_by_the_number_of_their_source() -> None:
    before = Before()
    before.note(step("security_block", n=14, block_id="b0001", seq=13))
    before.note(step("security_block", n=15, block_id="b0002"))
    before.note(step("security_block", n=16, block_id=7))
    assert before.places == {"b0001": 14, "b0002": 15}
    assert before.seqs == {14: 13}


def test_why_a_call_was_denied_is_remembered() -> None:
    before = Before()
    before.note(step("security_decision", corr="c1", action="deny", values={"reason": "not the goal"}))
    before.note(step("security_decision", corr="c2", action="allow", values={"reason": "verified"}))
    before.note(step("security_decision", action="deny", values={"reason": "of no call", "meta": {"corr": "#26"}}))
    assert before.reasons == {"c1": "not the goal", "#26": "of no call"}


def test_what_was_called_is_remembered_for_results_that_do_not_say_it() -> None:
    before = Before()
    before.note(step("tool_call", corr="c1", tool="Bash"))
    before.note(step("tool_call", corr="c2", values={"meta": {"tool": "Ask\x1b Joe"}}))
    before.note(step("tool_call", corr=["c3"], tool="Bash"))
    assert before.tools == {"c1": "Bash", "c2": "Ask\x1b Joe"}
    assert told(step("tool_result", corr="c2"), before=before) == ["TOOL RESULT: Ask␛ Joe [c2]"]


def test_it_does_not_grow_for_ever() -> None:
    before = Before()
    for number in range(10_050):
        before.note(step("security_block", n=number, block_id=f"b{number}", seq=number))
    assert len(before.places) == len(before.seqs) == 10_000
    assert "b0" not in before.places
    assert "b10049" in before.places
