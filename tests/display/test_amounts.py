from __future__ import annotations

import pytest

from tallystick.display.amounts import cost_text, dollars, short_count


@pytest.mark.parametrize(
    ("microusd", "text"),
    [
        (0, "$0"),
        (1, "<$0.0001"),
        (49, "<$0.0001"),
        (50, "$0.0001"),
        (33_500, "$0.0335"),
        (999_949, "$0.9999"),
        (999_950, "$1.00"),
        (12_300_000, "$12.30"),
        (1_234_567_890_000, "$1,234,567.89"),
    ],
)
def test_money_has_the_digits_that_a_person_looks_for(microusd: int, text: str) -> None:
    assert dollars(microusd) == text


@pytest.mark.parametrize(
    ("microusd", "unknown", "text"),
    [
        (None, (), ""),
        (None, ("m",), "unknown"),
        (0, (), "$0"),
        (2_000_000, (), "$2.00"),
        (2_000_000, ("m",), "$2.00 + ?"),
    ],
)
def test_what_has_no_known_price_is_never_shown_as_nothing(
    microusd: int | None, unknown: tuple[str, ...], text: str
) -> None:
    assert cost_text(microusd, unknown) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (950, "950"),
        (999, "999"),
        (1_000, "1.0k"),
        (9_949, "9.9k"),
        (9_950, "10k"),
        (226_652, "227k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (3_400_000, "3.4M"),
        (2_000_000_000_000, "2,000G"),
    ],
)
def test_a_count_fits_a_narrow_column(number: int, text: str) -> None:
    assert short_count(number) == text
