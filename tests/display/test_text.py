"""No string from an agent reaches a terminal as anything but visible characters."""

import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from tallystick.display.text import cut, first_line, lines, one_line, width_of
from tests.support.cases import each

# Written down again, so that a mistake in the table of the module is not repeated here.
BIDI = set(range(0x202A, 0x202F)) | set(range(0x2066, 0x206A)) | {0x061C, 0x200E, 0x200F}
ZERO_WIDTH = {0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD, 0x034F, 0x180E, 0x3164, 0x115F, 0x1160, 0xFFA0, 0x2800}
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)  # lone surrogates among it


def is_harmless(text: str) -> bool:
    """Whether a terminal only draws this text, from left to right, in cells that can be seen."""
    return all(
        unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        and ord(character) not in BIDI | ZERO_WIDTH
        and not 0xFE00 <= ord(character) <= 0xFE0F
        and not 0xE0000 <= ord(character) <= 0xE0FFF
        for character in text
    )


@given(ANY_TEXT)
@example("\x1b]52;c;cm0gLXJmIC8=\x07")
@example("\x9b31mred\x9b0m")
@example("a\u202egnp.exe")
@example("\ud800 half a pair")
@example("two\r\nlines\u2028or\x85more\x0b\x0c")
def test_a_line_holds_nothing_that_a_terminal_would_obey_or_hide(text: str) -> None:
    assert is_harmless(one_line(text))


@given(ANY_TEXT)
def test_lines_hold_nothing_that_a_terminal_would_obey_or_hide(text: str) -> None:
    shown = lines(text)
    assert all(is_harmless(line) for line in shown)
    assert len(shown) == text.count("\n") + 1


@given(ANY_TEXT, st.integers(2, 60))
def test_a_first_line_is_one_harmless_line_within_its_columns(text: str, width: int) -> None:
    shown = first_line(text, width)
    assert is_harmless(shown)
    assert width_of(shown) <= width


@given(ANY_TEXT)
def test_what_is_safe_stays_as_it_is(text: str) -> None:
    safe = one_line(text)
    assert one_line(safe) == safe


@each("text", ["plain", "Grüße, 世界, שלום, नमस्ते, Việt Nam", "done ✅ 🎉 — “quoted”", "narrow\u202fspace"])
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert one_line(text) == text


@each(
    "text, shown",
    [
        ("\x1b[2J", "␛[2J"),
        ("a\nb\tc\r", "a␊b␉c␍"),
        ("\x7f\x9b\xad", "␡\\x9b\\xad"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("lone \udcff", "lone \\udcff"),
        ("warning ⚠\ufe0f and x\ufe0f", "warning ⚠ and x\\ufe0f"),
    ],
)
def test_what_is_dangerous_is_shown_as_a_picture_or_an_escape(text: str, shown: str) -> None:
    assert one_line(text) == shown


def test_a_tower_of_marks_is_cut() -> None:
    assert len(one_line("Z" + "\u0336" * 5000)) < 20


def test_a_tab_keeps_its_room_in_lines() -> None:
    assert lines("def f():\n\treturn 1") == ["def f():", "    return 1"]


def test_a_wide_text_is_cut_by_columns_not_by_characters() -> None:
    assert cut("世界世界", 5) == "世界…"
    assert width_of(cut("世界世界", 5)) == 5


def test_a_first_line_says_that_there_is_more() -> None:
    assert first_line("\n\n  first\nsecond", 40) == "first …"
    assert first_line("only", 40) == "only"


def test_the_first_line_of_a_large_text_costs_no_more_than_its_beginning() -> None:
    assert first_line("x" * 50_000_000, 20) == "x" * 19 + "…"
