"""A scope is found by its digest, and by nothing that is nearly the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.model.grant import Scope

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
SCOPES = st.builds(Scope, rule=TEXT, action=TEXT, target=TEXT, words=TEXTS, runs=TEXTS, folder=TEXT)


@given(SCOPES, SCOPES)
def test_two_scopes_have_one_key_only_if_they_are_the_same(one: Scope, other: Scope) -> None:
    assert (one.key == other.key) is (one == other)


def test_words_are_not_run_together() -> None:
    apart = Scope(rule="r", action="a", target="t", words=("rm", "a b"))
    assert apart.key != Scope(rule="r", action="a", target="t", words=("rm", "a", "b")).key


def test_what_is_long_is_not_kept() -> None:
    assert Scope(rule="r", action="a", target="t", words=("x" * 1_900,)).is_short
    assert not Scope(rule="r", action="a", target="t", words=("x" * 2_001,)).is_short
