"""What the recorder's processes say to each other arrives as it was said, in whatever pieces."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.decision import Call, Decision, Effect, Evidence
from tallystick.service.frames import Answer, Answers, Question, questions, written_answer, written_question

CALL = Call(agent="claude-code", session="s", tool="Bash", args={"command": "rm \ud800", "n": 1 << 80}, call_id="c1")
EVIDENCE = Evidence(rule="r1", action="write", target="/etc/passwd", because=("a", "b"))
ANSWERS = [
    Answer(is_warm=True),
    Answer(number=1, decision=Decision()),
    Answer(number=2, decision=Decision(effect=Effect.DENY, rules=("r1",), reason="é", evidence=(EVIDENCE,))),
    Answer(number=3, decision=Decision(effect=Effect.DENY, reason="of \ud800", evidence=(EVIDENCE,))),
]


def test_a_question_may_hold_any_text_and_number() -> None:
    asked = [Question(1, CALL, is_after=False), Question(2, CALL, is_after=True)]
    file = io.BytesIO(b"".join(map(written_question, asked)))
    assert list(questions(file)) == asked


@pytest.mark.parametrize("left", [1, 4, 5, 40])
def test_a_question_that_is_cut_off_is_the_end(left: int) -> None:
    assert list(questions(io.BytesIO(written_question(Question(1, CALL, is_after=False))[:left]))) == []


@given(st.lists(st.integers(1, 40), max_size=30))
def test_answers_come_in_any_pieces(sizes: list[int]) -> None:
    data = b"".join(map(written_answer, ANSWERS))
    taken = Answers()
    found: list[Answer] = []
    for size in (*sizes, len(data)):
        found += taken.taken(data[:size])
        data = data[size:]
    assert found == ANSWERS
