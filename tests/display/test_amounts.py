from __future__ import annotations

from tallystick.display.amounts import cost_text, dollars, short_count
from tests.support.cases import each, each_case


@each_case("microusd, text")
def test_money_has_the_digits_that_a_person_looks_for(microusd: int, text: str) -> None:
    assert dollars(microusd) == text


@each(
    "microusd, unknown, text",
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


@each_case("number, text")
def test_a_count_fits_a_narrow_column(number: int, text: str) -> None:
    assert short_count(number) == text
