"""How far content is trusted, and what passes along an edge."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.lineage.taint import (
    CLEAN,
    MOST_SOURCES,
    Taint,
    Trust,
    Via,
    changed,
    is_third_party,
    joined,
    lowest,
    passed,
    trust_of_target,
    trust_of_thing,
)
from tests.support.cases import each_case

taints = st.builds(
    Taint,
    trust=st.sampled_from(Trust),
    is_sensitive=st.booleans(),
    sources=st.lists(st.sampled_from("abcdefghijkl"), max_size=4).map(tuple),
)


@given(st.lists(taints, max_size=6), st.randoms())
def test_what_comes_of_several_sources_is_as_bad_as_the_worst_in_any_order(some: list[Taint], random: object) -> None:
    whole = joined(some)
    assert whole.trust is lowest(one.trust for one in some)
    assert whole.is_sensitive == any(one.is_sensitive for one in some)
    assert joined(reversed(some)).trust is whole.trust
    assert joined([whole, whole]) == whole
    assert len(whole.sources) <= MOST_SOURCES


@given(taints, st.sampled_from(Via))
def test_nothing_gets_worse_on_its_way(taint: Taint, via: Via) -> None:
    after = passed(taint, via)
    assert lowest((after.trust, taint.trust)) is taint.trust
    assert after.is_sensitive <= taint.is_sensitive


@given(taints)
def test_what_a_program_moves_stays_as_it_is(taint: Taint) -> None:
    kept = CLEAN if taint.is_clean else taint
    assert passed(taint, Via.COMMAND) == passed(taint, Via.QUOTE) == passed(taint, Via.CHANGE) == kept


def test_what_the_model_puts_in_words_of_its_own_is_vetted_and_no_secret() -> None:
    assert passed(Taint(trust=Trust.UNTRUSTED, is_sensitive=True), Via.MODEL) == Taint(trust=Trust.VETTED)
    assert passed(Taint(is_sensitive=True, sources=("x",)), Via.MODEL) == CLEAN


def test_a_quoted_line_does_not_make_a_file_of_the_users_untrusted() -> None:
    quote = Taint(trust=Trust.UNTRUSTED, sources=("page",))
    assert changed(CLEAN, [quote]) == Taint(trust=Trust.VETTED, sources=("page",))
    assert changed(quote, [CLEAN]).trust is changed(quote, [quote]).trust is Trust.UNTRUSTED
    assert changed(CLEAN, [Taint(is_sensitive=True)]).is_sensitive


@pytest.mark.parametrize(
    ("target", "trust"),
    [
        ("https://example.org/x", Trust.UNTRUSTED),
        ("HTTP://example.org", Trust.UNTRUSTED),
        ("http://localhost:8000/x", Trust.TRUSTED),
        ("http://127.0.0.1/x", Trust.TRUSTED),
        ("http://[::1]:80/x", Trust.TRUSTED),
        ("http://127.0.0.1.evil.example/x", Trust.UNTRUSTED),
        ("http://localhost.evil.example/x", Trust.UNTRUSTED),
        ("http://[broken", Trust.UNTRUSTED),
        ("websearch:how to", Trust.UNTRUSTED),
        ("mcp://github", Trust.UNTRUSTED),
        ("mcp://mail/inbox", Trust.UNTRUSTED),
        ("mcp://filesystem", Trust.TRUSTED),
        ("pkg:pypi/requests@2", Trust.VETTED),
        ("kubernetes://", Trust.VETTED),
        ("s3://bucket/key", Trust.VETTED),
        ("origin", Trust.VETTED),
        ("example.org:22", Trust.UNTRUSTED),
    ],
)
def test_a_target_tells_how_far_what_comes_from_it_is_trusted(target: str, trust: Trust) -> None:
    assert trust_of_target(target) is trust


def test_a_file_that_nobody_brought_in_is_trusted_and_a_page_is_not() -> None:
    assert trust_of_thing("file", "file:///home/dev/a.txt") is Trust.TRUSTED
    assert trust_of_thing("commit", "commit:abc") is Trust.TRUSTED
    assert trust_of_thing("url", "https://example.org") is Trust.UNTRUSTED
    assert trust_of_thing("url", "tcp://example.org:80") is Trust.UNTRUSTED


@each_case("path, is_theirs")
def test_some_folders_hold_the_work_of_others(path: str, is_theirs: bool) -> None:
    assert is_third_party(path) is is_theirs
