"""Which assurance level a ledger has reached, why not a higher one, and how fresh that is (DESIGN 3).

Owns the order of the levels and the words for them. Must not know who remembers a ledger: ledgercheck holds it against that.
"""

from __future__ import annotations

from tallystick.model.verdict import Level, Require
from tallystick.seal.ledgercheck import LedgerCheck


def level_of(ledger: LedgerCheck) -> Level:
    """The highest level that is reached with all below it."""
    if not ledger.is_signed:
        return Level.A1
    if Level.A3 not in ledger.agreed:
        return Level.A2
    return Level.A4 if Level.A4 in ledger.agreed else Level.A3


def too_old_for(ledger: LedgerCheck, require: Require, since: str) -> str | None:
    """Why the newest head that somebody at the required level has is older than it may be; None if it is not."""
    whose = {Require.A3: "the signer signed", Require.A4: "anyone off this machine has"}.get(require)
    if whose is None:
        return None
    newest = ledger.newest.get(Level(require.value))
    if newest is not None and newest >= since:
        return None
    found = "nobody says of when it is" if newest is None else f"it is of {newest}"
    return f"the newest head that {whose} is older than {since}: {found}"


def why_not_higher(ledger: LedgerCheck) -> str:
    """What keeps a ledger from a higher level, for a person."""
    if not ledger.is_signed:
        return "no verified signed head covers the ledger"
    match level_of(ledger):
        case Level.A4:
            return "no witness has cosigned the head (A5)"
        case Level.A3:
            return "nobody off this machine remembers the head (A4)"
    whose = "a pinned key" if ledger.pinned else "the store's own key, which this verifier has no other word for"
    if Level.A4 in ledger.agreed:
        return f"signed by {whose}; anchored off this machine, but no separate signer guards the head (A3)"
    return f"signed by {whose}; no separate signer, anchor or witness guards the head (A3 and above)"
