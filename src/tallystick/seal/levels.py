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
    return max(level for level in ledger.agreed if level >= Level.A3)  # A3, A3f, A4: in the order of the alphabet


def lacks_epochs(ledger: LedgerCheck, require: Require) -> str | None:
    """Why epochs that are required do not guard the past, where an anchor gives a level that is higher still."""
    if require is not Require.A3F or Level.A3F in ledger.agreed:
        return None
    return f"no epochs guard what is older (A3f): {ledger.why_not_forward or 'no signer answers that has some'}"


def too_old_for(ledger: LedgerCheck, require: Require, since: str) -> str | None:
    """Why the newest head that someone at the required level has is older than it may be; None if it is not."""
    whose = {
        Require.A3: "the signer signed",
        Require.A3F: "an epoch's key signed as its last",
        Require.A4: "anyone off this machine has",
    }.get(require)
    if whose is None:
        return None
    newest = ledger.newest.get(Level(require.value))
    if newest is not None and newest >= since:
        return None
    found = "nobody says of when it is"
    if newest is not None:
        found = f"it is of {newest}"
    return f"the newest head that {whose} is older than {since}: {found}"


def why_not_higher(ledger: LedgerCheck) -> str:
    """What keeps a ledger from a higher level, for a person."""
    if not ledger.is_signed:
        return "no verified signed head covers the ledger"
    match level_of(ledger):
        case Level.A4:
            return "no witness has cosigned the head (A5)"
        case Level.A3F:
            return "no one off this machine remembers the head (A4)"
        case Level.A3:
            epochs = ""
            if ledger.why_not_forward:
                epochs = f"; its epochs do not count (A3f): {ledger.why_not_forward}"
            return f"nobody off this machine remembers the head (A4){epochs}"
    whose = "the store's own key, which this verifier has no other word for"
    if ledger.pinned:
        whose = "a pinned key"
    if Level.A4 in ledger.agreed:
        return f"signed with {whose}; anchored off this machine, but no separate signer guards the head (A3)"
    if ledger.pinned:
        return f"signed with {whose}; no separate signer, anchor or witness guards the head (A3 and above)"
    return f"signed with {whose}; nothing outside this store vouches for it (A3 and above)"
