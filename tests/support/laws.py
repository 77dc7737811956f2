"""How many examples a property test tries: a sixth in `make test`, all in `make soak`.

Owns the profiles of Hypothesis; that of `make mutate` does not look for the simplest example of a failure. A test that needs
another number than the usual 100 asks `examples` for it, so that the run decides here too.
"""

from __future__ import annotations

from hypothesis import Phase, settings

_USUAL = 100
_FEWEST = 8


def register() -> None:
    """Make the profiles `quick`, `verdict` and `thorough`. All are Hypothesis' own for CI: a failure comes back."""
    settings.register_profile("quick", settings.get_profile("ci"), max_examples=_USUAL // 6)
    settings.register_profile("verdict", settings.get_profile("quick"), phases=(Phase.explicit, Phase.generate))
    settings.register_profile("thorough", settings.get_profile("ci"), max_examples=_USUAL)


def examples(number: int) -> int:
    """The share of `number` examples that this run tries, but not fewer than a few."""
    return max(_FEWEST, number * settings().max_examples // _USUAL)
