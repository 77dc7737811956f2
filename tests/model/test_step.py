"""Steps before they are sealed: frozen values with the defaults that adapters count on."""

from __future__ import annotations

import pytest

from tallystick.model.step import Input, Loss, Opening, Ref, SessionKind, Source, Step


def test_a_step_needs_its_session_and_type_and_nothing_else() -> None:
    step = Step(session="s-1", type="user")
    assert (step.source, step.source_id, step.ts) == (Source.TRANSCRIPT, None, None)
    assert (step.meta, step.values, step.raw, step.after) == ({}, {}, {}, ())
    assert (step.within, step.input, step.opens_request) == (None, None, False)


def test_an_opening_is_a_root_unless_it_says_otherwise() -> None:
    opening = Opening(session="s-1", agent="demo")
    assert (opening.kind, opening.parent, opening.source, opening.ts) == (
        SessionKind.ROOT,
        None,
        Source.TRANSCRIPT,
        None,
    )
    assert (opening.meta, opening.values) == ({}, {})


def test_a_loss_is_no_fault_unless_it_says_so() -> None:
    loss = Loss(kind="unknown_line")
    assert (loss.detail, loss.fault) == (None, False)


def test_a_reference_names_the_last_step_of_the_own_session_by_default() -> None:
    assert Ref() == Ref(source_id=None, session=None)


def test_values_are_frozen() -> None:
    for value, member in ((Step(session="s", type="user"), "type"), (Loss(kind="k"), "kind"), (Ref(), "session")):
        with pytest.raises(AttributeError):
            setattr(value, member, "other")


def test_the_closed_sets_are_those_of_the_format() -> None:
    assert [source.value for source in Source] == ["hook", "transcript", "acp", "sdk", "watch", "otel", "import"]
    assert [kind.value for kind in SessionKind] == ["root", "child", "continuation", "fork"]
    assert [value.value for value in Input] == ["path", "not-visible"]
