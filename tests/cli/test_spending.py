from __future__ import annotations

from tallystick.cli.spending import HEAD, cells, cost_text, remarks
from tallystick.sessions.spending import NOTHING, Spending
from tests.support.cases import each


@each(
    "spending, text",
    [
        (NOTHING, ""),
        (Spending(cost_microusd=33_501), "$0.0335"),
        (Spending(cost_microusd=0), "$0"),
        (Spending(cost_microusd=33_501, unpriced_tokens=1), "$0.0335 + ?"),
        (Spending(cost_microusd=33_501, half_told_calls=1), "$0.0335 + ?"),
        (Spending(unpriced_tokens=1), "unknown"),
    ],
)
def test_a_cost_that_is_not_whole_is_never_shown_as_if_it_were(spending: Spending, text: str) -> None:
    assert cost_text(spending) == text


def test_a_line_has_a_cell_for_each_head() -> None:
    found = cells(Spending(calls=1234, input=5, output=0, cost_microusd=5), Spending(cost_microusd=10))
    assert len(found) == len(HEAD)
    assert found[:5] == ("1,234", "5", "", "", "")
    assert found[-1] == "██████"
    assert cells(Spending(input=5), Spending(input=10))[-1] == "██████"  # nothing has a price: by tokens


def test_what_is_said_below_a_table() -> None:
    assert list(remarks(NOTHING, [])) == []
    said = Spending(said_calls=2, said_microusd=100_000, ours_where_said_picousd=90_000_000_000)
    assert "$0.1000" in " ".join(remarks(said, []))
    assert "$0.0900" in " ".join(remarks(said, []))
    assert "at least this" in " ".join(remarks(Spending(half_told_calls=1), []))


def test_a_models_name_obeys_nothing_and_is_short() -> None:
    (line,) = remarks(NOTHING, [("\x1b]0;x\x07" + "m" * 1000, 5), ("", 6)])
    assert "\x1b" not in line
    assert "(no model named) (6 tokens)" in line
    (line,) = remarks(NOTHING, [(f"m{n}", 5) for n in range(1000)])
    assert "and 980 more" in line
    assert len(line) < 2000
