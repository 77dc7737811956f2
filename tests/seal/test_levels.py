from __future__ import annotations

from tallystick.model.verdict import Level, Require, report
from tallystick.seal.ledger import LedgerView
from tallystick.seal.ledgercheck import LedgerCheck
from tallystick.seal.levels import level_of, why_not_higher
from tallystick.seal.verify import conclude
from tests.seal.sentences import reads_well
from tests.support.cases import each, each_case
from tools.vectors.maker import STORE


@each(
    "head_size, agreed, level, says",
    [
        (None, (Level.A3, Level.A4), Level.A1, "no verified signed head"),
        (1, (), Level.A2, "nothing outside this store vouches for it"),
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


@each_case("require, newest, code")
def test_a_head_that_is_too_old_is_an_alarm(require: Require, newest: dict[Level, str], code: int) -> None:
    agreed = frozenset((Level.A3, Level.A4))
    found = LedgerCheck(store_id=STORE, view=LedgerView(), tail=LedgerView(), head_size=1, agreed=agreed, newest=newest)
    verdict = conclude(found, [], require=require, since="2026-11-20T00:00:00.000000Z")
    assert verdict.exit_code == code
    assert verdict.valid is (code == 0)
    assert conclude(found, [], require=require).exit_code == 0
    assert all("older than 2026-11-20" in defect.why and reads_well(defect.why) for defect in verdict.defects)


def test_where_nobody_has_a_head_none_is_too_old_and_the_level_is_not_reached() -> None:
    found = LedgerCheck(store_id=STORE, view=LedgerView(), tail=LedgerView(), head_size=1)
    verdict = conclude(found, [], require=Require.A4, since="2026-11-20T00:00:00.000000Z")
    assert (verdict.exit_code, verdict.valid) == (3, True)
    assert verdict.too_old is not None
    assert verdict.too_old in report(verdict)["remarks"]
