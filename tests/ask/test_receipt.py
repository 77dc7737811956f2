from __future__ import annotations

from tallystick.ask.coverage import State
from tallystick.ask.prices import read_prices
from tallystick.ask.receipt import Receipt, receipt_of
from tallystick.journal.home import Home
from tallystick.sessions.spending import NOTHING, Spending
from tallystick.workspace.indexing import open_index
from tallystick.workspace.names import find_session

DISCOUNT = "a42b3437"


def receipt(**more: object) -> Receipt:
    said: dict[str, object] = {"session": "s", "sub_agents": 0, "calls": 1, "refused": 0, "interrupted": 0, "files": 0}
    said |= {"spending": NOTHING, "state": State.COMPLETE, "missing": ()}
    return Receipt(**{**said, **more})  # type: ignore[arg-type]


def test_the_receipt_of_a_session_counts_its_sub_agents_too(indexed_samples: Home) -> None:
    with open_index(indexed_samples) as index:
        found = receipt_of(indexed_samples, index, find_session(index, DISCOUNT), read_prices(indexed_samples))
    assert (found.sub_agents, found.calls, found.refused, found.files) == (1, 14, 1, 4)
    assert found.line.startswith("14 calls, 1 refused, 4 files changed, $0.")
    assert found.line.endswith("; nothing is missing")


def test_a_receipt_is_one_line_that_says_what_is_not_known() -> None:
    assert receipt().line == "1 call, 0 files changed; nothing is missing"
    cost = Spending(cost_microusd=1_500_000, half_told_calls=1)
    lost = receipt(calls=1_200, interrupted=2, spending=cost, state=State.DEGRADED, missing=("1 gap", "x", "y"))
    assert lost.line == "1,200 calls, 2 interrupted, 0 files changed, at least $1.50; degraded: 1 gap and 2 more"
