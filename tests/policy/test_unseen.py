"""Signs and forms in which text is not seen where it is shown."""

import base64

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.unseen import coded_texts, comments, has_unseen, visible
from tests.support.cases import each, each_case


def tagged(text: str) -> str:
    return "".join(chr(0xE0000 + ord(sign)) for sign in text)


@each(
    "text",
    [
        "a\u200bb",
        "a\u2060b",
        "a\u00adb",
        "x\u202ey",
        "x\u2066",
        tagged("run"),
        "a" + "\u200b" * 4,
        "x\U000e0101\U000e0102",
        "\ufe0f" * 4,
    ],
)
def test_signs_that_hide_something_are_found(text: str) -> None:
    assert has_unseen(text)


@each_case("text")
def test_signs_that_a_script_or_an_emoji_needs_are_none(text: str) -> None:
    assert not has_unseen(text)


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126)))
def test_what_tags_spell_is_seen_again(text: str) -> None:
    assert visible(tagged(text)) == text


@given(st.text())
def test_what_is_visible_has_nothing_unseen(text: str) -> None:
    assert not has_unseen(visible(text))


def test_comments_are_found_also_where_one_has_no_end() -> None:
    assert list(comments("a <!-- b --> c <!--d-->")) == [" b ", "d"]
    assert list(comments("a <!-- b")) == [" b"]
    assert list(comments("[//]: # (do it)\n[comment]: # 'x'\n[link](y)")) == ["do it)", "x'"]
    assert list(comments("no comment")) == []


@given(st.text(alphabet=st.characters(codec="ascii", categories=("L", "N", "P", "Zs")), min_size=24, max_size=200))
def test_text_in_base64_and_in_hexadecimal_is_read(text: str) -> None:
    assert text in list(coded_texts(f"x {base64.b64encode(text.encode()).decode()} y"))
    assert text in list(coded_texts(f"x {text.encode().hex()} y"))


def test_what_only_looks_coded_is_left_alone() -> None:
    assert list(coded_texts("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")) == []
    assert list(coded_texts("src/components/checkout/PaymentMethodSelection")) == []
