"""The filter line, read and written."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import UsageError
from tallystick.graph.timeline import Wanted
from tallystick.tui.search import as_beginnings, filter_text, parse_filter
from tests.support.cases import each_case

# All characters but surrogates: naming these by the codec or by their category would cost seconds.
character = st.characters(max_codepoint=0xD7FF, exclude_characters=",\0") | st.characters(min_codepoint=0xE000)
word = st.text(character, min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", Wanted()),
        ("type:tool_call", Wanted(types=("tool_call",))),
        ("type:user,assistant tool:Bash", Wanted(types=("user", "assistant"), tools=("Bash",))),
        ("agent:codex failed", Wanted(agents=("codex",), failed=True)),
        ("two words", Wanted(text="two words")),
        ('"two words" tool:"Ask Joe"', Wanted(text="two words", tools=("Ask Joe",))),
        ("text:failed", Wanted(text="failed")),
        ("https://example.org", Wanted(text="https://example.org")),
        ("type:", None),
        ("colour:red", None),
        ("'open", None),
        ("x" * 501, None),
    ],
)
def test_what_is_typed_means_this(text: str, wanted: Wanted | None) -> None:
    if wanted is None:
        with pytest.raises(UsageError) as found:
            parse_filter(text)
        assert found.value.hint or "at most" in str(found.value)
    else:
        assert parse_filter(text) == wanted


@given(
    st.builds(
        Wanted,
        types=st.lists(word, max_size=2).map(tuple),
        tools=st.lists(word, max_size=2).map(tuple),
        agents=st.lists(word, max_size=2).map(tuple),
        failed=st.booleans(),
        text=word | st.just(""),
    )
)
def test_what_is_written_is_read_as_it_was_meant(wanted: Wanted) -> None:
    assert parse_filter(filter_text(wanted)) == wanted


@given(st.text(max_size=600))
def test_whatever_is_typed_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(UsageError):
        parse_filter(text)


@each_case("typed, asked")
def test_words_are_beginnings_and_what_is_quoted_is_not(typed: str, asked: str) -> None:
    assert as_beginnings(typed) == asked
