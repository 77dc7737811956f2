"""The figures on policies for several pages, as `make docs` kept them. tests/policy/test_corpora.py holds them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from bench.policy import Figures

_KEPT = Path(__file__).parent / "judged.json"


def figures() -> Figures:
    """What the policies say of every case."""
    return msgspec.json.decode(_KEPT.read_bytes(), type=Figures)
