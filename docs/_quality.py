"""The figures on policies for several pages: all cases are judged once for all of them."""

from __future__ import annotations

from functools import cache

import generate

from bench.policy import Figures, measured


@cache
def figures() -> Figures:
    """What the policies say of every case, with the machine's own clock."""
    generate.count_no_more()
    return measured()
