from __future__ import annotations

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.state.effects import may_change_anything


def test_whatever_runs_code_may_change_anything() -> None:
    here = Environment(variables={}, folder="/p")
    assert all(
        may_change_anything(effects(text, here)) for text in ("make", "./x", "frobnicate", 'eval "$X"', "pytest")
    )
    assert not any(may_change_anything(effects(text, here)) for text in ("ls", "cat a", "git status", "cp a b"))
