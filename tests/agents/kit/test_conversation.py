from __future__ import annotations

from tallystick.agents.kit.conversation import Conversation, Outcome
from tallystick.model.step import Input, Ref


def test_a_result_without_an_id_belongs_to_the_oldest_open_call() -> None:
    talk = Conversation("made", "s")
    talk.call(talk.at("#0"), "Read", {"path": "a"})
    talk.call(talk.at("#1"), "Grep", {})
    assert talk.result(talk.at("#2"), "x").source_id == "#0/result"
    assert talk.result(talk.at("#3"), "y").meta == {"tool": "Grep"}
    assert talk.result(talk.at("#4"), "z").source_id == "#4"


def test_a_result_finds_its_call_by_id_and_says_its_tool() -> None:
    talk = Conversation("made", "s")
    talk.call(talk.at("#0"), "Read", {}, call_id="a")
    talk.call(talk.at("#1"), "Grep", {}, call_id="b")
    result = talk.result(talk.at("#2"), "x", call_id="b", outcome=Outcome(success=True))
    assert (result.source_id, result.meta) == ("b/result", {"tool": "Grep", "corr": "b", "success": True})


def test_parallel_results_follow_each_other_and_their_calls() -> None:
    talk = Conversation("made", "s")
    for name in ("a", "b"):
        talk.call(talk.at(name), "Read", {}, call_id=name)
    assert talk.result(talk.at("#1"), "", call_id="a").after == (Ref("b"), Ref("a"))
    assert talk.result(talk.at("#2"), "", call_id="b").after == (Ref("a/result"), Ref("b"))


def test_only_a_humans_text_opens_a_request() -> None:
    talk = Conversation("made", "s")
    assert talk.said(talk.at("#0"), "user", "a").opens_request
    assert not talk.said(talk.at("#1"), "user", "a", origin="injected").opens_request
    assert (talk.said(talk.at("#2"), "assistant", "a").type, talk.said(talk.at("#3"), 7, "a").type) == (
        "assistant",
        "system",
    )


def test_members_that_say_nothing_are_left_out() -> None:
    talk = Conversation("made", "s")
    call = talk.model_call(talk.at("#0"), None, {"input": 3, "output": None, "cache_read": -1})
    assert (call.meta, call.input) == ({"tokens": {"input": 3}}, Input.HIDDEN)
    assert talk.opening({"a": None}, {"personal.cwd": None}).values == {}
    assert talk.thought(talk.at("#1"), None).values == {}
