from __future__ import annotations

import pytest

from tallystick.model.verdict import Level, Require, report
from tallystick.seal.ledger import LedgerView
from tallystick.seal.ledgercheck import LedgerCheck
from tallystick.seal.levels import level_of, why_not_higher
from tallystick.seal.verify import conclude
from tests.seal.sentences import reads_well
from tests.vectors.maker import STORE


@pytest.mark.parametrize(
    ("head_size", "agreed", "level", "says"),
    [
        (None, (Level.A3, Level.A4), Level.A1, "no verified signed head"),
        (1, (), Level.A2, "no separate signer, anchor or witness"),
        (1, (Level.A4,), Level.A2, "anchored off this machine, but no separate signer"),
        (1, (Level.A3,), Level.A3, "nobody off this machine"),
        (1, (Level.A3, Level.A4), Level.A4, "no witness"),
    ],
)
def test_a_level_counts_with_all_below_it(
    head_size: int | None, agreed: tuple[Level, ...], level: Level, says: str
) -> None:
    found = LedgerCheck(
        store_id=STORE, view=LedgerView(), tail=LedgerView(), head_size=head_size, agreed=frozenset(agreed)
    )
    assert level_of(found) is level
    assert says in why_not_higher(found)
    assert conclude(found, []).level is level


@pytest.mark.parametrize(
    ("require", "newest", "code"),
    [
        (Require.A3, {Level.A3: "2026-11-20T00:00:00.000000Z"}, 0),
        (Require.A3, {Level.A3: "2026-11-19T23:59:59.999999Z"}, 3),
        (Require.A3, {Level.A4: "2026-11-20T00:00:00.000000Z"}, 3),
        (Require.A4, {Level.A3: "2026-11-20T00:00:00.000000Z"}, 3),
        (Require.A4, {Level.A4: "2026-11-21T00:00:00.000000Z"}, 0),
        (Require.A2, {}, 0),
    ],
)
def test_a_head_that_is_too_old_is_below_what_is_required(
    require: Require, newest: dict[Level, str], code: int
) -> None:
    agreed = frozenset((Level.A3, Level.A4))
    found = LedgerCheck(store_id=STORE, view=LedgerView(), tail=LedgerView(), head_size=1, agreed=agreed, newest=newest)
    verdict = conclude(found, [], require=require, since="2026-11-20T00:00:00.000000Z")
    assert verdict.exit_code == code
    assert verdict.valid
    assert conclude(found, [], require=require).exit_code == 0
    assert (verdict.too_old is not None) == (code == 3)
    assert verdict.too_old is None or (reads_well(verdict.too_old) and verdict.too_old in report(verdict)["remarks"])
