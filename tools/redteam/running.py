"""All attacks by name, and running one as whatever user this process is of."""

from __future__ import annotations

import sys

from tools.redteam import anchor_attacks, attacks, signer_attacks
from tools.redteam.attacks import ATTACKS, told
from tools.redteam.forging import Thief

BY_ROOT = (*attacks.BY_ROOT, *anchor_attacks.BY_ROOT)
RESTARTED = signer_attacks.RESTARTED

__all__ = ["ATTACKS", "BY_ROOT", "RESTARTED", "told"]

if __name__ == "__main__":
    _, name, folder, seed = sys.argv
    ATTACKS[name](Thief(folder, int(seed)))
